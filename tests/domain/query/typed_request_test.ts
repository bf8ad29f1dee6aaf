import assert from "node:assert/strict";
import { lineOfRequest, requestOfCommand, typedCommand } from "../../../src/domain/query/typed_request.ts";

for (
  const line of [
    "/plan split the parser",
    "/review",
    "/review main",
    "/review HEAD~1 security only",
    "/review\nsecurity only",
    "/review main..next two\nlines",
  ]
) {
  Deno.test(`lineOfRequest() returns ${JSON.stringify(line)} for its request`, () => {
    const command = typedCommand(line);
    assert.ok(command !== null);
    const request = requestOfCommand(command, null);
    assert.ok(request !== null);
    assert.equal(lineOfRequest(request), line);
  });
}

Deno.test("lineOfRequest() returns the text of another request", () => {
  assert.equal(lineOfRequest({ text: "fix it" }), "fix it");
  assert.equal(lineOfRequest({ text: "An own prompt", only: "review" }), "An own prompt");
});
