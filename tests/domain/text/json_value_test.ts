import assert from "node:assert/strict";
import { jsonValue } from "../../../src/domain/text/json_value.ts";

Deno.test("jsonValue() gives plain data as it is, and a form to what JSON has none for", () => {
  const plain = { a: [1, "x", null, true], b: { c: {} } };
  assert.deepEqual(jsonValue(plain), plain);
  const value = {
    map: new Map<unknown, unknown>([["k", 1], [2, new Set(["s"])]]),
    date: new Date(0),
    bytes: new Uint8Array([1, 2]),
    url: new URL("https://example.org/"),
    error: new TypeError("why"),
    big: 12n,
    left: undefined,
    holes: [undefined, 1],
  };
  assert.deepEqual(jsonValue(value), {
    map: { k: 1, 2: ["s"] },
    date: "1970-01-01T00:00:00.000Z",
    bytes: [1, 2],
    url: "https://example.org/",
    error: "TypeError: why",
    big: 12,
    holes: [null, 1],
  });
});

Deno.test("jsonValue() names the place of what has no form", () => {
  const cases: readonly [unknown, RegExp][] = [
    [undefined, /Cannot write undefined as JSON$/],
    [{ a: [1, { b: NaN }] }, /Cannot write NaN as JSON: it stands at \/a\/1\/b$/],
    [[Infinity], /Infinity/],
    [{ f: () => 1 }, /stands at \/f/],
    [new Date(NaN), /Invalid Date/],
    [2n ** 64n, /18446744073709551616/],
    [new Map([[{}, 1]]), /a Map whose keys are objects/],
    [new ArrayBuffer(2), /binary data/],
  ];
  for (const [value, expected] of cases) assert.throws(() => jsonValue(value), expected);
});

Deno.test("jsonValue() refuses a value inside itself, and runs no getter and no toJSON", () => {
  const loop: Record<string, unknown> = {};
  loop["self"] = loop;
  assert.throws(() => jsonValue(loop), /nested too deep, or that contains itself/);
  let ran = false;
  const trap = Object.defineProperty({ toJSON: "data" }, "x", { enumerable: true, get: () => ran = true });
  assert.deepEqual(jsonValue(trap), { toJSON: "data" });
  assert.equal(ran, false);
});

Deno.test("jsonValue() keeps a property named __proto__ as data", () => {
  const value = jsonValue(JSON.parse('{"__proto__": {"polluted": 1}}'));
  assert.deepEqual(Object.keys(value as object), ["__proto__"]);
  assert.equal(JSON.stringify(value), '{"__proto__":{"polluted":1}}');
});
