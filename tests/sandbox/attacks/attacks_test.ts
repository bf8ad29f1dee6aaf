import assert from "node:assert/strict";
import { baseRuntime } from "../../helpers/base_runtime.ts";
import { ATTACKS } from "./list.ts";
import { attacksSuite } from "./suite.ts";

// The other walls are set by the same calls in an executable, where each is tried alone.
const alone = (await baseRuntime()).ok ? { alone: ["permissions"] as const } : {};
attacksSuite({ way: "source", missing: "", ready: () => Promise.resolve(), ...alone });

Deno.test("attacks have one name each, and every wall claims some that work without it", () => {
  assert.equal(new Set(ATTACKS.map(({ name }) => name)).size, ATTACKS.length);
  for (const wall of ["realm", "permissions", "process", "landlock", "seccomp"] as const) {
    assert.ok(ATTACKS.some(({ claims, control }) => control && claims.includes(wall)), wall);
  }
});
