import assert from "node:assert/strict";
import { resourcePiece, resultMessage, toolData } from "../../../extensions/mcp/tool_result.ts";

const text = (said: string): object => ({ type: "text", text: said });

Deno.test("toolData() gives structured data, text, parsed JSON, or pieces", () => {
  assert.deepEqual(toolData({ structuredContent: { a: 1 }, content: [text('{"a":1}')] }), { a: 1 });
  assert.equal(toolData({ structuredContent: {}, content: [text("said")] }), "said");
  assert.deepEqual(toolData({ structuredContent: {}, content: [] }), {});
  assert.equal(toolData({ content: [text("a"), text("b")] }), "a\nb");
  assert.deepEqual(toolData({ content: [text('[{"id": 1}]')] }), [{ id: 1 }]);
  assert.equal(toolData({ content: [text("[1] a note")] }), "[1] a note");
  assert.equal(toolData({ content: [] }), "");
  const image = { type: "image", mimeType: "image/png", data: "iVBO" };
  assert.deepEqual(toolData({ content: [text("see"), image] }), [
    { type: "text", text: "see" },
    { type: "image", mimeType: "image/png", bytes: Uint8Array.of(0x89, 0x50, 0x4e) },
  ]);
  const link = { type: "resource_link", uri: "file:///a", name: "a" };
  assert.deepEqual(toolData({ structuredContent: { n: 1 }, content: [link] }), {
    data: { n: 1 },
    content: [{ type: "link", uri: "file:///a", name: "a" }],
  });
});

Deno.test("toolData() leaves out what it does not know, and takes nothing on trust", () => {
  assert.equal(toolData({ content: "text" }), "");
  assert.equal(toolData({ content: [null, 5, { type: "hologram" }, { type: "text", text: 5 }] }), "");
  assert.deepEqual(toolData({ content: [{ type: "image", mimeType: 5, data: "no base64 %" }] }), [
    { type: "image", mimeType: "", bytes: new Uint8Array() },
  ]);
  assert.deepEqual(resourcePiece({ uri: "a:b", blob: "AQI=", mimeType: "x/y" }), {
    type: "resource",
    uri: "a:b",
    mimeType: "x/y",
    bytes: Uint8Array.of(1, 2),
  });
  assert.equal(resultMessage({ content: [text("no"), { type: "image", data: "" }, text("way")] }), "no\nway");
  assert.equal(resultMessage({ content: [], structuredContent: { why: "full" } }), '{"why":"full"}');
  assert.equal(resultMessage({ content: [] }), "");
});
