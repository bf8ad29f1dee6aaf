import assert from "node:assert/strict";
import type { VariableImage } from "../../src/domain/query/variable.ts";
import { testSandbox } from "../helpers/sandbox.ts";

const PROGRAM = [
  "interface Row { id: number }\nenum Mode { Fast, Slow }\nconst rows: Row[] = [{ id: 1 }, { id: 2 }], byId = new Map(rows.map((r) => [r.id, r]))",
  "function total(list: Row[]): number { return list.reduce((n, r) => n + weigh(r), 0) }\nconst weigh = (r: Row) => r.id * factor\nlet factor = 10",
  "class Basket { items: Row[] = []; add(r: Row) { this.items.push(r); return this } get sum() { return total(this.items) } }\nconst basket = new Basket().add(rows[1])",
  "rows[0].id = 5; basket.add(rows[0]); new Uint8Array([1, 2])",
];
const CHECK =
  "[total(rows), basket.sum, basket instanceof Basket, basket.items[1] === rows[0], byId.get(1) === rows[0], Mode.Slow, weigh.name]";
const EXPECTED = '[ 70, 70, true, true, true, 1, "weigh" ]';

Deno.test("restore() a child continues where another one ended", async () => {
  const stored = new Map<string, VariableImage>();
  {
    await using box = await testSandbox();
    for (const code of PROGRAM) {
      const { result, saved } = await box.run(code);
      assert.equal(result.error, null, code);
      for (const image of saved) stored.set(image.name, image);
    }
    assert.equal(await box.show(CHECK), EXPECTED);
  }
  await using next = await testSandbox();
  const reports = await next.sandbox.restore([...stored.values()]);
  assert.deepEqual(reports.filter(({ how }) => how !== "data" && how !== "eval"), []);
  assert.equal(await next.show(CHECK), EXPECTED);
  const { saved } = await next.run("basket.sum + rows.length");
  assert.deepEqual(saved.map(({ name }) => name), []);
});

Deno.test("restore() views of one buffer still share it, and a lost name is an error without a value", async () => {
  const stored: VariableImage[] = [];
  {
    await using box = await testSandbox();
    const { saved } = await box.run(
      "const bytes = new Uint8Array(8), view = new DataView(bytes.buffer, 4), seen = new WeakMap()\nfunction code() {}",
    );
    stored.push(...saved);
  }
  await using next = await testSandbox();
  await next.sandbox.restore(stored);
  assert.equal(await next.show("view.setUint8(0, 7); [view.buffer === bytes.buffer, bytes[4]]"), "[ true, 7 ]");
  const { result: { error } } = await next.run("seen.get({})");
  const hint = "an earlier block declared it, and it has no value now: declare it again";
  assert.deepEqual([error?.message, error?.advice], ["seen is not defined", ` (${hint})`]);
});

Deno.test("restore() evaluates no code that a block could not have declared", async () => {
  const stored: VariableImage[] = [];
  {
    await using box = await testSandbox();
    const { saved } = await box.run("const f = (n) => n + 1; function g() { return 2 }\nclass A {}\nconst n = 1");
    stored.push(...saved);
  }
  await using next = await testSandbox();
  const evil = "(Array.prototype.map = () => 'replaced', () => 1)";
  const changed = stored.map((image) => image.name === "n" ? image : { ...image, source: evil });
  const reports = await next.sandbox.restore(changed);
  assert.deepEqual(reports.map(({ name, how }) => [name, how]).sort(), [
    ["A", "lost"],
    ["f", "lost"],
    ["g", "lost"],
    ["n", "data"],
  ]);
  for (const { how, reason } of reports) if (how === "lost") assert.match(reason, /not one function or class/);
  assert.equal(
    await next.show("[[1].map((x) => x + n), typeof f, typeof g, typeof A]"),
    '[ [ 2 ], "undefined", "undefined", "undefined" ]',
  );
});

Deno.test("run() variables are kept by a block that breaks the prototypes of its realm", async () => {
  await using box = await testSandbox();
  await box.run("const list = [1], map = new Map([[{ a: 1 }, new Set(['x'])]])");
  const { result, saved } = await box.run(`
    list.push(2); map.set("k", new Date(0));
    const todo = [];
    for (const proto of [Array, Map, Set, String, Date, RegExp, WeakMap].map((one) => one.prototype)) {
      for (const key of Reflect.ownKeys(proto)) {
        if (Object.getOwnPropertyDescriptor(proto, key).configurable) todo.push([proto, key]);
      }
    }
    const broken = { get() { throw new Error("broken") }, configurable: true }, real = Object.defineProperty;
    const define = (...args) => { try { real(...args) } catch { /* not extensible */ } };
    define(Object.prototype, "toJSON", broken);
    define(Array.prototype, "0", { set() { throw new Error("broken") } });
    define(Object.prototype, "get", { value: () => 1 });
    for (let i = 0; i < todo.length; i++) real(todo[i][0], todo[i][1], broken);
    1`);
  assert.equal(result.error, null);
  const kept = saved.filter(({ kind }) => kind === "data").map(({ name }) => name);
  assert.deepEqual(kept, ["list", "map"]);
});

Deno.test("run() works in a realm whose typed arrays a block has broken", async () => {
  await using box = await testSandbox({ functions: { echo: ({ args }) => args[0] } });
  await box.run("const kept = [1]");
  const { result, saved } = await box.run(`
    const views = Object.getPrototypeOf(Uint8Array.prototype), real = Object.defineProperty;
    for (const owner of [views, Uint8Array.prototype, ArrayBuffer.prototype, DataView.prototype, Uint32Array.prototype]) {
      for (const key of Reflect.ownKeys(owner)) {
        if (Object.getOwnPropertyDescriptor(owner, key).configurable) {
          real(owner, key, { get() { throw new Error("broken") }, configurable: true });
        }
      }
    }
    kept.push(2); 1`);
  assert.deepEqual([result.outcome, result.preview, saved.map(({ name }) => name)], ["value", "1", [
    "kept",
    "views",
    "real",
  ]]);
  assert.equal(await box.show("const long = await echo('x'.repeat(100_000)); print(long); long.length"), "100000");
  assert.equal(
    await box.show("(await Promise.all([1, 2, 3].map((n) => echo([n, 'y'.repeat(n * 9000)])))).length"),
    "3",
  );
  assert.equal(await box.show("kept"), "[ 1, 2 ]");
});

Deno.test("render() resolves variables and templates in the child", async () => {
  await using box = await testSandbox();
  await box.run("const n = 3, hits = [{ path: 'a' }, { path: 'b' }], f = () => 1");
  const show = (template: string) => box.sandbox.render(template, { deadlineMs: 2000 });
  assert.deepEqual(await show("n"), { ok: true, from: "variable", text: "3" });
  assert.deepEqual(await show("{{n}}: {{#hits}}{{path}} {{/hits}}"), { ok: true, from: "template", text: "3: a b " });
  assert.deepEqual(await show("`{{ title }}`"), { ok: true, from: "literal", text: "`{{ title }}`" });
  for (const [template, name] of [["{{ title }}", "title"], ["{{n}} {{m}}", "m"]] as const) {
    const refused = await show(template);
    assert.match(refused.ok ? "" : refused.reason, new RegExp(`\\b${name}\\b`), template);
  }
});
