import assert from "node:assert/strict";
import type { AgentTask, Files, Outcome } from "../../../bench/eval/agent_task.ts";
import { writeFiles } from "../../../bench/eval/play_task.ts";
import { ALL_TASKS } from "../../../bench/eval/tasks/all_tasks.ts";
import { withFolder } from "../../helpers/with_folder.ts";

const FAMILIES = ["puzzles", "files", "fixing", "long", "series", "counting"] as const;

async function verdict(task: AgentTask, { at, before, outcome }: {
  readonly at: number;
  readonly before: Files;
  readonly outcome: Outcome;
}): Promise<string> {
  const turn = task.make().turns[at];
  assert.ok(turn);
  let said = "";
  await withFolder(async (workspace) => {
    await writeFiles(workspace, { ...before, ...outcome.files });
    said = await turn.expects.check({ answer: outcome.answer, workspace });
  });
  return said;
}

Deno.test("evaluation tasks: at least 60, each family at least 12, names are unique", () => {
  assert.ok(ALL_TASKS.length >= 60);
  assert.equal(new Set(ALL_TASKS.map(({ id }) => id)).size, ALL_TASKS.length);
  for (const family of FAMILIES) assert.ok(ALL_TASKS.filter((task) => task.family === family).length >= 12, family);
});

Deno.test("evaluation tasks: generated contents are the same every time and small enough for a test", () => {
  for (const task of ALL_TASKS) {
    const [one, other] = [task.make(), task.make()];
    assert.deepEqual([one.files, one.context], [other.files, other.context], task.id);
    assert.ok(JSON.stringify(one.files).length + one.context.length < 500_000, task.id);
    assert.equal(one.context.length > 100_000, task.family === "long" || task.id === "series/follow-up-on-a-text");
    assert.equal(one.turns.length > 1, task.family === "series", task.id);
  }
});

for (const family of FAMILIES) {
  Deno.test(`evaluation tasks: each checker of ${family} accepts a right outcome and refuses wrong ones`, async () => {
    for (const task of ALL_TASKS.filter((one) => one.family === family)) {
      const { files, turns } = task.make();
      let before = files;
      for (const [at, { expects, wrong }] of turns.entries()) {
        const name = `${task.id}, request ${at + 1}`;
        assert.equal(await verdict(task, { at, before, outcome: expects.right }), "", name);
        assert.ok(wrong.length > 0, name);
        for (const outcome of wrong) {
          assert.notEqual(await verdict(task, { at, before, outcome }), "", `${name}: ${JSON.stringify(outcome)}`);
        }
        before = { ...before, ...expects.right.files };
      }
    }
  });
}
