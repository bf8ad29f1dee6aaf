import assert from "node:assert/strict";
import { COMMANDS, spelled } from "../../../../src/channels/cli/cli.ts";
import { FAMILIAR_WORDS } from "../../../../src/domain/familiar_words.ts";

Deno.test("spelled() returns the intended command", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["login anthropic", "auth login anthropic"],
    ["history --limit 3", "conversations list --limit 3"],
    ["export", "conversations export"],
    ["resume", "-c"],
    ["resume 01a20990-8048", "--conversation 01a20990-8048"],
    ["resume 01A20990", "--conversation 01A20990"],
    ["resume 01a2 go-on", "--conversation 01a2 go-on"],
    ["resume go-on", "-c go-on"],
    ["resume fade", "-c fade"],
    ["continue", "-c"],
    ["continue 01a20990-8048", "--conversation 01a20990-8048"],
    ["continue --provider demo", "-c --provider demo"],
    ["continue 01a20990-8048 --json", "--conversation 01a20990-8048 --json"],
    ["continue 01a20990-8048 go-on", "continue 01a20990-8048 go-on"],
    ["continue with the tests", "continue with the tests"],
    ["exec fix-it", "run fix-it"],
    ["-p fix-it", "run fix-it"],
    ["-c --print fix-it", "run -c fix-it"],
    ["fix-it -p", "run fix-it"],
    ["config list", "config list"],
    ["help login", "help auth login"],
    ["help resume", "help resume"],
    ["run -p", "run -p"],
    ["-- -p", "-- -p"],
    ["toString", "toString"],
  ];
  for (const [typed, meant] of cases) assert.deepEqual(spelled(typed.split(" "), COMMANDS), meant.split(" "), typed);
  assert.deepEqual(spelled([], COMMANDS), []);
});

Deno.test("each word of similar programs names commands of Vis, and is none itself", () => {
  for (const [word, ours] of Object.entries(FAMILIAR_WORDS)) {
    assert.ok(!COMMANDS.includes(word), word);
    assert.deepEqual(spelled([word], COMMANDS), [word]);
    for (const [, name = ""] of ours.matchAll(/\bvis ([a-z]+)/g)) {
      assert.ok(name === "without" || COMMANDS.includes(name) || name === "memos", `${word}: ${ours}`);
    }
    assert.match(ours, /vis [a-z]|\/new/);
  }
});
