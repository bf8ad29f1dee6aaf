import { fn, z } from "../../src/extension/mod.ts";
import { schemaText, signatureOf } from "../../src/extension/signatures.ts";
import assert from "node:assert/strict";

function parameters(args: z.ZodType): string {
  const signature = signatureOf("x", fn("f", () => null, { doc: "F.", args, returns: "void" }));
  assert.ok(signature.startsWith("x.f(") && signature.endsWith("): Promise<void>"), signature);
  return signature.slice(4, -"): Promise<void>".length);
}

const tree: z.ZodType = z.object({
  name: z.string(),
  get kids() {
    return z.array(tree);
  },
});

const SHAPES: readonly (readonly [string, z.ZodType, string])[] = [
  ["no arguments", z.tuple([]), ""],
  ["names from descriptions", z.tuple([z.string().describe("path")]), "path: string"],
  ["a description that is no name", z.tuple([z.string().describe("The path")]), "arg1: string"],
  ["names told twice", z.tuple([z.string().describe("a"), z.string().describe("a")]), "a: string, a2: string"],
  ["an object is called options", z.tuple([z.object({ n: z.number() })]), "options: {n: number}"],
  ["optional ones", z.tuple([z.string().describe("a"), z.number().optional()]), "a: string, arg2?: number"],
  ["only optional ones", z.tuple([z.string().optional().describe("a")]), "a?: string"],
  ["defaults", z.tuple([z.object({ n: z.number().default(3) }).describe("o")]), "o: {n?: number}"],
  ["a default argument", z.tuple([z.number().describe("n").default(3)]), "n?: number"],
  ["integers", z.tuple([z.number().int().min(1).describe("n")]), "n: number"],
  ["unions", z.tuple([z.union([z.string(), z.number()]).describe("v")]), "v: string | number"],
  ["arrays of unions", z.tuple([z.array(z.union([z.string(), z.null()])).describe("v")]), "v: (string | null)[]"],
  ["arrays of objects", z.tuple([z.array(z.object({ a: z.string() })).describe("v")]), "v: {a: string}[]"],
  [
    "arrays of a union of objects",
    z.tuple([
      z.array(z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])).describe("v"),
    ]),
    "v: ({a: string} | {b: string})[]",
  ],
  [
    "literals and enums",
    z.tuple([z.literal("a").describe("v"), z.enum(["x", "y"]).describe("w")]),
    'v: "a", w: "x" | "y"',
  ],
  ["nullable", z.tuple([z.string().nullable().describe("v")]), "v: string | null"],
  ["records", z.tuple([z.record(z.string(), z.number()).describe("v")]), "v: Record<string, number>"],
  ["tuples inside", z.tuple([z.tuple([z.string(), z.number().optional()]).describe("v")]), "v: [string, number?]"],
  ["rest arguments", z.tuple([z.string().describe("a")], z.string().describe("more")), "a: string, ...more: string[]"],
  [
    "intersections",
    z.tuple([
      z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() })).describe("v"),
    ]),
    "v: {a: string, b: string}",
  ],
  [
    "discriminated unions",
    z.tuple([
      z.discriminatedUnion("k", [z.object({ k: z.literal(1) }), z.object({ k: z.literal(2) })]).describe("v"),
    ]),
    "v: {k: 1} | {k: 2}",
  ],
  ["the input side of a transform", z.tuple([z.string().transform(Number).describe("v")]), "v: string"],
  ["unknown and any", z.tuple([z.unknown().describe("v")]), "v: unknown"],
  [
    "dates, maps, sets, bigint",
    z.tuple([
      z.date().describe("d"),
      z.map(z.string(), z.string()).describe("m"),
      z.set(z.string()).describe("s"),
      z.bigint().describe("b"),
    ]),
    "d: Date, m: Map<unknown, unknown>, s: Set<unknown>, b: bigint",
  ],
  [
    "a type that names itself",
    z.tuple([z.custom<Uint8Array>().meta({ tsType: "Uint8Array", title: "bytes" })]),
    "bytes: Uint8Array",
  ],
  ["keys that need quotes", z.tuple([z.object({ "a-b": z.string() }).describe("v")]), 'v: {"a-b": string}'],
  ["empty objects", z.tuple([z.object({}).describe("v")]), "v: object"],
];

for (const [what, args, expected] of SHAPES) {
  Deno.test(`signatureOf() prints ${what}`, () => assert.equal(parameters(args), expected));
}

Deno.test("signatureOf() ends a type that contains itself", () => {
  assert.match(parameters(z.tuple([tree])), /^arg1: \{name: string, kids: .*unknown/);
});

Deno.test("signatureOf() shares nothing between aliases", () => {
  const symbol = fn("f", () => null, { doc: "F.", args: z.tuple([]), returns: "void" });
  assert.equal(signatureOf("a", symbol), "a.f(): Promise<void>");
  assert.equal(signatureOf("b", symbol), "b.f(): Promise<void>");
});

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

Deno.test("schemaText() takes the name of the project's own types, however long, and no other names", () => {
  const own = { type: "object", tsType: `{${"key: string, ".repeat(50)}}` };
  assert.equal(schemaText(own), own.tsType);
  assert.equal(schemaText(own, { notes: true }), "object");
});
