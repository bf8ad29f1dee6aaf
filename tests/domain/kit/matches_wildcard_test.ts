import assert from "node:assert/strict";
import { matchesWildcard } from "../../../src/domain/kit/matches_wildcard.ts";

Deno.test("matchesWildcard() lets a star stand for any text, and nothing else", () => {
  const table: readonly (readonly [string, string, boolean])[] = [
    ["git status", "git status", true],
    ["git status", "git status -s", false],
    ["git *", "git status", true],
    ["git *", "git", false],
    ["*", "", true],
    ["a*a", "a", false],
    ["a*b*c", "a1b2c", true],
    ["a*b*c", "a1c2b", false],
    ["a.c", "abc", false],
  ];
  for (const [pattern, text, expected] of table) assert.equal(matchesWildcard(pattern, text), expected, pattern);
});

Deno.test("matchesWildcard() takes linear time", () => {
  assert.equal(matchesWildcard("a*".repeat(5_000) + "b", "a".repeat(50_000)), false);
});
