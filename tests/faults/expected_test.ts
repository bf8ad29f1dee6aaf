import assert from "node:assert/strict";
import { Expected, type SeenQuery, type Turn, type View } from "./world/expected.ts";

const turn = (token: string, answer: string | null, more: Partial<Turn> = {}): Turn => ({
  ...{ token, answer, parts: 2, group: Number(token.slice(1)), kept: null },
  ...more,
});

function query(token: string, status: string, iterations: number, running = false): SeenQuery {
  const reason = status === "done" ? "answered" : "process_lost";
  return { queryId: token, text: `turn ${token} of 2`, running, status, reason, iterations };
}

function view(log: readonly string[], queries: readonly SeenQuery[]): View {
  return { log, last: log.at(-1) ?? null, size: log.length, queries };
}

const ANSWERED = [turn("t1", "t1.2-2 of 2")];
const CUT = [turn("t1", "t1.2-2 of 2"), turn("t2", null)];
const FIRST = ["t1.1-1", "t1.2-2"];
const DONE = query("t1", "done", 2);

const CASES: Readonly<Record<string, readonly [readonly Turn[], View, readonly string[]]>> = {
  "what was answered is there": [ANSWERED, view(FIRST, [DONE]), []],
  "what was cut is there in whole iterations": [
    CUT,
    view([...FIRST, "t2.1-3"], [DONE, query("t2", "interrupted", 1)]),
    [],
  ],
  "what was cancelled keeps what its last block did": [
    CUT,
    view([...FIRST, "t2.1-3"], [DONE, { ...query("t2", "interrupted", 0), reason: "cancelled" }]),
    [],
  ],
  "what was cut is not there": [CUT, view(FIRST, [DONE]), []],
  "what was cut was done after all": [CUT, view([...FIRST, "t2.1-3", "t2.2-4"], [DONE, query("t2", "done", 2)]), []],
  "turns at once, in another order": [
    [turn("t1", "t1.2-4 of 4", { group: 1 }), turn("t2", "t2.2-2 of 2", { group: 1 })],
    view(["t2.1-1", "t2.2-2", "t1.1-3", "t1.2-4"], [DONE, query("t2", "done", 2)]),
    [],
  ],
  "what was answered is gone": [ANSWERED, view([], [DONE]), ["lost"]],
  "what was there is gone": [[turn("t1", null, { kept: ["t1.1-1"] })], view([], []), ["lost"]],
  "one part of two": [ANSWERED, view(["t1.1-1"], [DONE]), ["half"]],
  "the second part alone": [CUT, view([...FIRST, "t2.2-3"], [DONE, query("t2", "interrupted", 1)]), ["half"]],
  "one variable of two": [ANSWERED, { ...view(FIRST, [DONE]), size: 1 }, ["half"]],
  "an iteration that is listed and not there": [CUT, view(FIRST, [DONE, query("t2", "interrupted", 1)]), ["half"]],
  "a part twice": [ANSWERED, view(["t1.1-1", "t1.1-2", "t1.2-2"], [DONE]), ["twice"]],
  "a turn at the end once more": [ANSWERED, view([...FIRST, "t9.1-3"], [DONE]), ["twice"]],
  "two runs that are done": [ANSWERED, view(FIRST, [DONE, DONE]), ["twice"]],
  "what is answered is not what is stored": [[turn("t1", "t1.2-7 of 2")], view(FIRST, [DONE]), ["unclear"]],
  "what is answered is listed as interrupted": [
    ANSWERED,
    view(FIRST, [query("t1", "interrupted", 2)]),
    ["unclear"],
  ],
  "what runs no longer is listed as running": [CUT, view(FIRST, [DONE, query("t2", "running", 0, true)]), ["unclear"]],
};

for (const [name, [turns, seen, words]] of Object.entries(CASES)) {
  Deno.test(`Expected.compare() finds ${words.join() || "nothing"}: ${name}`, () => {
    assert.deepEqual(new Expected("b", turns).compare(seen).map(({ word }) => word), words);
  });
}

Deno.test("Expected.compare() reports the fault of a turn once", () => {
  const branch = new Expected("b", ANSWERED);
  assert.equal(branch.compare(view([], [DONE])).length, 1);
  assert.deepEqual(branch.compare(view([], [DONE])), []);
});

Deno.test("Expected.compare() finds a refused request that ran", () => {
  const branch = new Expected("b", ANSWERED);
  branch.refused.add("t2");
  const words = branch.compare(view([...FIRST, "t2.1-3"], [DONE, query("t2", "done", 1)])).map(({ word }) => word);
  assert.deepEqual(words, ["unclear", "unclear"]);
});
