import assert from "node:assert/strict";
import { openSandbox } from "../../../src/sandbox/host/open_sandbox.ts";
import { realmModuleReader } from "../../../src/sandbox/modules/modules.ts";
import { type FailedModule, NO_GRANTS } from "../../../src/sandbox/sandbox.ts";
import { LIMITS, testSandbox, type TestSandboxOptions } from "../../helpers/sandbox.ts";

const read = realmModuleReader();

async function withModules(sources: Readonly<Record<string, string>>, options: TestSandboxOptions = {}) {
  const failed: FailedModule[] = [];
  const modules = Object.fromEntries(Object.entries(sources).map(([name, text]) => [name, read(text, "m.ts")]));
  const box = await testSandbox({ ...options, modules, onModuleFailed: (one) => failed.push(one) });
  return { box, failed };
}

const STATS = `export function mean(all: readonly number[]): number {
  return all.reduce((sum, one) => sum + one, 0) / all.length;
}
export const version = "1";`;

Deno.test("modules: a block uses them by their bare names, one module may use another", async () => {
  const { box, failed } = await withModules({
    stats: STATS,
    Money: `export default class Money {
      constructor(readonly cents: number) {}
      static mean(all: readonly Money[]) { return new Money(stats.mean(all.map(({ cents }) => cents))); }
    }
    declare const stats: { mean(all: readonly number[]): number };`,
  });
  await using _closed = box;
  assert.equal(await box.show("stats.mean([1, 2, 6]) + stats.version"), '"31"');
  assert.equal(await box.show("Money.mean([new Money(100), new Money(300)]).cents"), "200");
  assert.equal(await box.show("typeof mean"), '"undefined"');
  assert.deepEqual(failed, []);
});

Deno.test("modules: a block that declares the name has a variable of its own", async () => {
  const { box } = await withModules({ stats: STATS });
  await using _closed = box;
  const { saved, result } = await box.run("var stats = 1");
  assert.deepEqual([saved.map(({ name }) => name), result.ok], [["stats"], true]);
  assert.equal(await box.show("stats"), "1");
});

Deno.test("modules: a member that a block deletes is restored after it, and members cannot be assigned", async () => {
  const { box } = await withModules({ stats: STATS });
  await using _closed = box;
  assert.equal((await box.run("stats.mean = null")).result.ok, false);
  assert.equal(await box.show("delete globalThis.stats; typeof stats"), '"undefined"');
  assert.equal(await box.show("typeof stats.mean"), '"function"');
});

Deno.test("modules: a module that throws or loops is reported, and the others and the child remain", async () => {
  const { box, failed } = await withModules({
    bad: "throw new RangeError('at load'); export const a = 1;",
    odd: "throw { get message() { throw 1 } }; export const a = 1;",
    loop: "while (true) {} export const a = 1;",
    later: "const spin = () => void Promise.resolve().then(spin); spin(); export const a = 1;",
    stats: STATS,
  });
  await using _closed = box;
  assert.deepEqual(failed.map(({ name, ended }) => `${name} ${ended}`).slice(0, 3), [
    "bad false",
    "odd false",
    "loop false",
  ]);
  assert.equal(failed[0]?.reason, "RangeError: at load");
  assert.match(failed[2]?.reason ?? "", /longer than 2 s/);
  assert.equal(await box.show("[typeof bad, typeof loop, typeof stats.mean].join()"), '"undefined,undefined,function"');
  assert.equal(await box.show("const bad = 5; bad"), "5");
});

Deno.test("modules: a module that takes all memory ends the child, and is named", async () => {
  const failed: FailedModule[] = [];
  const bomb = read("const all = []; for (;;) all.push(new Array(8e6).fill(1.5)); export { all };", "m.ts");
  await assert.rejects(
    openSandbox({
      functions: [],
      constants: {},
      grants: NO_GRANTS,
      limits: { ...LIMITS, memoryBytes: 96 << 20 },
      onCall: () => Promise.resolve(),
      modules: { stats: read(STATS, "m.ts"), bomb, after: read("export const a = 1;", "m.ts") },
      onModuleFailed: (one) => failed.push(one),
    }),
    { name: "SandboxEnded" },
  );
  assert.deepEqual(failed.map(({ name, ended }) => [name, ended]), [["bomb", true]]);
});

Deno.test("modules: they are evaluated without host calls, and only with the globals of a block", async () => {
  let called = 0;
  const functions = { "fs.readFile": () => ++called };
  const reach = `const found = {};
    const attempt = (name, work) => { try { const it = work(); found[name] = it === undefined ? "undefined" : String(it).slice(0, 80); }
      catch (error) { found[name] = "refused: " + String(error.message).slice(0, 80); } };
    attempt("Deno", () => typeof Deno);
    attempt("fetch", () => typeof fetch);
    attempt("process", () => typeof process);
    attempt("require", () => typeof require);
    attempt("module", () => typeof module);
    attempt("Worker", () => typeof Worker);
    attempt("WebAssembly", () => typeof WebAssembly);
    attempt("eval", () => (0, eval)("1 + 1"));
    attempt("Function", () => Function("return globalThis.Deno")());
    attempt("constructor", () => (async () => {}).constructor("return 1")());
    attempt("this", () => this);
    attempt("caller", () => (function f() { return f.caller; })());
    attempt("stack", () => { Error.prepareStackTrace = (_e, sites) => sites[0].getThis(); return typeof new Error().stack; });
    attempt("bridge", () => typeof globalThis[Symbol.for("sandbox.worker")]);
    let call = null;
    attempt("call", () => { call = fs.readFile("/etc/passwd"); call.catch(() => {}); return "promise"; });
    export { found, call };`;
  const { box, failed } = await withModules({ attack: reach }, { functions });
  await using _closed = box;
  assert.deepEqual(failed, []);
  const { value } = await box.run("JSON.stringify(attack.found)");
  assert.ok(value);
  const { decode } = await import("../../../src/sandbox/codec/codec.ts");
  const found = JSON.parse(String(decode(value))) as Record<string, string>;
  for (const name of ["Deno", "fetch", "process", "require", "module", "Worker", "WebAssembly", "this", "bridge"]) {
    assert.equal(found[name], "undefined", name);
  }
  for (const name of ["eval", "Function", "constructor", "caller"]) assert.match(found[name] ?? "", /^refused/, name);
  assert.equal(found["stack"]?.includes("object"), false);
  assert.equal(
    await box.show("attack.call ? await attack.call.then(() => 'reached', () => 'refused') : 'refused'"),
    '"refused"',
  );
  assert.equal(called, 0);
  assert.equal(await box.show("await fs.readFile('x')"), "1"); // Host calls are restored afterwards.
});
