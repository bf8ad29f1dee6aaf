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
  assert.deepEqual(diffs.map(({ length }) => length < 17_000), [true, true]);
  assert.match(diffs[0] ?? "", /\+line\n…\n$/);
  const many = Array.from({ length: 30 }, (_, at) => ({ diff: `--- a/${at}\n+++ b/${at}\n@@ -1 +1 @@\n-x\n+y\n` }));
  const some = diffsIn(many).diffs ?? [];
  assert.deepEqual([some.length, some[19], some[29]], [30, many[19]?.diff, "--- a/29\n+++ b/29\n…\n"]);
  const names = Array.from(
    { length: 2_000 },
    (_, at) => ({ diff: `--- a/${at}\n+++ b/${"n".repeat(200)}\n@@ -1 +1 @@\n` }),
  );
  assert.ok((diffsIn(names).diffs ?? []).join("").length < 90_000);
});
