import { defineExtension, type EnvironmentView, fn, z } from "@vis/extension";
import type { ShellCommand } from "./command.ts";
import type { ReadOutputOptions } from "./job.ts";
import { jobsOf } from "./jobs.ts";
import live from "./live.ts";
import { commandOutcome, jobOutcome } from "./command_outcome.ts";
import { readJob } from "./read_job.ts";
import { run, type ShellRunOptions } from "./run.ts";
import settings from "./settings.ts";
import { start, type StartOptions } from "./start.ts";

const text = z.string().min(1);
const command = z.union([text, z.array(z.string()).min(1)]).describe("command");
const bytes = (most: number) => z.number().int().min(1).max(most).optional();
const given = {
  timeoutMs: z.number().int().min(1).max(86_400_000).optional(),
  cwd: z.string().optional(),
  env: z.record(z.string().regex(/^[A-Za-z_]\w*$/), z.string()).meta({ tsType: "object" }).optional(),
  stdin: z.string().optional(),
  network: z.boolean().optional(),
  write: z.array(z.string()).max(20).optional(),
  secrets: z.array(z.string()).max(20).optional(),
};
const waiting = { waitMs: z.number().int().min(0).max(600_000).optional(), until: text.optional() };
const REPORT = "{id, running, code, signal, timedOut, output, missed, left, ms, hint?}";

export default defineExtension({
  namespace: "vis.shell",
  alias: { ns: "vis.ext.shell", alias: "shell" },
  doc: "Runs commands in the workspace, confined by the kernel.",
  group: "workspace",
  version: "0.1.0",
  author: "Vis",
  license: "Apache-2.0",
  onByDefault: true,
  howToEnable: "vis doctor says what it needs",
  config: settings,
  section: "shell",
  activate: live.activate,
  prompt: live.prompt,
  shown: 1,
  doctor: async (context) => (await import("./doctor.ts")).checkShell(context),
  symbols: [
    fn("run", (env: EnvironmentView, asked: ShellCommand, options?: ShellRunOptions) => run(env, asked, options), {
      doc: "A list runs without sh.",
      untimed: true,
      room: (_command, options?: unknown) => largeOutput(options as ShellRunOptions | undefined),
      action: { doing: "running", done: "ran", things: "commands" },
      outcome: commandOutcome,
      args: z.tuple([command, z.strictObject({ ...given, maxBytes: bytes(32 << 20) }).optional()]),
      returns: "{code, signal, stdout, stderr, ms, timedOut, truncated, hint?}",
      examples: [
        'await shell.run("npm test", {timeoutMs: 300000})',
        'await shell.run(["sort", "-u"], {stdin: names.join("\\n")})',
      ],
    }),
    fn("start", (env: EnvironmentView, asked: ShellCommand, options?: StartOptions) => start(env, asked, options), {
      doc:
        "Keeps running after the call, over blocks and requests (in vis run until its request ends), for 1 h unless timeoutMs; waits for a first output.",
      untimed: true,
      action: { doing: "starting", done: "started", things: "commands" },
      outcome: jobOutcome,
      args: z.tuple([command, z.strictObject({ ...given, ...waiting }).optional()]),
      returns: REPORT,
      examples: ['const s = await shell.start("npm run dev", {until: "ready", waitMs: 20000}); s.output'],
    }),
    fn(
      "read",
      (env: EnvironmentView, id: string, options?: ReadOutputOptions) => readJob(env, id, options),
      {
        doc: "What a started command printed since the last read, both outputs; code once it has ended.",
        untimed: true,
        action: { doing: "reading output", done: "read output", things: "times", named: 0 },
        outcome: jobOutcome,
        args: z.tuple([text.describe("id"), z.strictObject({ ...waiting, maxBytes: bytes(256 << 10) }).optional()]),
        returns: REPORT,
        examples: ['await shell.read(s.id, {until: "compiled", waitMs: 30000})'],
      },
    ),
    fn("stop", (env: EnvironmentView, id: string) => jobsOf(env).stop(id), {
      doc: "Ends a started command and all that it started: SIGTERM, SIGKILL after 2 s.",
      untimed: true,
      action: { doing: "stopping", done: "stopped", things: "commands", named: 0 },
      args: z.tuple([text.describe("id")]),
      returns: REPORT,
    }),
    fn("list", (env: EnvironmentView) => jobsOf(env).all.map(({ brief }) => brief), {
      doc: "Started commands, those that ended lately too.",
      untimed: true,
      action: { doing: "listing commands", done: "listed commands", things: "times", named: 0 },
      args: z.tuple([]),
      returns: "{id, command, running, code, ms}[]",
    }),
  ],
});

/** Two outputs, as bytes and as text; ordinary ones are small enough not to wait for each other. */
function largeOutput({ maxBytes = 0 }: ShellRunOptions = {}): number {
  return maxBytes > 1 << 20 ? maxBytes * 4 : 0;
}
