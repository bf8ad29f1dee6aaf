import assert from "node:assert/strict";
import { UsageError } from "../../../src/domain/errors.ts";
import { AnswerSchema, type Offered } from "../../../src/prompt/answer_schema.ts";
import { cpuMs } from "../../helpers/cpu_ms.ts";

const PRODUCT = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 1 },
    price: { type: "number", exclusiveMinimum: 0 },
    tags: { type: "array", items: { enum: ["a", "b"] }, uniqueItems: true },
  },
  required: ["name", "price"],
  additionalProperties: false,
};

function judge(schema: unknown, offered: Offered): unknown {
  const judged = new AnswerSchema(schema).judge(offered);
  return judged.ok ? judged.value : judged.reason;
}

function why(schema: unknown, value: unknown): string {
  const judged = new AnswerSchema(schema).judge({ value });
  return judged.ok ? "" : judged.reason;
}

function refused(schema: unknown, expected: RegExp): void {
  assert.throws(() => new AnswerSchema(schema), (error) => error instanceof UsageError && expected.test(error.message));
}

Deno.test("AnswerSchema.judge() takes a value, JSON text, fenced JSON and JSON in a string", () => {
  const value = { name: "x", price: 1 };
  for (
    const offered of [{ value }, { text: JSON.stringify(value) }, { value: JSON.stringify(value) }, {
      text: `\`\`\`json\n${JSON.stringify(value)}\n\`\`\``,
    }]
  ) assert.deepEqual(judge(PRODUCT, offered), value);
});

Deno.test("AnswerSchema.judge() a text is a string where the schema wants one", () => {
  assert.equal(judge({ type: "string" }, { text: "plain words" }), "plain words");
  assert.equal(judge({ type: "string" }, { text: "5" }), "5");
  assert.equal(judge({ type: "integer" }, { text: "5" }), 5);
  assert.equal(judge({ type: "string" }, { text: '"quoted"' }), "quoted");
});

Deno.test("AnswerSchema.judge() names the first five faults, with paths", () => {
  const reason = why(PRODUCT, { name: "", price: "12", tags: ["a", "c", "a"], other: 1 });
  assert.equal(
    reason,
    "The answer does not fit the schema: /name must have at least 1 character, has 0; " +
      '/price must be number, is "12"; /tags must not have the same item twice; ' +
      '/tags/1 must be one of "a", "b", is "c"; the value must not have the property "other"',
  );
  const many = why({ items: { type: "string" } }, Array.from({ length: 100 }, (_, i) => i));
  assert.equal(many.split("; ").length, 5);
});

Deno.test("AnswerSchema.judge() reports that prose is no JSON", () => {
  assert.match(String(judge({ required: ["a"] }, { text: "The price is 5" })), /must be JSON .*, and this is not JSON/);
  assert.match(
    String(judge(PRODUCT, { text: "The price is 5" })),
    /must be JSON that fits the schema, and this is not JSON/,
  );
});

Deno.test("AnswerSchema.judge() accepts JSON data and refuses other values", () => {
  assert.deepEqual(judge(true, { value: new Map([["a", new Set([1])]]) }), { a: [1] });
  assert.deepEqual(judge(true, { value: { a: undefined, b: new Date(0), c: 2n } }), {
    b: "1970-01-01T00:00:00.000Z",
    c: 2,
  });
  const loop: unknown[] = [];
  loop.push(loop);
  assert.match(why(true, { rows: [NaN] }), /cannot write NaN as JSON, at \/rows\/0/);
  assert.match(why(true, loop), /more than 500 levels/);
  assert.match(why(true, 2n ** 80n), /not JSON/);
});

Deno.test("AnswerSchema.judge() names of Object's own are names like others", () => {
  const schema = { required: ["constructor"], properties: { toString: { type: "number" } } };
  assert.match(why(schema, {}), /must have the property "constructor"/);
  assert.equal(why({ properties: schema.properties }, {}), "");
  const value = JSON.parse('{"__proto__": {"a": 1}}');
  assert.match(why({ additionalProperties: false }, value), /must not have the property "__proto__"/);
});

Deno.test("AnswerSchema.judge() follows references, also into itself", () => {
  const tree = { $ref: "#/$defs/node", $defs: { node: { type: "array", items: { $ref: "#/$defs/node" } } } };
  assert.equal(why(tree, [[], [[]]]), "");
  assert.match(why(tree, [[], [1]]), /\/1\/0 must be array, is 1/);
});

Deno.test("AnswerSchema.judge() names the fault of the nearest of several forms", () => {
  const forms = { anyOf: [{ type: "string" }, { type: "object", properties: { n: { type: "number" } } }] };
  assert.match(why(forms, { n: "x" }), /must fit one of 2 forms.*\/n must be number, is "x"/);
});

Deno.test("AnswerSchema.judge() names a fault deep in a tree of forms, and ends on a tree that is too deep", () => {
  const tree = {
    $ref: "#/$defs/n",
    $defs: { n: { anyOf: [{ type: "array", items: { $ref: "#/$defs/n" } }, { type: "integer" }] } },
  };
  const nested = (depth: number): unknown => depth === 0 ? "x" : [nested(depth - 1)];
  assert.match(
    why(tree, nested(40)),
    /: \/0\/0[/0]+ must fit one of 2 forms, and the next faults are of the nearest form; \/0\/0[/0]+ must be/,
  );
  assert.match(why(tree, nested(499)), /must fit one of 2 forms|nested too deeply/);
});

Deno.test("AnswerSchema.judge() reads draft-07: lists of items, dependencies, and references alone", () => {
  const $schema = "http://json-schema.org/draft-07/schema#";
  const schema = { $schema, items: [{ type: "number" }], additionalItems: false };
  assert.match(why(schema, [1, 2]), /at most 1 item, has 2/);
  assert.match(why({ $schema, dependencies: { a: ["b"] } }, { a: 1 }), /must have the property "b" beside "a"/);
  assert.equal(why({ $schema, $ref: "#/definitions/any", type: "null", definitions: { any: true } }, 1), "");
});

Deno.test("AnswerSchema.judge() a pattern takes no more than linear time", () => {
  const begun = cpuMs();
  assert.match(why({ pattern: "^(a+)+$" }, `${"a".repeat(50_000)}b`), /must match the pattern/);
  assert.ok(cpuMs() - begun < 2_000);
});

Deno.test("AnswerSchema() refuses an invalid schema and names the place", () => {
  refused(5, /must be a JSON object/);
  refused([], /must be a JSON object/);
  refused({ type: "strin" }, /at #, type must be one of/);
  refused({ properties: { a: { minimum: "1" } } }, /at #\/properties\/a, minimum must be a number/);
  refused({ items: { properties: [] } }, /at #\/items, properties must be an object/);
  refused({ required: "a" }, /required must be a list of names/);
  refused({ $schema: "http://example.org/x" }, /\$schema names an unknown draft/);
  refused({ $ref: "https://example.org/x.json" }, /leads outside the document/);
  refused({ $ref: "#/$defs/missing" }, /leads to no schema/);
  refused({ pattern: "(?=a)b" }, /no look-around/);
  refused({ unevaluatedProperties: false }, /Vis does not support unevaluatedProperties/);
});

Deno.test("AnswerSchema() refuses an endless schema, one that expands without bound and one that is too large", () => {
  refused({ $ref: "#" }, /endlessly/);
  const bomb = Object.fromEntries(
    Array.from(
      { length: 40 },
      (_, i) => [`a${i}`, { allOf: [{ $ref: `#/$defs/a${i + 1}` }, { $ref: `#/$defs/a${i + 1}` }] }],
    ),
  );
  refused({ $ref: "#/$defs/a0", $defs: { ...bomb, a40: { type: "null" } } }, /too complex/);
  refused({ description: "x".repeat(1_000_001) }, /more than the limit of 1000000/);
});

Deno.test("AnswerSchema.instructions shows a small schema whole and of a large one its head", () => {
  const small = new AnswerSchema(PRODUCT);
  assert.ok(small.instructions.includes(JSON.stringify(PRODUCT)));
  assert.equal(small.variable, null);
  const large = new AnswerSchema({ enum: Array.from({ length: 5_000 }, (_, i) => `value ${i}`) });
  assert.ok(large.instructions.length < 4_000);
  assert.match(large.instructions, /the whole schema is the string \$schema/);
  assert.equal(large.variable, large.text);
});

Deno.test("AnswerSchema.refused remembers why the newest answer was refused", () => {
  const schema = new AnswerSchema({ type: "number" });
  schema.judge({ value: "x" });
  assert.match(schema.refused ?? "", /must be number/);
  schema.judge({ value: 1 });
  assert.equal(schema.refused, null);
});
