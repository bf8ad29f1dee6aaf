import assert from "node:assert/strict";
import { percentDecoded } from "../../../src/domain/text/percent_decoded.ts";

Deno.test("percentDecoded() leaves what it cannot read as it is", () => {
  assert.equal(percentDecoded("a%20b%2Fc+d"), "a b/c+d");
  for (const text of ["100%", "%zz", "%e2%82"]) assert.equal(percentDecoded(text), text);
});
