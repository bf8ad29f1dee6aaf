import assert from "node:assert/strict";
import { diffsIn } from "../../src/environment/answer_call.ts";

Deno.test("diffsIn() takes the diffs of one result or of many, and nothing else", () => {
  assert.deepEqual(diffsIn({ path: "a", diff: "-a\n+b\n" }), { diffs: ["-a\n+b\n"] });
  assert.deepEqual(diffsIn([{ diff: "1" }, null, { diff: "" }, { diff: 7 }, "x", { diff: "2" }]), {
    diffs: ["1", "2"],
  });
  for (const none of [null, undefined, 7, "diff", [], {}, { diff: "" }]) assert.deepEqual(diffsIn(none), {});
});

Deno.test("diffsIn() is bounded, since events carry it", () => {
  const large = "+line\n".repeat(10_000);
  const { diffs = [] } = diffsIn([{ diff: large }, { diff: large }]);
  assert.equal(diffs.length, 1);
  assert.ok((diffs[0]?.length ?? 0) < 17_000);
  assert.match(diffs[0] ?? "", /\+line\n…\n$/);
  assert.equal(diffsIn(Array.from({ length: 100 }, () => ({ diff: "x" }))).diffs?.length, 20);
});
