import assert from "node:assert/strict";
import { readable } from "../../../src/domain/text/readable.ts";

Deno.test("readable() shows a string as it is and a primitive without quotes", () => {
  const cases: [unknown, string][] = [
    ["a\nb", "a\nb"],
    ["", ""],
    [42, "42"],
    [NaN, "NaN"],
    [-Infinity, "-Infinity"],
    [10n, "10"],
    [true, "true"],
    [null, "null"],
    [undefined, "undefined"],
    [Symbol("s"), "Symbol(s)"],
  ];
  for (const [value, text] of cases) assert.equal(readable(value), text);
});

Deno.test("readable() shows data as indented JSON and loses no number", () => {
  assert.equal(readable({ a: [1, "x"] }), '{\n  "a": [\n    1,\n    "x"\n  ]\n}');
  assert.deepEqual(JSON.parse(readable({ big: 5n, not: NaN, far: Infinity })), {
    big: "5n",
    not: "NaN",
    far: "Infinity",
  });
});

Deno.test("readable() shows collections and built-in objects by what they hold", () => {
  const value = {
    map: new Map<unknown, unknown>([["a", new Map([[1, 2]])], [2, new Set([1])]]),
    date: new Date(0),
    never: new Date(NaN),
    pattern: /a+/g,
    address: new URL("http://localhost/x"),
    bytes: Uint8Array.of(1, 2),
    buffer: new ArrayBuffer(8),
    error: new TypeError("no"),
  };
  assert.deepEqual(JSON.parse(readable(value)), {
    map: { a: { 1: 2 }, 2: [1] },
    date: "1970-01-01T00:00:00.000Z",
    never: "Invalid Date",
    pattern: "/a+/g",
    address: "http://localhost/x",
    bytes: [1, 2],
    buffer: "8 bytes",
    error: "TypeError: no",
  });
  assert.equal(readable(new Date(0)), "1970-01-01T00:00:00.000Z");
  assert.equal(readable(new Error("why")), "Error: why");
  assert.equal(readable(new Set([1, 2])), "[\n  1,\n  2\n]");
  assert.equal(readable(new Map([["a", 1]])), '{\n  "a": 1\n}');
});

Deno.test("readable() shows a cycle, also through collections, and a shared object twice", () => {
  const self: { name: string; self?: unknown; all: Set<unknown> } = { name: "s", all: new Set() };
  self.self = self;
  self.all.add(self);
  assert.deepEqual(JSON.parse(readable(self)), { name: "s", all: ["[circular]"], self: "[circular]" });
  const shared = { n: 1 };
  assert.deepEqual(JSON.parse(readable({ a: shared, b: [shared] })), { a: { n: 1 }, b: [{ n: 1 }] });
});

Deno.test("readable() runs no code of the value and accepts objects without a prototype", () => {
  const value = Object.create(null);
  value.a = 1;
  value.me = value;
  Object.defineProperty(value, "trap", { enumerable: true, get: () => assert.fail("read") });
  assert.deepEqual(JSON.parse(readable([Object.assign(Object.create(null), { a: 1 })])), [{ a: 1 }]);
  assert.throws(() => readable(value), /read/);
});
