import assert from "node:assert/strict";
import { isRequest } from "../../../../src/channels/cli/cli.ts";
import { COMMANDS } from "../../../../src/channels/cli/program/program.ts";

Deno.test("isRequest() takes plain words, and no command that is misspelled or missing", () => {
  for (const args of [["fix the tests"], ["fix", "the", "tests"], ["runn it"], ["list", "routes", "--model", "m"]]) {
    assert.equal(isRequest(args, COMMANDS), true, args.join(" "));
  }
  for (const args of [["rnu"], ["rnu", "x"], ["conversation", "list"], ["shout"], ["shout", "--loud"]]) {
    assert.equal(isRequest(args, COMMANDS), false, args.join(" "));
  }
});
