import { isSecretFile, matchesWildcard, SECRET_PATTERNS } from "../../../src/domain/kit/names.ts";
import assert from "node:assert/strict";

Deno.test("matchesWildcard() lets a star match any text, and no other character", () => {
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

Deno.test("isSecretFile() knows files with keys by their names, and no programs, examples or public keys", () => {
  const yes = [
    ".env",
    "app/.env.local",
    ".envrc",
    ".ENV",
    "id_rsa",
    "keys/id_ed25519",
    "a/b.pem",
    "id_rsa.pem",
    "x.KEY",
  ];
  const no = [
    ".env.example",
    "app/.env.sample",
    "id_map.py",
    "id_rsa.pub",
    "env",
    "src/key.ts",
    "keyboard",
    ".env/bin/python",
  ];
  assert.deepEqual(yes.filter((path) => !isSecretFile(path, SECRET_PATTERNS)), []);
  assert.deepEqual(no.filter((path) => isSecretFile(path, SECRET_PATTERNS)), []);
});

Deno.test("isSecretFile() takes paths where a pattern has a slash, and the last pattern that matches", () => {
  const patterns = ["*.pem", "!test/*", "test/prod/*"];
  assert.deepEqual(
    ["a.pem", "test/a.pem", "test/prod/a.pem", "x/test/a.pem"].map((path) => isSecretFile(path, patterns)),
    [
      true,
      false,
      true,
      true,
    ],
  );
  assert.equal(isSecretFile(".env", []), false);
});
