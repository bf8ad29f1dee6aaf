import assert from "node:assert/strict";
import { ATTACKS } from "../sandbox/attacks/list.ts";
import { claimsOfList, claimsOfPage } from "../sandbox/attacks/page.ts";

const page = Deno.readTextFileSync(new URL("../../docs/generated/attacks.md", import.meta.url));

Deno.test("docs/generated/attacks.md has the attacks and claims of the list: deno task attacks renews it", () => {
  for (const way of ["source", "compiled"] as const) {
    assert.deepEqual(claimsOfPage(page, way), claimsOfList(ATTACKS, way));
  }
});

Deno.test("docs/generated/attacks.md shows no attack that passed all walls or one that claims to stop it", () => {
  assert.doesNotMatch(page, /● \*\*through\*\*/);
  assert.match(page, /\*\*through\*\*: secret/);
});
