import assert from "node:assert/strict";
import fc from "fast-check";
import { BlockRunner } from "../block_runner.ts";
import { runs } from "../../../helpers/long_part.ts";

async function afterRestart(expression: string, ...blocks: readonly string[]): Promise<unknown> {
  using runner = new BlockRunner();
  for (const block of blocks) assert.equal((await runner.run(block)).error, null, block);
  runner.restart();
  return await runner.value(expression);
}

Deno.test("Variables keep hidden and read-only properties and frozen, sealed and closed objects over a restart", async () => {
  const kept: readonly (readonly [block: string, expression: string, expected: unknown])[] = [
    ["const o = Object.freeze({ a: 1 })", "[Object.isFrozen(o), o.a]", [true, 1]],
    ["const o = Object.seal({ a: 1 })", "o.a = 2; [Object.isSealed(o), Object.isFrozen(o), o.a]", [true, false, 2]],
    ["const o = Object.preventExtensions({ a: 1 })", "[Object.isExtensible(o), Object.isSealed(o)]", [false, false]],
    ["const list = Object.freeze([1, [2]])", "[Object.isFrozen(list), Object.isFrozen(list[1])]", [true, false]],
    ["const o = Object.defineProperty({}, 'x', { value: [7] })", "[o.x, Object.keys(o)]", [[7], []]],
    [
      "const o = Object.defineProperty({ b: 1 }, 'x', { value: 7, enumerable: true })",
      "(() => { try { o.x = 8 } catch { return [o.x, Object.keys(o).sort()] } })()",
      [7, ["b", "x"]],
    ],
    ["const strings = ((s) => s)`a\\n${1}b`", "[strings.raw, Object.isFrozen(strings)]", [["a\\n", "b"], true]],
    [
      "class P { constructor() { this.x = 1; Object.defineProperty(this, 'id', { value: 3 }); Object.freeze(this) } }\nconst p = new P()",
      "[p instanceof P, p.id, Object.isFrozen(p)]",
      [true, 3, true],
    ],
    ["const m = Object.freeze(new Map([[1, 2]]))", "[Object.isFrozen(m), m.get(1)]", [true, 2]],
    ["const e = Object.freeze(new RangeError('x'))", "[Object.isFrozen(e), e.message, e.name]", [
      true,
      "x",
      "RangeError",
    ]],
    ["const a = Object.freeze({}), b = { a }", "[b.a === a, Object.isFrozen(a)]", [true, true]],
    ["const r = /x/g; r.lastIndex = 2", "[r.lastIndex, Object.keys(r)]", [2, []]],
    ["const bytes = Object.assign(new Uint8Array(2), { note: 'n' })", "bytes.note", "n"],
  ];
  for (const [block, expression, expected] of kept) {
    assert.deepEqual(await afterRestart(expression, block), expected, block);
  }
});

Deno.test("Variables name the parts that a restart does not keep, and the index shows the value without them", async () => {
  const lost: readonly (readonly [block: string, name: string, reason: string, inline: string | null])[] = [
    ["const o = { a: 1, get total() { return 2 } }", "o", "getter o.total", "{ a: 1 }"],
    ["const o = { a: { set b(v) {} } }", "o", "getter o.a.b", "{ a: {} }"],
    ["const o = { [Symbol('id')]: 1, b: 2 }", "o", "symbol key o[Symbol(id)]", "{ b: 2 }"],
    ["const m = new Map([[1, { get x() { return 1 } }]])", "m", "getter m<value 0>.x", "Map(1) { 1 => {} }"],
    [
      "const list = [1]; Object.defineProperty(list, 0, { get() { return 1 } })",
      "list",
      "getter list[0]",
      "[ <1 empty item> ]",
    ],
    [
      "const list = [1]; Object.defineProperty(list, 0, { writable: false })",
      "list",
      "read-only item list[0]",
      "[ 1 ]",
    ],
    ["const buffer = new ArrayBuffer(2, { maxByteLength: 8 })", "buffer", "resizable buffer buffer", null],
    ["const e = Object.assign(new Error('x'), { [Symbol.for('s')]: 1 })", "e", "symbol key e[Symbol(s)]", null],
    ["function f() {}\nf.help = () => 1; f.n = 1", "f", "function f.help", null],
    ["function f() {}\nf.when = { at: Promise.resolve(1) }", "f", "value f.when", null],
    ["const f = () => 1\nObject.freeze(f)", "f", "frozen state of f", null],
    [
      "const o = { get a() { return 1 }, get b() { return 1 }, get c() { return 1 }, get d() { return 1 }, get e() { return 1 } }",
      "o",
      "getter o.a, getter o.b, getter o.c and 2 more",
      "{}",
    ],
  ];
  for (const [block, name, reason, inline] of lost) {
    using runner = new BlockRunner();
    assert.equal((await runner.run(block)).error, null, block);
    const image = runner.stored.get(name);
    assert.equal(image?.reason, reason, block);
    assert.notEqual(image?.kind, "lost", block);
    if (inline !== null) assert.equal(image?.summary.inline, inline, block);
    runner.restart();
    assert.deepEqual((await runner.run(`typeof ${name}; Object.keys(${name})`)).end.saved, [], `${block}: no version`);
  }
});

Deno.test("Variables a getter that is added later to a stored object is named too", async () => {
  using runner = new BlockRunner();
  await runner.run("const o = { a: 1 }");
  assert.equal(runner.stored.get("o")?.reason, "");
  await runner.run("Object.defineProperty(o, 'b', { get: () => 1 })");
  assert.equal(runner.stored.get("o")?.reason, "getter o.b");
});

Deno.test("Variables two names of one function or class stay one over a restart, until one of them changes", async () => {
  const same = "function f(n) { return n + 1 }\nconst g = f, h = f; f.cache = { n: 1 }";
  assert.deepEqual(await afterRestart("f.cache.n = 2; [f === g, g === h, g.cache.n, g(1)]", same), [true, true, 2, 2]);
  assert.deepEqual(
    await afterRestart("[A === B, new B() instanceof A, b instanceof B]", "class A {}\nconst B = A, b = new B()"),
    [true, true, true],
  );
  assert.deepEqual(await afterRestart("[f(), g(), f === g]", "let f = () => 1; const g = f", "f = () => 2"), [
    2,
    1,
    false,
  ]);
  assert.deepEqual(await afterRestart("[f(), g(), f === g]", "let f = () => 1; const g = f", "f = () => 2", "f = g"), [
    1,
    1,
    true,
  ]);
  using runner = new BlockRunner();
  await runner.run("let f = () => 1; const g = f");
  assert.deepEqual((await runner.run("f = () => 2")).end.touched, ["f"], "g has not changed");
  await runner.run("f = g");
  const images = [...runner.stored.values()].filter(({ name }) => name === "g");
  runner.restart(images);
  assert.equal(await runner.value("g()"), 1, "alone it has its own source");
});

Deno.test("Variables no block saves a version of a value that it only reads", async () => {
  using runner = new BlockRunner();
  await runner.run("const rows = Array.from({ length: 90_000 }, (_, i) => i), other = { a: 1 }");
  await runner.run("const large = Array.from({ length: 20_000 }, (_, i) => ({ i }))");
  const read = "[rows.length, other.a, typeof large, typeof globalThis]";
  for (let time = 0; time < 3; time++) assert.deepEqual((await runner.run(read)).end.saved, []);
  await runner.run("large.length = 1; other.b = 2");
  for (let time = 0; time < 3; time++) assert.deepEqual((await runner.run(read)).end.saved, []);
  await runner.run("other.rows = rows");
  for (let time = 0; time < 3; time++) assert.deepEqual((await runner.run(read)).end.saved, []);
  runner.restart();
  assert.equal(await runner.value("other.rows === rows"), true);
  assert.deepEqual((await runner.run(read)).end.saved, []);
});

/** Returns as text everything that distinguishes two values. */
const DESCRIBE = `(() => {
  const seen = new Map();
  const text = (value) => {
    if (typeof value !== "object" || value === null) return Object.is(value, -0) ? "-0" : String(value);
    if (seen.has(value)) return "#" + seen.get(value);
    seen.set(value, seen.size);
    const state = Object.isFrozen(value) ? 3 : Object.isSealed(value) ? 2 : Object.isExtensible(value) ? 0 : 1;
    const parts = Reflect.ownKeys(value).sort().map((key) => {
      const d = Object.getOwnPropertyDescriptor(value, key);
      return key + (d.writable ? "w" : "") + (d.enumerable ? "e" : "") + (d.configurable ? "c" : "") + text(d.value);
    });
    return (Array.isArray(value) ? "A" : Object.getPrototypeOf(value) === null ? "N" : "O") + state + "{" + parts.join() + "}";
  };
  return text(value);
})()`;

interface Part {
  readonly list: boolean;
  readonly state: string;
  readonly properties: readonly (readonly [key: string, value: string, attributes: number])[];
}

function partCode({ list, state, properties }: Part, at: number): string {
  const defined = properties.map(([key, value, attributes]) =>
    `Object.defineProperty(part${at}, ${JSON.stringify(key)}, { value: ${value}, writable: ${(attributes & 1) > 0}, ` +
    `enumerable: ${(attributes & 2) > 0}, configurable: ${(attributes & 4) > 0} });`
  );
  return `const part${at} = ${list ? "[1, , 'x']" : "{ y: -0 }"};${defined.join("")}${
    state.replace("X", `part${at}`)
  };`;
}

Deno.test("Variables any object of data is the same after a restart, or its loss is named", async () => {
  const part = fc.record({
    list: fc.boolean(),
    state: fc.constantFrom("0", "Object.freeze(X)", "Object.seal(X)", "Object.preventExtensions(X)"),
    properties: fc.uniqueArray(
      fc.tuple(
        fc.constantFrom("a", "b", "x y", "raw", "__proto__", "constructor", "toString", "then"),
        fc.constantFrom("1", "null", "'t'", "part0", "undefined", "[part0]"),
        fc.integer({ min: 0, max: 7 }),
      ),
      { selector: ([key]) => key, maxLength: 4 },
    ),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 4 }), async (parts) => {
      using runner = new BlockRunner();
      const all = parts.map((one, at) => partCode(at === 0 ? { ...one, properties: [] } : one, at)).join("\n");
      await runner.value(`const value = (() => {\n${all}\nreturn [${parts.map((_, at) => `part${at}`).join()}];\n})()`);
      const before = await runner.value(DESCRIBE);
      assert.equal(runner.stored.get("value")?.reason, "");
      runner.restart();
      assert.equal(await runner.value(DESCRIBE), before);
      assert.deepEqual((await runner.run("value.length")).end.saved, []);
    }),
    { numRuns: runs(50, 200) },
  );
});
