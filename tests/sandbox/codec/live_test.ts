import assert from "node:assert/strict";
import { errorForModel } from "../../../src/domain/query/host_call.ts";
import { keptTestSandbox } from "../../helpers/sandbox.ts";

const shared = { n: 1 }, cycle: Record<string, unknown> = { a: 1 }, buffer = new Uint8Array([1, 2, 3, 4]).buffer;
cycle.self = [cycle];
const sparse: unknown[] = [1, , 3];
sparse.length = 5;

const VALUES: readonly (readonly [source: string, value: unknown])[] = [
  ["[undefined, null, true, 0, -0, NaN, Infinity, -Infinity]", [
    undefined,
    null,
    true,
    0,
    -0,
    NaN,
    Infinity,
    -Infinity,
  ]],
  ["[5e-324, 2 ** 53, -1.5, 123456789012345678901234567890n, -1n]", [
    5e-324,
    2 ** 53,
    -1.5,
    123456789012345678901234567890n,
    -1n,
  ]],
  ["['', 'ä\\u0000\\n', '\\ud800', '\\udc00x', '~', '𝒳'.repeat(2000), 'x'.repeat(5000)]", [
    "",
    "ä\0\n",
    "\ud800",
    "\udc00x",
    "~",
    "𝒳".repeat(2000),
    "x".repeat(5000),
  ]],
  ["(() => { const a = [1, , 3]; a.length = 5; return a })()", sparse],
  ["Object.assign([1], { extra: 2 })", Object.assign([1], { extra: 2 })],
  ["({ a: { 'b c': [1] }, '': 0, 1: 2 })", { a: { "b c": [1] }, "": 0, 1: 2 }],
  ['JSON.parse(\'{"__proto__": 1, "constructor": 2}\')', JSON.parse('{"__proto__": 1, "constructor": 2}')],
  ["Object.assign(Object.create(null), { a: 1 })", Object.assign(Object.create(null), { a: 1 })],
  [
    "new Map([[{ a: 1 }, new Set([1, 'x'])], [NaN, -0]])",
    new Map<unknown, unknown>([[{ a: 1 }, new Set([1, "x"])], [NaN, -0]]),
  ],
  ["[new Date(5), new Date(NaN)]", [new Date(5), new Date(NaN)]],
  ["[/a\\/b/dgimsuy, /[\\p{L}]/v]", [/a\/b/dgimsuy, new RegExp("[\\p{L}]", "v")]],
  [
    "Object.assign(new RangeError('m', { cause: { a: 1 } }), { code: 5 })",
    Object.assign(new RangeError("m", { cause: { a: 1 } }), { code: 5 }),
  ],
  ["new AggregateError([new TypeError('t')], 'm')", new AggregateError([new TypeError("t")], "m")],
  ["new URL('http://a/b?c#d')", new URL("http://a/b?c#d")],
  ["new Uint8Array([1, 2, 3, 4]).buffer", buffer],
  [
    "[new Uint8Array(2), new Int16Array([-1]), new Float64Array([1.5]), new BigInt64Array([-5n]), new BigUint64Array(1), new Float32Array(1), new Uint8ClampedArray([300])]",
    [
      new Uint8Array(2),
      new Int16Array([-1]),
      new Float64Array([1.5]),
      new BigInt64Array([-5n]),
      new BigUint64Array(1),
      new Float32Array(1),
      new Uint8ClampedArray([300]),
    ],
  ],
  ["new DataView(new Uint8Array([1, 2, 3, 4]).buffer, 1, 2)", new DataView(buffer, 1, 2)],
  ["new Uint8Array(new Uint8Array([1, 2, 3, 4]).buffer, 1, 2)", new Uint8Array(buffer, 1, 2)],
  ["(() => { const c = { a: 1 }; c.self = [c]; return c })()", cycle],
  ["(() => { const s = { n: 1 }; return [s, s, { s }] })()", [shared, shared, { s: shared }]],
  [
    "Array.from({ length: 3000 }, (_, i) => ({ i, text: 'row ' + i }))",
    Array.from({ length: 3000 }, (_, i) => ({ i, text: `row ${i}` })),
  ],
];

Deno.test("host calls: every covered value round trips both ways", async () => {
  let expected: unknown, arrived: unknown;
  const echo = ({ args }: { readonly args: readonly unknown[] }): unknown => {
    arrived = args[0];
    return expected;
  };
  await using box = await keptTestSandbox({ functions: { echo } });
  for (const [source, value] of VALUES) {
    expected = value;
    const { result } = await box.run(`const back = await echo(${source}); await echo(back); 1`);
    assert.equal(result.error, null, source);
    assert.deepEqual(arrived, value, source);
    await box.run(`await echo(${source})`);
    assert.deepEqual(arrived, value, source);
    assert.equal(Object.getPrototypeOf(Object(arrived)), Object.getPrototypeOf(Object(value)), source);
  }
  assert.deepEqual(await box.sandbox.read("back", { maxBytes: 1 << 20 }), VALUES.at(-1)?.[1]);
  expected = [shared, shared];
  assert.equal(await box.show("const two = await echo(0); two[0] === two[1]"), "true");
  expected = cycle;
  assert.equal(await box.show("const round = await echo(0); round.self[0] === round"), "true");
});

const REFUSED: readonly (readonly [source: string, says: string])[] = [
  ["1, () => 1", "argument 2 is a function; pass its result or its text, String(f)"],
  ["class A {}", "argument 1 is a function; pass its result"],
  ["{ a: [new Proxy({}, {})] }", "argument 1.a[0] is a Proxy; pass a plain copy"],
  ["[Symbol('x')]", "argument 1[0] is a symbol; pass a string"],
  ["new Map([[{ k: Symbol('x') }, 1]])", "argument 1<key 0>.k is a symbol"],
  ["new Map([['k', fetchLater()]])", "argument 1<value 0> is a promise; await it first"],
  ["new Set([() => 1])", "argument 1<item 0> is a function"],
  ["{ 'a: b': new WeakMap() }", 'argument 1["a: b"] is a built-in object (WeakMap); pass what it holds'],
  ["[1].values()", "argument 1 is a built-in object (Array Iterator); pass an array, [...it]"],
  ["(function* () {})()", "argument 1 is a built-in object (Generator); pass an array, [...it]"],
  ["Object(1)", "argument 1 is a boxed primitive; pass the plain value"],
  ["new Error('x', { cause: () => 1 })", "argument 1.cause is a function"],
  [
    "(() => { let d = 0; for (let i = 0; i < 2000; i++) d = [d]; return d })()",
    " is deeper than 1000 levels; pass its parts",
  ],
];

Deno.test("host calls: the error of an argument that cannot be carried names its place and the fix, and no call is made", async () => {
  let calls = 0;
  await using box = await keptTestSandbox({ functions: { echo: () => calls++ } });
  await box.run("async function fetchLater() {}");
  for (const [source, says] of REFUSED) {
    const { result } = await box.run(`await echo(${source})`);
    assert.equal(result.error?.name, "TypeError", source);
    assert.match(result.error?.message ?? "", /^Cannot call echo: argument /, source);
    assert.ok(errorForModel(result.error!).includes(says), `${source}: ${result.error?.message}`);
    assert.equal(result.error?.line, 1);
  }
  assert.equal(calls, 0);
});

Deno.test("host calls: the error of a result that cannot be carried names its function and the place", async () => {
  const give = () => ({ list: [() => 1] });
  await using box = await keptTestSandbox({ functions: { "api.give": give } });
  const { result } = await box.run("await api.give()");
  assert.equal(result.error?.message, "Cannot pass on the result of api.give: value.list[0] is a function");
  assert.equal(await box.show("1"), "1");
});

Deno.test("host calls: accessors and symbols are omitted, and no code of the value runs", async () => {
  let arrived: unknown;
  await using box = await keptTestSandbox({ functions: { echo: ({ args }) => void (arrived = args[0]) } });
  const { result } = await box.run(`
    let ran = 0; const hit = () => { ran++ };
    await echo({ a: 1, get b() { hit() }, [Symbol("s")]: 1, toJSON: undefined, valueOf: 2 });
    class Counted extends Array { static get [Symbol.species]() { hit(); return Array } get [Symbol.iterator]() { hit() } }
    await echo([Counted.from({ length: 2 }, () => 5).length, new Counted()].length);
    ran`);
  assert.equal(result.preview, "0");
  await box.run("await echo({ a: 1, get b() { throw 1 }, [Symbol('s')]: 1 })");
  assert.deepEqual(arrived, { a: 1 });
});
