import assert from "node:assert/strict";
import { testSandbox } from "../helpers/sandbox.ts";
import { escapes } from "./child/escapes.ts";

const FUNCTIONS = { "fs.readFile": () => "text", vars: () => ["a"] };
const NOTE = "belongs to the sandbox: it is as before again";

const OVERWRITTEN: readonly (readonly [block: string, name: string])[] = [
  ["[fs] = [5]; fs", "fs"],
  ["({ a: fs, ...vars } = { a: 2 }); fs", "fs"],
  ["for (vars in { a: 1 }) {}\nvars", "vars"],
  ["fs ||= 1; fs &&= 2; fs", "fs"],
  ["delete globalThis.vars", "vars"],
  ["Object.defineProperty(globalThis, 'vars', { value: 7, configurable: true }); vars", "vars"],
  ["Object.defineProperty(globalThis, 'vars', { get: () => 9, configurable: true }); vars", "vars"],
  [
    "Object.defineProperty(globalThis, 'setTimeout', { value: 1, writable: false, configurable: true }); 1",
    "setTimeout",
  ],
  ["results = 5; results", "results"],
  ["(() => { fs = 3 })(); fs", "fs"],
  ["fs = 1; throw new Error('after')", "fs"],
];

const USABLE =
  "[await fs.readFile('x'), (await vars()).length, typeof print, typeof console.log, Array.isArray(results), typeof setTimeout].join()";

Deno.test("run() restores every name of the sandbox that was overwritten without a declaration, and reports it", async () => {
  await using box = await testSandbox({ functions: FUNCTIONS });
  for (const [block, name] of OVERWRITTEN) {
    const { notes, saved, result } = await box.run(block);
    const note = `${name} ${NOTE} (let ${name} = … makes it your variable)`;
    assert.deepEqual(notes.filter((one) => one === note).length, 1, `${block}: ${notes.join("; ")}`);
    assert.deepEqual([saved, result.defined], [[], []], block);
    assert.equal(await box.show(USABLE), '"text,1,function,function,true,function"', block);
  }
});

Deno.test("run() no block hides a name of the sandbox at the level of the script", async () => {
  await using box = await testSandbox({ functions: FUNCTIONS });
  for (const block of escapes("let fs = { readFile: () => 'forged' }, forged = 1")) {
    await box.run(block);
    assert.equal(await box.show(USABLE), '"text,1,function,function,true,function"', block);
    assert.equal(await box.show("typeof forged"), '"undefined"', block);
  }
});

const DECLARED: readonly (readonly [block: string, name: string])[] = [
  ["const fs = 1; fs", "fs"],
  ["let print = 1; print", "print"],
  ["var vars = 1; vars", "vars"],
  ["function fs() {}\n1", "fs"],
  ["class print {}\n1", "print"],
  ["let { console } = { console: 1 }; console", "console"],
  ["for (var fs of [1, 2]) {}\nfs", "fs"],
  ["enum fs { A }\nfs.A", "fs"],
];

Deno.test("run() a declared name of the sandbox is the block's variable until it is forgotten", async () => {
  for (const [block, name] of DECLARED) {
    await using box = await testSandbox({ functions: FUNCTIONS });
    const { notes, saved, result } = await box.run(block);
    const original = name === "fs" ? "vis.ext.fs" : `vis.${name}`;
    assert.deepEqual(notes, [`${name} is now your variable; the original is ${original}`], block);
    assert.deepEqual([saved.map((image) => image.name), result.defined], [[name], [name]], block);
    assert.equal(await box.show(`${name} === ${original}`), "false", block);
    await box.sandbox.forget([name]);
    assert.equal(await box.show(USABLE), '"text,1,function,function,true,function"', block);
  }
});

Deno.test("run() reports once a property that a block made permanent, and continues", async () => {
  await using box = await testSandbox({ functions: FUNCTIONS });
  const { notes } = await box.run("Object.defineProperty(globalThis, 'vars', { value: 7, configurable: false }); 1");
  assert.deepEqual(notes, ["vars belongs to the sandbox, but the block made it permanent: the original is lost"]);
  assert.deepEqual((await box.run("await fs.readFile('x')")).notes, []);
});

Deno.test("a namespace of host functions cannot be changed", async () => {
  await using box = await testSandbox({ functions: FUNCTIONS });
  assert.equal((await box.run("fs.readFile = () => 'mine'")).result.error?.name, "TypeError");
  assert.equal((await box.run("delete fs.readFile")).result.error?.name, "TypeError");
  assert.equal(await box.show("await fs.readFile('x')"), '"text"');
});

const STRAY: readonly (readonly [block: string, says: string])[] = [
  ["Promise.reject(new Error('s1')); 1", "Error: s1"],
  ["setTimeout(() => { throw new Error('s2') }, 1); 1", "Error: s2"],
  ["setTimeout(() => Promise.reject(new TypeError('s3')), 1); 1", "TypeError: s3"],
  ["(async () => { await vars(); null.x })(); 1", "reading 'x'"],
  ["queueMicrotask(() => { throw new Error('s4') }); 1", "Error: s4"],
  ["Promise.resolve().then(() => 0).then(() => { throw 's5' }); 1", '"s5"'],
  ["vars().then(() => { throw { s6: 1 } }); 1", "{ s6: 1 }"],
  ["const late = new Promise((_, no) => setTimeout(() => no(new Error('s7')), 1)); 1", "Error: s7"],
  ["setTimeout(() => { throw new Proxy({}, { get() { throw 1 } }) }, 1); 1", "[Proxy]"],
];

for (const [block, says] of STRAY) {
  Deno.test(`run() an uncaught rejection is a note and no block's error: ${block}`, async () => {
    await using box = await testSandbox({ functions: FUNCTIONS });
    const reports = [await box.run(block), await box.run("await new Promise((r) => setTimeout(r, 20)); 2")];
    reports.push(await box.run("3"));
    assert.deepEqual(reports.map(({ result }) => [result.outcome, result.preview]), [["value", "1"], ["value", "2"], [
      "value",
      "3",
    ]]);
    const notes = reports.flatMap((report) => report.notes);
    assert.equal(notes.length, 1, notes.join("; "));
    assert.ok(notes[0]?.startsWith("Nothing caught this in background work: ") && notes[0].includes(says), notes[0]);
  });
}

Deno.test("run() a rejection that is caught in the same block is no note", async () => {
  await using box = await testSandbox();
  const { notes } = await box.run("const p = Promise.reject(new Error('x')); await 0; try { await p } catch {}\n1");
  assert.deepEqual(notes, []);
  const flood = await box.run("for (let i = 0; i < 1000; i++) Promise.reject(new Error('n' + i)); 1");
  assert.ok(flood.notes.length <= 21 && flood.notes.at(-1)?.includes("more notes"), `${flood.notes.length}`);
});

Deno.test("results[i] are values themselves, of blocks that had one", async () => {
  await using box = await testSandbox();
  const blocks = [
    "({ a: 1 })",
    "const q = [1, 2]",
    "throw 1",
    "if (1) {}",
    "Promise.resolve('p')",
    "undefined",
    "() => 5",
  ];
  for (const block of blocks) await box.run(block);
  assert.equal(
    await box.show("[results[0].a, results[1] === q, 2 in results, results[4], results[6](), results.length]", {
      iteration: 2,
    }),
    '[ 1, true, true, "p", 5, 7 ]',
  );
  await box.run("results.length = 0; results.push = null; Object.freeze(results)");
  const { result } = await box.run("5");
  assert.deepEqual([result.outcome, result.preview], ["value", "5"]);
  assert.equal(await box.show("results.length", { iteration: 3 }), "3");
});
