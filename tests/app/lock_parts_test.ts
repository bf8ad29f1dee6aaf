import assert from "node:assert/strict";
import { described, shipped } from "../../extensions/index.ts";
import { lockParts } from "../../src/app/lock_parts.ts";

Deno.test("lockParts() leaves of the shipped extensions those that cannot write, and of fs what reads", async () => {
  const parts = lockParts({ shipped, described }, { writable: false });
  assert.deepEqual(parts.described, {});
  assert.ok(!("shell" in parts.shipped));
  const fs = (await parts.shipped["fs"]?.())?.default;
  const names = (fs?.symbols ?? []).map(({ name }) => name);
  for (const name of ["readFile", "grep", "glob", "stat"]) assert.ok(names.includes(name), name);
  for (const name of names) assert.doesNotMatch(name, /write|edit|replace|remove|move|copy|create/i);
  assert.doesNotMatch(String(fs?.prompt), /fs\.(edit|write)/);
  assert.match(String(fs?.prompt), /nothing can be written/);
});

Deno.test("lockParts() an extension that nobody has thought of is left out, unless the workspace may be written", () => {
  const parts = { shipped: { ...shipped, fresh: () => Promise.reject(new Error("Not loaded")) }, described: {} };
  assert.ok(!("fresh" in lockParts(parts, { writable: false }).shipped));
  const writable = lockParts(parts, { writable: true }).shipped;
  assert.ok("fresh" in writable && "fs" in writable && !("shell" in writable));
});
