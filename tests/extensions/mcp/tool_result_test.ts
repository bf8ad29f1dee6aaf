import assert from "node:assert/strict";
import { resourcePiece, resultMessage, toolData } from "../../../extensions/mcp/server_messages.ts";
import { differenceOf } from "../../../extensions/mcp/tools.ts";

const text = (said: string): object => ({ type: "text", text: said });

Deno.test("differenceOf() describes how data differs from a schema at its top level", () => {
  const schema = {
    type: "object",
    properties: { ok: { type: "boolean" }, n: { type: ["integer", "null"] } },
    required: ["ok"],
  };
  assert.equal(differenceOf(schema, { ok: true, n: 1, more: "x" }), "");
  assert.equal(differenceOf(schema, { ok: true, n: null }), "");
  assert.equal(differenceOf(schema, { n: 1 }), "ok is missing");
  assert.equal(differenceOf(schema, { ok: "yes" }), "ok is not of the type boolean");
  assert.equal(differenceOf(schema, [true]), "it is not of the type object");
  assert.equal(differenceOf({ type: "array" }, [1]), "");
  for (const odd of [null, 5, {}, { type: 5, properties: null, required: 7 }]) {
    assert.equal(differenceOf(odd, { a: 1 }), "");
  }
});

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

Deno.test("toolData() reads other forms of a result, and keeps a part that it does not know as the server sent it", () => {
  assert.equal(toolData({ content: "text" }), "text");
  assert.deepEqual(toolData({ content: null, structuredContent: [1] }), [1]);
  assert.deepEqual(toolData({ toolResult: { a: 1 }, isError: null, _meta: null }), { toolResult: { a: 1 } });
  assert.equal(toolData(null), null);
  assert.deepEqual(toolData([1, 2]), [1, 2]);
  assert.deepEqual(toolData({ content: [null, 5, { type: "hologram", url: "x" }, { type: "text", text: 5 }] }), [
    { type: "text", text: "5" },
    { type: "hologram", url: "x" },
    { type: "text", text: "5" },
  ]);
  assert.deepEqual(toolData({ content: [{ type: "image", mimeType: 5, data: "no base64 %" }] }), [
    { type: "image", mimeType: 5, data: "no base64 %" },
  ]);
  assert.deepEqual(toolData({ content: [{ type: "image", mimeType: "a/b", data: "data:a/b;base64,-_8\n" }] }), [
    { type: "image", mimeType: "a/b", bytes: Uint8Array.of(0xfb, 0xff) },
  ]);
  assert.deepEqual(toolData({ content: [{ type: "resource", resource: { uri: { toString: null }, blob: "%" } }] }), [
    { type: "resource", uri: '{"toString":null}', blob: "%" },
  ]);
  assert.deepEqual(resourcePiece({ uri: "a:b", blob: "AQI=", mimeType: "x/y" }), {
    type: "resource",
    uri: "a:b",
    mimeType: "x/y",
    bytes: Uint8Array.of(1, 2),
  });
  assert.equal(resultMessage({ content: [text("no"), { type: "image", data: "" }, text("way")] }), "no\nway");
  assert.equal(resultMessage({ content: [text('{"a": 1}')], structuredContent: { a: 1 } }), '{"a": 1}');
  assert.equal(resultMessage({ content: [text("no")], structuredContent: { why: "full" } }), 'no\n{"why":"full"}');
  assert.equal(resultMessage({ content: [], structuredContent: { why: "full" } }), '{"why":"full"}');
  assert.equal(resultMessage({ content: [] }), "");
});
