import assert from "node:assert/strict";
import { jsonOrUndefined } from "../../../src/domain/text/json_or_undefined.ts";

Deno.test("jsonOrUndefined() tells null from what is no JSON", () => {
  assert.equal(jsonOrUndefined("null"), null);
  assert.deepEqual(jsonOrUndefined(' {"a": [1]} '), { a: [1] });
  for (const text of ["", "{", "undefined", "'a'"]) assert.equal(jsonOrUndefined(text), undefined, text);
});
