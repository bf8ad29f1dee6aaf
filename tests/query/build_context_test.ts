import assert from "node:assert/strict";
import { handoverOf } from "../../src/query/build_context.ts";

const TURN = {
  queryId: "q",
  text: "count",
  thinkings: [],
  answer: "It ended",
  status: "interrupted",
  idle: false,
  earlier: { shown: [], more: 0 },
} as const;

Deno.test("handoverOf() mentions images, and blocks that were cut, in bounds", () => {
  assert.equal(handoverOf(null), null);
  assert.deepEqual(handoverOf(TURN), { request: "count", thinkings: [], answer: "It ended", unfinished: true });
  assert.match(handoverOf({ ...TURN, images: 2 })?.request ?? "", /with 2 images/);
  const one = handoverOf({ ...TURN, pending: ["await fs.writeFile('a', 'b')"] })?.answer ?? "";
  assert.match(one, /^It ended\nIt ended while this block ran\. .* may have happened:\n\[1\] await fs\.writeFile/);
  const many = handoverOf({ ...TURN, pending: Array.from({ length: 9 }, () => "x".repeat(1000)) })?.answer ?? "";
  assert.ok(many.includes("these 9 blocks") && many.length < 2000, `${many.length}`);
});
