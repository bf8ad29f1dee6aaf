import assert from "node:assert/strict";
import { ChangedFiles, QueryWork } from "../../../src/domain/query/work_summary.ts";

Deno.test("facts() name a long command by its beginning, and list it whole", () => {
  const work = new QueryWork();
  const command = `for i in $(seq 1 60); do echo building module $i; done; npm test -w packages/api`;
  const action = { doing: "running", done: "ran", things: "commands", subject: command };
  work.take({ name: "shell.run", action, outcome: "exit code 1", exitCode: 1 });
  const { text, commands } = work.facts(new ChangedFiles(), { claimed: false });
  assert.equal(text, "ran for i in $(seq 1 60); do echo building module $i; done; npm… (exit code 1)");
  assert.deepEqual(commands, [{ command, exitCode: 1, outcome: "exit code 1" }]);
});
