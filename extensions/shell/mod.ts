import { defineExtension, type EnvironmentView, fn, z } from "@vis/extension";
import { run, type RunOptions } from "./run.ts";

const text = z.string().min(1);
const Run = z.strictObject({
  timeoutMs: z.number().int().min(1).max(86_400_000).optional(),
  cwd: z.string().optional(),
  input: z.string().optional(),
  maxBytes: z.number().int().min(1).max(32 << 20).optional(),
});
const patterns = z.array(text).default([]);

export default defineExtension({
  namespace: "vis.shell",
  alias: { ns: "vis.ext.shell", alias: "shell" },
  doc: "Runs commands in the workspace, confined by the kernel.",
  group: "workspace",
  version: "0.1.0",
  author: "Vis",
  license: "Apache-2.0",
  config: z.strictObject({ allow: patterns, deny: patterns }).prefault({}),
  prompt:
    "Commands in cwd: tests, builds, git. They may write in cwd and $TMPDIR only, see no home folder; nothing goes on after the call. A failed command is a result: look at code.",
  symbols: [
    fn(
      "run",
      (env: EnvironmentView, command: string | string[], options?: RunOptions) => run(env, command, options),
      {
        doc: "Runs sh -c, or a list without a shell.",
        args: z.tuple([z.union([text, z.array(z.string()).min(1)]).describe("command"), Run.optional()]),
        returns: "{code, signal, stdout, stderr, ms, timedOut, truncated}",
        examples: [
          'const t = await shell.run("npm test", {timeoutMs: 300000}); t.code',
          'await shell.run(["git", "log", "-5"])',
        ],
      },
    ),
  ],
});
