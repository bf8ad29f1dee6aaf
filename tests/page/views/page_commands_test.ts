import assert from "node:assert/strict";
import { SCREEN_COMMANDS } from "../../../src/domain/query/typed_request.ts";
import { PAGE_COMMANDS, PAGE_INSTEAD, SAME_ON_PAGE } from "../../../src/page/views/page_commands.ts";

Deno.test("the page has a control or an equivalent for each command of the screen", () => {
  const known = [PAGE_COMMANDS, SAME_ON_PAGE, PAGE_INSTEAD].flatMap((part) => Object.keys(part));
  assert.deepEqual(Object.keys(SCREEN_COMMANDS).filter((name) => !known.includes(name)), []);
  assert.equal(new Set(known).size, known.length);
  for (const name of Object.values(SAME_ON_PAGE)) assert.ok(Object.hasOwn(PAGE_COMMANDS, name), name);
});
