import {
  exactJson,
  JsonMeter,
  jsonOrUndefined,
  JsonTooLarge,
  jsonValue,
  readable,
  readableHead,
  readForeignJson,
} from "../../../src/domain/kit/json.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { runs } from "../../helpers/long_part.ts";

Deno.test("jsonValue() returns plain data unchanged, and a form for values that JSON lacks", () => {
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

Deno.test("jsonValue() names the path of a value without a form", () => {
  const cases: readonly [unknown, RegExp][] = [
    [undefined, /Cannot write undefined as JSON: JSON has no form for it$/],
    [{ a: [1, { b: NaN }] }, /Cannot write NaN as JSON, at \/a\/1\/b: JSON has no form for it$/],
    [[Infinity], /Infinity/],
    [{ f: () => 1 }, /Cannot write a function as JSON, at \/f: JSON has no form for it$/],
    [new Date(NaN), /Cannot write a Date without a valid time as JSON/],
    [2n ** 64n, /Cannot write the BigInt 18446744073709551616 as JSON: a number would lose digits; /],
    [new Map([[{}, 1]]), /a Map whose keys are objects/],
    [new ArrayBuffer(2), /binary data as JSON: JSON has no form for it; convert it to Base64 text$/],
  ];
  for (const [value, expected] of cases) assert.throws(() => jsonValue(value), expected);
});

Deno.test("jsonValue() refuses a value inside itself, and runs no getter and no toJSON", () => {
  const loop: Record<string, unknown> = {};
  loop["self"] = loop;
  assert.throws(
    () => jsonValue(loop),
    /Cannot write a value as JSON, at .+ chars\): it has more than 500 levels, or contains itself$/,
  );
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

Deno.test("readForeignJson() reads every JSON text as JSON.parse does", () => {
  fc.assert(fc.property(fc.json(), (text) => assert.deepEqual(readForeignJson(text), JSON.parse(text))), { seed: 3 });
  assert.throws(() => readForeignJson("[1,"), SyntaxError);
});

Deno.test("readForeignJson() refuses too many values and levels before it parses", () => {
  const limits = { values: 10, depth: 3 };
  const refused = (limit: string) => (error: unknown) => error instanceof JsonTooLarge && error.limit === limit;
  assert.deepEqual(readForeignJson("[0,0,0,0,0,0,0,0,0,0]", limits), Array(10).fill(0));
  assert.throws(() => readForeignJson("[0,0,0,0,0,0,0,0,0,0,0]", limits), refused("values"));
  assert.throws(
    () => readForeignJson("[],[],[],[],[],[],[]", limits),
    refused("values"),
    "in text that is no JSON too",
  );
  assert.throws(() => readForeignJson('{"a":{"a":{"a":{"a":1}}}}', limits), refused("depth"));
  assert.equal(readForeignJson(`"${"[{,".repeat(100)}"`, limits), "[{,".repeat(100));
  assert.equal(readForeignJson(JSON.stringify('\\"[[[[[[[['), limits), '\\"[[[[[[[[');
});

Deno.test("JsonMeter lets every ordinary value be, whatever its strings hold, and text that ends early", () => {
  const read = (text: string): void => new JsonMeter({ values: 100_000, depth: 200 }).push(text);
  fc.assert(fc.property(fc.json({ maxDepth: 20 }), read), { numRuns: runs(75, 300), seed: 8 });
  read(JSON.stringify(["[".repeat(1_000), '\\"[{'.repeat(1_000), "\\", '"']));
  for (const text of ["[]".repeat(1_000), '"[[[', '"\\', ""]) read(text);
});

Deno.test("JsonMeter counts the same however the text is cut", () => {
  const limits = { values: 4, depth: 9 };
  for (const text of ['["\\"[,,,,", 1, 2]', '["a\\\\", [], [], []]']) {
    for (let at = 0; at <= text.length; at++) {
      const whole = outcome(() => new JsonMeter(limits).push(text));
      const meter = new JsonMeter(limits);
      assert.equal(outcome(() => [text.slice(0, at), text.slice(at)].forEach((part) => meter.push(part))), whole);
    }
  }
});

function outcome(run: () => void): string {
  try {
    run();
    return "within";
  } catch {
    return "over";
  }
}

Deno.test("jsonOrUndefined() distinguishes null from text that is not JSON", () => {
  assert.equal(jsonOrUndefined("null"), null);
  assert.deepEqual(jsonOrUndefined(' {"a": [1]} '), { a: [1] });
  for (const text of ["", "{", "undefined", "'a'"]) assert.equal(jsonOrUndefined(text), undefined, text);
});

Deno.test("readable() shows a string unchanged and a primitive without quotes", () => {
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

Deno.test("readable() shows a map that contains itself in a key", () => {
  const map = new Map<unknown, unknown>();
  map.set(map, 1).set({ inner: map }, 2);
  const shown = JSON.parse(readable(map));
  assert.equal(shown["[circular]"], 1);
  assert.deepEqual(Object.values(shown), [1, 2]);
  assert.match(readable([map]), /circular/);
});

Deno.test("readable() shows collections and built-in objects by their contents", () => {
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

Deno.test("exactJson() has a BigInt for an integer that a number cannot hold, and nothing else", () => {
  const exact = (text: string): unknown => exactJson(text, JSON.parse(text));
  assert.deepEqual(exact('{"a":[9007199254740993,-9223372036854775808],"key":"9007199254740993"}'), {
    a: [9007199254740993n, -9223372036854775808n],
    key: "9007199254740993",
  });
  for (
    const text of ["9007199254740991", "-9007199254740991", "1e300", "12345678901234567890.5", "0.12345678901234567"]
  ) {
    assert.equal(exact(text), Number(text));
  }
  assert.equal(exact("9007199254740992"), 9007199254740992n);
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

Deno.test("readableHead() returns the beginning of readable(), and builds no more of a large value", () => {
  const values = [
    [1, "a", { b: [null, 2n] }],
    new Map([["k", new Set([1, 2, 3])]]),
    new Uint8Array(400).fill(7),
    { a: Array.from({ length: 300 }, (_, at) => ({ at })), b: "x".repeat(90) },
    Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`key${at}`, at])),
  ];
  for (const value of values) {
    const text = readable(value);
    for (const limit of [40, 200, 100_000]) {
      const head = readableHead(value, limit);
      if (text.length <= limit) assert.equal(head, text);
      else {
        assert.ok(head.length <= limit);
        const [kept = ""] = head.split("…");
        assert.ok(kept.length > 10 && text.startsWith(kept), `${kept} of ${text.slice(0, 99)}`);
      }
    }
  }
  let read = 0;
  const large = Array.from({ length: 50 }, () =>
    new Proxy(new Array(100_000).fill(0), {
      getOwnPropertyDescriptor: (list, key) => (read++, Reflect.getOwnPropertyDescriptor(list, key)),
    }));
  readableHead(large, 1_000);
  assert.ok(read < 10_000, `${read} items were read`);
  readableHead(new Map(large.map((key) => [key, 1])), 1_000);
  assert.ok(read < 20_000, `${read} items were read, those of keys included`);
});
