import assert from "node:assert/strict";
import { testSandbox } from "../helpers/sandbox.ts";

interface Shown {
  readonly preview: string | RegExp;
  readonly type: string;
  readonly shape: string;
}

const one = (preview: string | RegExp, type: string, shape = type): Shown => ({ preview, type, shape });

const SHOWN: Readonly<Record<string, Shown>> = {
  "new Proxy([], {})": one("[Proxy]", "Proxy"),
  "new WeakMap()": one("WeakMap { <items unknown> }", "WeakMap"),
  "new WeakSet()": one("WeakSet { <items unknown> }", "WeakSet"),
  "new WeakRef({})": one("WeakRef {}", "WeakRef"),
  "new FinalizationRegistry(() => {})": one("FinalizationRegistry {}", "FinalizationRegistry"),
  "(function* () {})()": one("Object [Generator] {}", "Generator"),
  "(async function* () {})()": one("Object [AsyncGenerator] {}", "AsyncGenerator"),
  "[1].values()": one("Object [Array Iterator] {}", "Array Iterator"),
  "new Map([[1, 2]]).entries()": one("Object [Map Iterator] {}", "Map Iterator"),
  "Iterator.from([1]).map((x) => x)": one("Object [Iterator Helper] {}", "Iterator Helper"),
  "[Promise.resolve(4), new Promise(() => {})]": one(
    "[ Promise { 4 }, Promise { <pending> } ]",
    "Array",
    "Array(2) of Promise",
  ),
  "const p = Promise.reject(new Error('x')); p.catch(() => {}); [p]": one(
    "[ Promise { <rejected> [Error: x] } ]",
    "Array",
    "Array(1) of Promise",
  ),
  "new BigInt64Array([1n])": one("BigInt64Array(1) [ 1n ]", "BigInt64Array", "BigInt64Array(1)"),
  "new DataView(new ArrayBuffer(3))": one("DataView { byteLength: 3 }", "DataView"),
  "new ArrayBuffer(2)": one("ArrayBuffer { byteLength: 2 }", "ArrayBuffer"),
  "typeof Temporal === 'undefined' ? 'none' : Temporal.PlainDate.from('2020-01-02')": one(
    /^("none"|Temporal.PlainDate 2020-01-02)$/,
    "",
    "",
  ),
  "new Intl.NumberFormat('en')": one("NumberFormat [Intl.NumberFormat] {}", "NumberFormat", "Intl.NumberFormat"),
  "Math": one("Object [Math] {}", "Math"),
  "Symbol('a')": one("Symbol(a)", "symbol"),
  "new Error('m', { cause: new TypeError('c') })": one("Error: m { [cause]: [TypeError: c] }", "Error"),
  "new AggregateError([new Error('a')], 'm')": one("AggregateError: m { [errors]: [ [Error: a] ] }", "AggregateError"),
  "new SuppressedError(1, 2, 'm')": one("SuppressedError: m { [error]: 1, [suppressed]: 2 }", "SuppressedError"),
  "class A { #p = 1; x = 3 }\n[A, new A()]": one(
    "[ [class A], A { x: 3 } ]",
    "Array",
    "Array(2) of (class | A {x: number})",
  ),
  "new (class extends Map { y = 1 })([[1, { a: 1 }]])": one(
    "Map(1) { 1 => { a: 1 }, y: 1 }",
    "Map",
    "Map(1) of number => {a: number}",
  ),
  "const c = new Map(); c.set(c, [c]); c": one(
    "<ref *1> Map(1) { [Circular *1] => [ [Circular *1] ] }",
    "Map",
    "Map(1) of circular => Array(1) of circular",
  ),
  "Object.assign([1, , 3], { k: 1 })": one("[ 1, <1 empty item>, 3, k: 1 ]", "Array", "Array(3) of number"),
  "({ get a() { return 1 }, set a(v) {}, get b() { return 1 } })": one(
    "{ a: [Getter/Setter], b: [Getter] }",
    "Object",
    "{a: getter, b: getter}",
  ),
  "Object.create(null)": one("[Object: null prototype] {}", "Object", "{}"),
  "[async () => {}, function* g() {}, async function* h() {}, class X extends Array {}, Math.max]": one(
    /^\[\n \[AsyncFunction \(anonymous\)\],\n \[GeneratorFunction: g\],\n \[AsyncGeneratorFunction: h\],\n \[class X extends Array\],\n \[Function: max\]\n\]$/,
    "Array",
    "Array(5) of (function | class)",
  ),
  "[new Date(NaN), new Date(0)]": one("[ Invalid Date, 1970-01-01T00:00:00.000Z ]", "Array", "Array(2) of Date"),
  "/[\\p{L}]/giv": one("/[\\p{L}]/giv", "RegExp"),
  "[Object(1), Object('s'), Object(1n), Object(Symbol('x'))]": one(
    '[ [Number: 1], [String: "s"], [BigInt: 1n], [Symbol: Symbol(x)] ]',
    "Array",
    "Array(4) of (Number | String | BigInt | Symbol)",
  ),
  "new URL('http://a/b')": one('URL { href: "http://a/b" }', "URL"),
  "new URLSearchParams('a=1')": one('URLSearchParams { [Symbol(list)]: [ [ "a", "1" ] ] }', "URLSearchParams"),
  "new TextEncoder()": one("TextEncoder {}", "TextEncoder"),
  "(function () { return arguments })(1, 2)": one("[Arguments] [ 1, 2 ]", "Object", "Object(2) of number"),
  "[-0, NaN, 10n, undefined, null]": one(
    "[ -0, NaN, 10n, undefined, null ]",
    "Array",
    "Array(5) of (number | bigint | undefined | null)",
  ),
  "({ ['__proto__']: 1, 'a-b': 2, [Symbol('k')]: 3 })": one(
    '{ __proto__: 1, "a-b": 2, [Symbol(k)]: 3 }',
    "Object",
    '{__proto__: number, "a-b": number}',
  ),
  "'a\\n\\tb\\n' + ''": one('"""\na\n\tb\n"""', "string"),
  "'\\u001b[31m' + '\\u202e'": one('"\\u001b[31m\\u202e"', "string"),
  "[typeof SharedArrayBuffer, typeof Headers, typeof Atomics]": one(
    '[ "undefined", "undefined", "undefined" ]',
    "Array",
    "Array(3) of string",
  ),
};

Deno.test("run() preview, type and shape() of everything that JavaScript has", async () => {
  await using box = await testSandbox();
  let iteration = 0;
  for (const [source, { preview, type, shape }] of Object.entries(SHOWN)) {
    const { result } = await box.run(source, { iteration: ++iteration });
    if (typeof preview === "string") assert.equal(result.preview, preview, source);
    else assert.match(result.preview, preview, source);
    if (type) assert.equal(result.type, type, source);
    if (!shape) continue;
    assert.equal(await box.show("shape(results[0])", { iteration: ++iteration }), JSON.stringify(shape), source);
  }
});

Deno.test("run() shows, sizes, keeps and compares values without running anything of them", async () => {
  await using box = await testSandbox();
  await box.run(`
    globalThis.ran = [];
    globalThis.trap = (name) => function () { ran.push(name); return undefined };
    globalThis.handler = new Proxy({}, { get: (_, key) => { ran.push("trap " + String(key)); return undefined } });
    for (const owner of [Object, Array, Map, Set, Date, RegExp, Promise, Error, Function, String, Number]) {
      const { prototype } = owner;
      for (const key of ["toString", "toJSON", "valueOf", "inspect", Symbol.toPrimitive, Symbol.iterator]) {
        const before = Object.getOwnPropertyDescriptor(prototype, key);
        if (before?.configurable !== false && Object.isExtensible(prototype)) {
          Object.defineProperty(prototype, key, { value: trap(owner.name + " " + String(key)), configurable: true, writable: true });
        }
      }
    }
    1`);
  const sources = [
    "const h = { get a() { ran.push('getter') }, toString: trap('own toString'), toJSON: trap('own toJSON'), [Symbol.toPrimitive]: trap('own toPrimitive'), get [Symbol.toStringTag]() { ran.push('tag') } }; h",
    "const q = new Proxy({}, handler); q",
    "const r = [new Proxy(() => {}, handler), Object.setPrototypeOf({}, new Proxy({}, handler))]; r",
    "class Odd extends Array { static get [Symbol.species]() { ran.push('species') } get length2() { ran.push('own getter') } }\nconst s = new Odd(); s",
    "const t = Object.defineProperty(new Error('m'), 'stack', { get() { ran.push('stack') } }); t",
    "const u = Object.defineProperty(() => {}, 'name', { get() { ran.push('name') } }); ({ u })",
    "const v = new Map([[h, new Set([q])]]); v",
    "const w = Object.defineProperty(Promise.resolve(1), 'then', { get() { ran.push('then') } }); ({ w })",
    "const x = Object.defineProperty(/a/, 'flags', { get() { ran.push('flags') } }); x",
    "const y = Object.defineProperty([1], '0', { get() { ran.push('item') }, enumerable: true }); y",
  ];
  for (const source of sources) assert.equal((await box.run(source)).result.error, null, source);
  await box.run("shape([h, r, s, t, u, v, w, x, y]); 1");
  assert.equal(await box.show("ran"), "[]");
});

Deno.test("run() previews are bounded in length and time, whatever the value", async () => {
  await using box = await testSandbox();
  const huge = [
    "let d = 0; for (let i = 0; i < 100_000; i++) d = { d }; d",
    "Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => ['k' + i, { i }]))",
    "Array.from({ length: 300 }, () => Array.from({ length: 300 }, () => ({ a: [1, { b: 2 }] })))",
    "new Map(Array.from({ length: 100_000 }, (_, i) => [{ i }, [i]]))",
    "(() => { const a = []; a.length = 2 ** 32 - 1; return a })()",
    "new Uint8Array(10_000_000)",
    "'line\\n'.repeat(1_000_000)",
    "'\\u0000\\n'.repeat(1_000_000)",
    "({ ['k'.repeat(1_000_000)]: Symbol('s'.repeat(1_000_000)) })",
    "Object.defineProperty(() => {}, 'name', { value: 'n'.repeat(1_000_000) })",
    "new Error('m'.repeat(1_000_000), { cause: new Error('c'.repeat(1_000_000)) })",
    "2n ** 1_000_000n",
  ];
  for (const source of huge) {
    const { result } = await box.run(source, { deadlineMs: 10_000 });
    assert.equal(result.outcome, "value", source);
    assert.ok(result.preview.length <= 2 * 6000 + 300, `${source}: ${result.preview.length}`);
  }
});
