import assert from "node:assert/strict";
import { compareRecordings } from "../../../src/domain/records/compare_recordings.ts";
import { PathMap } from "../../../src/domain/records/path_map.ts";
import type { RecordedQuery } from "../../../src/domain/records/recording.ts";
import { block, iteration, query } from "./recordings.ts";

function found(recorded: RecordedQuery, replayed: RecordedQuery): readonly string[] {
  return compareRecordings(recorded, replayed).map(({ place, field }) => `${place}: ${field}`);
}

Deno.test("compareRecordings() times and ids are no difference", () => {
  const make = () => query("a", { iterations: [iteration(1, { blocks: [block("1")] })] });
  assert.deepEqual(compareRecordings(make(), make()), []);
});

Deno.test("compareRecordings() finds results, outcomes and ends that are others", () => {
  const recorded = query("a", { iterations: [iteration(1, { blocks: [block("1"), block("2")] })] });
  const iterations = [iteration(1, { outcome: "failed", error: "e", blocks: [block("1"), block("3")] })];
  const replayed = query("a", { iterations, answer: "no", reason: "max_iterations" });
  assert.deepEqual(found(recorded, replayed), [
    "iteration 1: outcome",
    "iteration 1: error",
    "iteration 1, block 2: preview",
    ": reason",
    ": answer",
  ]);
});

Deno.test("compareRecordings() finds iterations that are missing or new", () => {
  const one = query("a");
  const two = query("a", { iterations: [iteration(1), iteration(2)] });
  assert.deepEqual(found(two, one), ["iteration 2: iteration"]);
  assert.deepEqual(found(one, two), ["iteration 2: iteration"]);
});

Deno.test("compareRecordings() child queries are compared by their text, in whatever order they ran", () => {
  const make = (...answers: string[]) =>
    query("a", {
      iterations: [iteration(1, { children: answers.map((answer) => query(answer[0] ?? "", { answer })) })],
    });
  assert.deepEqual(found(make("x1", "y1"), make("y1", "x1")), []);
  assert.deepEqual(found(make("x1", "y1"), make("y2", "x1")), ["iteration 1, child query: answer"]);
  assert.deepEqual(found(make("x1"), make()), ["iteration 1: child queries"]);
});

Deno.test("compareRecordings() a query that was cut off is compared as far as it came", () => {
  for (const reason of ["cancelled", "process_lost", "limit_cost"] as const) {
    const iterations = [iteration(1), iteration(2, { status: "interrupted", outcome: "" })];
    const recorded = query("a", { reason, status: "interrupted", iterations });
    assert.deepEqual(found(recorded, query("a", { iterations: [iteration(1), iteration(2)] })), []);
  }
});

Deno.test("compareRecordings() the place in which a run was made is no difference, with what it does to sizes", () => {
  const paths = new PathMap([["/work", "/tmp/copy"]]);
  const make = (folder: string, more = "") => {
    const { code, result } = block(`"${folder}/a${more}"`);
    const sized = { code, diffs: [], result: { ...result, size: folder.length + 2, stdout: `in ${folder}` } };
    const child = query(`below ${folder}`, { answer: folder });
    return query("a", {
      answer: `It is in ${folder}`,
      iterations: [iteration(1, { response: `ls ${folder}`, blocks: [sized], children: [child] })],
    });
  };
  assert.deepEqual(compareRecordings(make("/work"), make("/tmp/copy"), { paths }), []);
  assert.deepEqual(compareRecordings(make("/work"), make("/tmp/copy", "b"), { paths }), [
    { place: "iteration 1, block 1", field: "preview", recorded: '"/work/a"', replayed: '"/work/ab"' },
  ]);
});
