import assert from "node:assert/strict";
import { ATTACKS } from "./list.ts";
import { attacksSuite } from "./suite.ts";

attacksSuite({ way: "source", missing: "", ready: () => Promise.resolve() });

Deno.test("attacks have one name each, and every wall claims some that work without it", () => {
  assert.equal(new Set(ATTACKS.map(({ name }) => name)).size, ATTACKS.length);
  for (const wall of ["realm", "permissions", "process", "landlock", "seccomp"] as const) {
    assert.ok(ATTACKS.some(({ claims, control }) => control && claims.includes(wall)), wall);
  }
});
