import assert from "node:assert/strict";
import { isBelow } from "../../../src/app/extensions/extension_source.ts";

Deno.test("isBelow() is for what is inside a folder, not for what begins alike", () => {
  assert.equal(isBelow("/w/.vis/extensions/a", "/w/.vis"), true);
  assert.equal(isBelow("/w/..a", "/w"), true);
  for (const path of ["/w", "/", "/wx/a", "/w/../other", "/other"]) assert.equal(isBelow(path, "/w"), false, path);
});
