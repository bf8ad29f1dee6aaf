import assert from "node:assert/strict";
import { nearestName, nearestNames } from "../../../src/domain/kit/names.ts";

Deno.test("nearestName() finds the intended name", () => {
  const names = ["anthropic", "openai", "openrouter", "zai"];
  const cases: readonly (readonly [string, string | null])[] = [
    ["antropic", "anthropic"],
    ["Anthropic", "anthropic"],
    ["opnai", "openai"],
    ["open-router", "openrouter"],
    ["zia", "zai"],
    ["zxy", null],
    ["zay", "zai"],
    ["acme", null],
    ["", null],
  ];
  for (const [asked, meant] of cases) assert.equal(nearestName(asked, names), meant, asked);
  assert.equal(nearestName("x", []), null);
});

Deno.test("nearestName() takes two letters in the wrong order for one mistake", () => {
  assert.equal(nearestName("modle", ["model", "mode"]), "model");
  assert.equal(nearestName("rnu", ["run", "undo"]), "run");
  assert.equal(nearestName("ab", ["cd", "dc"]), null);
});

Deno.test("nearestNames() returns the most similar names, and names that contain it", () => {
  assert.deepEqual(nearestNames("mian", ["feature/long", "main", "next"])[0], "main");
  assert.deepEqual(nearestNames("login", ["main", "feature/login", "x"])[0], "feature/login");
  assert.deepEqual(nearestNames("a", ["b", "c", "d", "e"]), ["b", "c", "d"]);
});
