import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Expectation, Files } from "../agent_task.ts";

const TIME_LIMIT_MS = 60_000;

const HELPERS = `
const same = (found, wanted) => {
  const [one, other] = [found, wanted].map((value) => JSON.stringify(value) ?? String(value));
  if (one !== other) throw new Error("found " + one + ", not " + other);
};
const throws = (run) => {
  try { run(); } catch { return; }
  throw new Error("nothing was thrown");
};`;

/** The agent never sees the test, in which `@/` is the workspace. The test runs in a separate process, which may read
 * only the workspace. */
export function hiddenTests(fixed: Files, test: string): Expectation {
  return {
    right: { answer: "Done.", files: fixed },
    check: async ({ workspace }) => {
      const passed = crypto.randomUUID();
      const source = test.replaceAll('"@/', `"${pathToFileURL(workspace).href}/`);
      const folder = await Deno.makeTempDir({ prefix: "vis-eval-hidden-" });
      try {
        const path = join(folder, "hidden_test.ts");
        // Code that ends the process early does not pass, because such code does not print this word.
        await Deno.writeTextFile(path, `${HELPERS}\n${source}\nconsole.log(${JSON.stringify(passed)});\n`);
        const { stdout, stderr } = await run(path, workspace);
        return stdout.trimEnd().endsWith(passed) ? "" : `hidden test: ${firstError(stderr)}`;
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    },
  };
}

async function run(path: string, workspace: string): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      "--no-config",
      "--no-remote",
      "--no-npm",
      `--allow-read=${workspace}`,
      path,
    ],
    cwd: workspace,
    env: { NO_COLOR: "1" },
    signal: AbortSignal.timeout(TIME_LIMIT_MS),
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  const [out = "", err = ""] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { stdout: out, stderr: err };
}

function firstError(stderr: string): string {
  return stderr.split("\n").find((line) => line.includes("rror"))?.trim().slice(0, 200) ?? "it did not end in time";
}
