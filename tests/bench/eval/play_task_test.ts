import assert from "node:assert/strict";
import { task } from "../../../bench/eval/agent_task.ts";
import { counted, number } from "../../../bench/eval/expect/answers.ts";
import { playTask } from "../../../bench/eval/play_task.ts";
import { resultTable } from "../../../bench/eval/result_table.ts";
import { selectTasks } from "../../../bench/eval/select_tasks.ts";
import { ALL_TASKS } from "../../../bench/eval/tasks/all_tasks.ts";
import { SCRIPTED } from "../../../bench/eval/vis_agent.ts";
import { runs } from "../../helpers/long_part.ts";
import { sourceProgram } from "../../../bench/support/programs.ts";

const ONE_OF_EACH = [
  "puzzles/cipher",
  "files/duplicates",
  "fixing/off-by-one",
  "long/needle",
  "series/undo",
  "counting/count-71",
];

async function agent() {
  return {
    program: await sourceProgram(),
    provider: SCRIPTED,
    model: null,
    timeoutSeconds: 300,
    format: "json" as const,
    home: null,
  };
}

for (const id of ONE_OF_EACH.slice(0, runs(1, ONE_OF_EACH.length))) {
  Deno.test(`evaluation: the script of ${id} solves it through the program`, async () => {
    const [chosen] = selectTasks(ALL_TASKS, [id]);
    assert.ok(chosen);
    const result = await playTask(chosen, await agent());
    assert.equal(result.reason, "");
    assert.ok(result.solved && result.input > 0 && result.output > 0);
    assert.equal(result.iterations, 2);
    assert.deepEqual([result.refusedFinals, result.repeatedBlocks], [0, 0]);
  });
}

Deno.test("evaluation: the arm direct asks once with the whole input, and a reply of fences solves as JSON does", async () => {
  const [counting] = selectTasks(ALL_TASKS, ["counting/count-71"]);
  assert.ok(counting);
  const direct = await playTask(counting, { ...await agent(), direct: true });
  assert.deepEqual([direct.solved, direct.reason, direct.iterations, direct.score], [true, "", 1, 1]);
  assert.ok(direct.input > 5_000, `${direct.input} tokens`);
  const fences = await playTask(counting, { ...await agent(), format: "ts" });
  assert.deepEqual([fences.solved, fences.reason, fences.iterations], [true, "", 2]);
});

Deno.test("evaluation: a count that is off has credit, and another answer has none", async () => {
  const turn = { request: "Say 4", expects: counted(4), wrong: ["2"] };
  const scores = [];
  for (const said of ["3", "6", "no idea"]) {
    const play = task("counting/off", () => ({ ...turn, script: `await answer(${JSON.stringify(said)})` }));
    scores.push((await playTask(play, await agent())).score);
  }
  assert.deepEqual(scores, [0.75, 0.5625, 0]);
});

Deno.test("evaluation: repeated work is counted; a script that ends too early is the reason, and a series stops", async () => {
  const turn = { request: "Say 1", expects: number(1), wrong: ["2"] };
  const played = await playTask(
    task(
      "series/broken",
      () => ({ turns: [{ ...turn, script: ["1 + 1", "1 + 1"] }, { ...turn, script: "answer(1)" }] }),
    ),
    await agent(),
  );
  assert.deepEqual([played.solved, played.requests, played.repeatedBlocks], [false, 1, 1]);
  assert.match(played.reason, /^request 1: ended as provider: /);
});

Deno.test("evaluation: a program that does not start, and a task that cannot be made, are unsolved with the reason", async () => {
  const [chosen] = ALL_TASKS;
  assert.ok(chosen);
  const missing = await playTask(chosen, {
    ...await agent(),
    program: { way: "source", path: "/nowhere/vis", args: [] },
  });
  assert.ok(!missing.solved && missing.reason !== "");
  const unmade = await playTask(
    task("files/unmade", () => {
      throw new RangeError("Cannot make it");
    }),
    await agent(),
  );
  assert.deepEqual([unmade.solved, unmade.reason, unmade.iterations], [false, "Cannot make it", 0]);
});

Deno.test("selectTasks() takes families, ids and patterns, and suggests names near an unknown one", () => {
  const ids = (...names: string[]) => selectTasks(ALL_TASKS, names).map(({ id }) => id);
  assert.equal(ids().length, ALL_TASKS.length);
  assert.deepEqual(ids("series/undo", "long/needle"), ["long/needle", "series/undo"]);
  assert.equal(ids("fixing").length, ids("fixing/*").length);
  assert.throws(
    () => ids("seris"),
    /Cannot find task seris: no task has this name; did you mean.* series, counting, npm, and --list shows all tasks/,
  );
});

Deno.test("resultTable() has a row for each family and one for all, and lists unsolved tasks", () => {
  const one = {
    requests: 1,
    iterations: 2,
    input: 10,
    output: 3,
    cached: 0,
    refusedFinals: 1,
    repeatedBlocks: 0,
    seconds: 1,
  };
  const text = resultTable([
    { ...one, id: "puzzles/a", family: "puzzles", solved: true, score: 1, reason: "", costUsd: 0.25 },
    { ...one, id: "long/b", family: "long", solved: false, score: 0.5, reason: "answered\n1", costUsd: null },
  ]);
  assert.match(text, /^\| puzzles \| 1 of 1 \| 1.00 \| 2 \| 10 \| 3 \| \$0\.2500 \| 1 \| 0 \|$/m);
  assert.match(text, /^\| \*\*all\*\* \| 1 of 2 \| 0.75 \| 4 \| 20 \| 6 \| unknown \| 2 \| 0 \|$/m);
  assert.match(text, /^- long\/b: answered 1$/m);
});
