import { type AgentTask, type Files, task } from "../agent_task.ts";
import { hiddenTests } from "../expect/hidden_tests.ts";

export interface FixingParts {
  readonly request: string;
  readonly files: Files;
  /** Files after the change; those that are not named stay as they are. */
  readonly fixed: Files;
  /** Checked with `same(found, wanted)` and `throws(run)`; "@/" is the workspace. */
  readonly test: string;
  /** What looks like a solution and is none, besides changing nothing. */
  readonly tempting?: Files;
}

/** A task that is solved by changing the program in the workspace. */
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
