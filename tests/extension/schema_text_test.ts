import assert from "node:assert/strict";
import { schemaText } from "../../src/extension/schema_text.ts";

Deno.test("schemaText() writes TypeScript for JSON Schema", () => {
  const table: readonly (readonly [unknown, string])[] = [
    [{ type: "string" }, "string"],
    [{ type: ["integer", "null"] }, "number | null"],
    [{ enum: ["a", 1, null] }, '"a" | 1 | null'],
    [{ const: true }, "true"],
    [{ type: "array", items: { anyOf: [{ type: "string" }, { type: "number" }] } }, "(string | number)[]"],
    [{ type: "array", items: { type: "array", items: { type: "boolean" } } }, "boolean[][]"],
    [{ type: "object", additionalProperties: { type: "number" } }, "Record<string, number>"],
    [
      { allOf: [{ type: "object", properties: { a: { type: "string" } } }, { type: "object" }] },
      "{a?: string} & object",
    ],
    [{
      type: "object",
      properties: { "a b": {}, c: { type: "string", description: "It */ ends\nhere" } },
      required: ["c"],
    }, '{"a b"?: unknown, c: string /* It * / ends here */}'],
    [{ $ref: "#/definitions/N", definitions: { N: { type: "number" } } }, "number"],
    [{ $ref: "https://elsewhere.example/schema" }, "unknown"],
    [{}, "unknown"],
    [null, "unknown"],
    ["x", "unknown"],
  ];
  for (const [schema, expected] of table) assert.equal(schemaText(schema, { notes: true }), expected);
});

Deno.test("schemaText() is bounded: cycles, depth, width, length", () => {
  const cycle = {
    $ref: "#/$defs/A",
    $defs: { A: { type: "object", properties: { a: { $ref: "#/$defs/A" }, b: { $ref: "#/$defs/A" } } } },
  };
  assert.ok(schemaText(cycle).length <= 6_000);
  assert.equal(schemaText({ $ref: "#" }), "unknown");
  const wide = {
    type: "object",
    properties: Object.fromEntries(
      Array.from({ length: 5_000 }, (_, at) => [`k${at}`, { enum: Array.from({ length: 100 }, (_, n) => `v${n}`) }]),
    ),
  };
  assert.ok(schemaText(wide).length <= 6_000);
  let deep: object = { type: "string" };
  for (let at = 0; at < 5_000; at++) deep = { type: "array", items: deep };
  assert.ok(schemaText(deep).length < 100);
});

Deno.test("schemaText() takes the name that a type of our own has, however long, and none of others", () => {
  const own = { type: "object", tsType: `{${"key: string, ".repeat(50)}}` };
  assert.equal(schemaText(own), own.tsType);
  assert.equal(schemaText(own, { notes: true }), "object");
});
