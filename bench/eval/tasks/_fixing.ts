import { type AgentTask, type Files, task } from "../agent_task.ts";
import { hiddenTests } from "../expect/hidden_tests.ts";

export interface FixingParts {
  readonly request: string;
  readonly files: Files;
  readonly fixed: Files;
  /** The test may call `same(found, wanted)` and `throws(run)`, and "@/" is the workspace. */
  readonly test: string;
  readonly tempting?: Files;
}

export function fixing(
  id: `fixing/${string}`,
  { request, files, fixed, test, tempting }: FixingParts,
): AgentTask {
  return task(id, () => ({
    files,
    request,
    expects: hiddenTests(fixed, test),
    wrong: ["Done.", ...(tempting ? [{ answer: "Done.", files: tempting }] : [])],
    script: [
      `const before = await fs.readFiles(${JSON.stringify(Object.keys(files))})
before.map(({ path, text }) => path + ": " + text.length)`,
      `for (const [path, text] of Object.entries(${JSON.stringify(fixed)})) await fs.writeFile(path, text)
await answer("Done.")`,
    ],
  }));
}
