import assert from "node:assert/strict";
import fc from "fast-check";
import { CodecError, decode, encode } from "../../../src/sandbox/codec/codec.ts";
import { anyText } from "../../helpers/any_text.ts";
import { runs } from "../../helpers/long_part.ts";

const again = (value: unknown): unknown => decode(encode(value));

const values = fc.letrec((tie) => ({
  leaf: fc.oneof(
    anyText(),
    fc.string().map((text) => `~${text}`),
    fc.string({ unit: "grapheme" }).map((text) => text.repeat(400)),
    fc.double(),
    fc.integer(),
    fc.bigInt(),
    fc.boolean(),
    fc.constantFrom(null, undefined, -0, NaN, Infinity, -Infinity, "\ud800", "x\udc00".repeat(1000), "", "~", "~h"),
    fc.date({ noInvalidDate: false }),
    fc.uint8Array(),
    fc.float64Array(),
    fc.constantFrom(/a\/b/giu, /[a-z]/v, new URL("https://a.b/c?d#e")),
  ),
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    tie("leaf"),
    fc.array(tie("value"), { maxLength: 5 }),
    fc.sparseArray(tie("value"), { maxLength: 6 }),
    fc.dictionary(
      fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "toJSON", "0", "length")),
      tie("value"),
      {
        maxKeys: 5,
      },
    ),
    fc.dictionary(fc.string(), tie("value"), { maxKeys: 4, noNullPrototype: false }),
    fc.array(fc.tuple(tie("value"), tie("value")), { maxLength: 4 }).map((pairs) => new Map(pairs)),
    fc.array(tie("value"), { maxLength: 4 }).map((items) => new Set(items)),
    fc.tuple(fc.string(), tie("value")).map(([text, cause]) => new RangeError(text, { cause })),
    fc.tuple(tie("value"), tie("value")).map(([a, b]) => ({ a, b, again: a, both: [a, b, a] })),
  ),
}));

Deno.test("encode() decode() round trip over arbitrary values", () => {
  fc.assert(
    fc.property(values.value, (value) => {
      const bytes = encode(value);
      const back = decode(bytes);
      assert.deepStrictEqual(withoutStacks(back), withoutStacks(value));
      assert.deepStrictEqual(encode(back), bytes, "the same value makes the same bytes");
    }),
    { numRuns: runs(75, 300) },
  );
});

/** Stacks are not carried. Everything else of an error is compared by hand. */
function withoutStacks(value: unknown, seen = new Map<object, unknown>()): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (seen.has(value)) return seen.get(value);
  if (value instanceof Error) {
    const out = { proto: Object.getPrototypeOf(value), message: value.message, cause: undefined as unknown };
    seen.set(value, out);
    out.cause = withoutStacks(value.cause, seen);
    return out;
  }
  if (value instanceof Map) {
    const out: unknown[] = ["map"];
    seen.set(value, out);
    for (const [key, item] of value) out.push(withoutStacks(key, seen), withoutStacks(item, seen));
    return out;
  }
  if (value instanceof Set) {
    const out: unknown[] = ["set"];
    seen.set(value, out);
    for (const item of value) out.push(withoutStacks(item, seen));
    return out;
  }
  const prototype = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== null && prototype !== Object.prototype) return value;
  const out: object = Array.isArray(value) ? new Array(value.length) : Object.create(prototype);
  seen.set(value, out);
  for (const key of Object.keys(value)) {
    const item = withoutStacks(Reflect.get(value, key), seen);
    Object.defineProperty(out, key, { value: item, enumerable: true, writable: true, configurable: true });
  }
  return out;
}

Deno.test("encode() keeps cycles and shared references", () => {
  const shared = { n: 1 }, map = new Map<unknown, unknown>(), list: unknown[] = [shared, shared, map];
  list.push(list);
  map.set(shared, map).set(map, list);
  const back = again(list) as unknown[];
  assert.equal(back[0], back[1]);
  assert.equal(back[3], back);
  const backMap = back[2] as Map<unknown, unknown>;
  assert.equal(backMap.get(back[0]), backMap);
  assert.equal(backMap.get(backMap), back);
});

Deno.test("encode() views of one buffer share it again", () => {
  const buffer = new ArrayBuffer(16);
  const value = { a: new Uint8Array(buffer, 4, 4), b: new DataView(buffer, 2), c: new Float64Array(buffer), buffer };
  value.a[0] = 7;
  const back = again(value) as typeof value;
  assert.equal(back.a.buffer, back.buffer);
  assert.equal(back.b.buffer, back.buffer);
  assert.equal(back.a.byteOffset, 4);
  assert.equal(back.b.getUint8(2), 7);
  assert.equal(back.c.length, 2);
});

Deno.test("encode() errors: class of the language, name, cause, own properties, no stack of Vis", () => {
  class Own extends TypeError {
    override name = "Own";
    code = 5;
  }
  const own = again(new Own("m", { cause: { a: 1 } })) as Own;
  assert.ok(own instanceof TypeError);
  assert.deepEqual([own.name, own.message, own.code, own.cause], ["Own", "m", 5, { a: 1 }]);
  assert.equal(own.stack, "Own: m");
  assert.ok(!Object.keys(own).includes("message"));
  const many = again(new AggregateError([new Error("x")], "all")) as AggregateError;
  assert.ok(many instanceof AggregateError && many.errors[0] instanceof Error);
  const dom = again(new DOMException("no", "AbortError")) as Error;
  assert.deepEqual([dom.name, dom.message], ["AbortError", "no"]);
});

Deno.test("encode() runs nothing of the value", () => {
  const ran: string[] = [];
  const value = {
    get getter() {
      return ran.push("getter");
    },
    toJSON: undefined,
    list: Object.defineProperty([1], 1, { get: () => ran.push("index"), enumerable: true }),
    map: Object.assign(new Map([[1, 2]]), { [Symbol.iterator]: () => ran.push("iterator") }),
    regexp: Object.defineProperty(/a/g, "flags", { get: () => ran.push("flags") }),
    error: Object.defineProperty(new Error("x"), "message", { get: () => ran.push("message") }),
  };
  const back = again(value) as Record<string, unknown>;
  assert.deepEqual(ran, []);
  assert.ok(!("getter" in back));
  assert.deepEqual(back.list, [1, ,]);
  assert.ok(back.map instanceof Map);
});

interface Refused {
  readonly value: unknown;
  readonly path: string;
  readonly what: RegExp;
}

const hostile = new Proxy({}, {
  get() {
    throw new Error("trap");
  },
  getPrototypeOf() {
    throw new Error("trap");
  },
});

const REFUSED: readonly Refused[] = [
  { value: { a: [0, 1, 2, { b: () => 1 }] }, path: ".a[3].b", what: /a function/ },
  { value: Symbol("x"), path: "", what: /a symbol/ },
  { value: [hostile], path: "[0]", what: /a Proxy/ },
  { value: { "a b": { c: Promise.resolve() } }, path: '["a b"].c', what: /a promise/ },
  { value: new Map([[1, new WeakMap()]]), path: "<value 0>", what: /WeakMap/ },
  { value: new Set([Object(1)]), path: "<item 0>", what: /boxed/ },
  { value: [Object("s")], path: "[0]", what: /boxed/ },
  { value: { g: (function* () {})() }, path: ".g", what: /Generator/ },
  { value: new Map().entries(), path: "", what: /Map Iterator/ },
  { value: new Intl.NumberFormat(), path: "", what: /Intl/ },
  { value: new WeakRef({}), path: "", what: /WeakRef/ },
  { value: new SharedArrayBuffer(8), path: "", what: /SharedArrayBuffer/ },
  { value: { view: new Uint8Array(new SharedArrayBuffer(8)) }, path: ".view", what: /shared memory/ },
  { value: Object.setPrototypeOf(Promise.resolve(), Object.prototype), path: "", what: /promise/ },
  { value: new URLSearchParams("a=1"), path: "", what: /URLSearchParams/ },
];

Deno.test("encode() refuses the rest and names the path", () => {
  for (const { value, path, what } of REFUSED) {
    assert.throws(() => encode(value), (error: unknown) => {
      assert.ok(error instanceof CodecError);
      assert.equal(error.path, path);
      assert.match(error.message, what);
      return true;
    });
  }
});

Deno.test("encode() bounds: depth, bytes, sparse arrays", () => {
  let deep: unknown = 1;
  for (let i = 0; i < 1000; i++) deep = [deep];
  assert.doesNotThrow(() => again(deep));
  assert.throws(() => encode([[deep]]), /deeper than 1000/);
  const text = "x".repeat(5000);
  for (const value of [text, [text], Array.from({ length: 3000 }, () => 1), new Uint8Array(5000), { [text]: 1 }]) {
    assert.throws(() => encode(value, { maxBytes: 4000 }), (error: unknown) => {
      return error instanceof CodecError && error.tooLarge;
    });
    assert.ok(encode(value, { maxBytes: 100_000 }).length > 4000);
  }
  const sparse: unknown[] = [];
  sparse[4_000_000] = 1;
  assert.deepEqual(Object.keys(again(sparse) as object), ["4000000"]);
  sparse.length = 4e9;
  assert.throws(() => encode(sparse), /sparse array/);
});

Deno.test("encode() instanceOf and prototypeOf: classes by name, nested too", () => {
  class Point {
    constructor(readonly x: number) {}
    get double(): number {
      return this.x * 2;
    }
  }
  class Log extends Array<Point> {
    title = "t";
  }
  const log = new Log();
  log.push(new Point(1), new Point(2));
  const instanceOf = (value: object): { name: string } | { reason: string } => {
    const { name } = value.constructor;
    return name === "Point" || name === "Log" ? { name } : { reason: `an instance of ${name}` };
  };
  const bytes = encode({ log }, { instanceOf });
  const table: Record<string, object> = { Point: Point.prototype, Log: Log.prototype };
  const back = decode(bytes, { prototypeOf: (name) => table[name] ?? null }) as { log: Log };
  assert.ok(back.log instanceof Log && back.log[1] instanceof Point);
  assert.deepEqual([back.log.title, back.log.length, back.log[1].double], ["t", 2, 4]);
  assert.throws(() => decode(bytes, { prototypeOf: () => null }), /they contain the missing class Log/);
  assert.deepEqual(decode(encode(new Point(3))), { x: 3 });
  assert.throws(() => encode([new (class Other {})()], { instanceOf }), /it is an instance of Other/);
});
