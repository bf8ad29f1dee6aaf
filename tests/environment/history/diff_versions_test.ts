import assert from "node:assert/strict";
import { HostCallError } from "../../../src/domain/errors.ts";
import { diffVersions } from "../../../src/environment/version_diff.ts";

const text = (before: unknown, after: unknown): string =>
  diffVersions({ name: "a", from: 1, to: 2, before, after }).text;

Deno.test("diffVersions() compares texts and functions by line, data by path", () => {
  assert.equal(text("one\ntwo", "one\nthree"), "--- a v1\n+++ a v2\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n");
  assert.equal(text({ n: 1 }, { n: 2, m: [] }), "a v1 → v2: 2 changes\n~ n: 1 → 2\n+ m: []");
  assert.equal(text(1, "1"), 'a v1 → v2: 1 change\n~ value: 1 → "1"');
  for (const same of ["x", { n: [1] }]) assert.equal(text(same, structuredClone(same)), "a v1 and v2 are the same");
  assert.match(text(new Array(999).fill(0), new Array(999).fill(1)), /at least 200 changes[\s\S]*there may be more$/);
});

Deno.test("diffVersions() refuses texts that are too long to compare", () => {
  assert.throws(() => text("a".repeat(150_000), "b".repeat(60_000)), HostCallError);
});
