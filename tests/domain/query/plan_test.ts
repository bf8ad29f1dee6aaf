import assert from "node:assert/strict";
import { planLine, planOf } from "../../../src/domain/query/plan.ts";

const states = (value: unknown): string => planOf(value).map(({ text, state }) => `${text}:${state}`).join(" ");

Deno.test("planOf() reads the lists that models write, with one current task", () => {
  const cases: readonly (readonly [unknown, string])[] = [
    [[{ task: "a", done: true }, { task: "b", done: false }, { task: "c" }], "a:done b:now c:open"],
    [
      [{ step: "a", status: "completed" }, { step: "b", status: "pending" }, { step: "c", status: "in_progress" }],
      "a:done b:open c:now",
    ],
    [["a", "b"], "a:now b:open"],
    [[{ task: "a", done: true }], "a:done"],
    [[{ task: "two\nlines\u001b[31m" }], "two lines\\u001b[31m:now"],
    [[{ task: "  " }, { done: true }, 7, null, [], "a"], "a:now"],
  ];
  for (const [value, expected] of cases) assert.equal(states(value), expected);
  for (const none of [undefined, null, "a", 7, {}, { task: "a" }, new Map()]) assert.deepEqual(planOf(none), []);
});

Deno.test("planOf() is bounded, since an event carries it", () => {
  const items = planOf(Array.from({ length: 9_000 }, () => ({ task: "x".repeat(9_000) })));
  assert.deepEqual([items.length, Math.max(...items.map(({ text }) => text.length))], [50, 200]);
});

Deno.test("planLine() shows the progress and the current task", () => {
  assert.equal(planLine(planOf([{ task: "a", done: true }, "b", "c"])), "1 of 3 · now: b");
  assert.equal(planLine(planOf([{ task: "a", done: true }])), "1 of 1 · done");
});
