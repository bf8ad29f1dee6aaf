import assert from "node:assert/strict";
import rlm from "../../extensions/rlm/mod.ts";
import { errorForModel } from "../../src/domain/query/host_call.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";

/** Returns the error or value of each block of one reply, with its output before it. */
async function play(...blocks: string[]): Promise<string[]> {
  await using engine = await startEngine([replyJson(blocks), replyJson([], { final: "It is finished." })], {
    extensions: [rlm],
  });
  await engine.ask("x");
  return engine.events.flatMap((event) => {
    if (event.type !== "block_finished") return [];
    const { error, preview, stdout } = event.result;
    return [stdout + (error ? `${error.name}: ${errorForModel(error)}` : preview)];
  });
}

Deno.test("a declaration gives a name its value, whatever it had before", async () => {
  const shown = await play(
    "const k = 1; k = 2",
    "const k = k + 1",
    "for (const x of [1, 2]) k += x; k",
    "const list = [1]; { let list = 2; list = 3 } list.push(2); list.length",
    "new D(); class D {}",
    "const f = () => late; const late = 7; f()",
    "const o = { a: 1 }; const { a = 1, b = a } = o; [a, b].join()",
    "const o = { ...o, a: 2 }; o.a",
    "const free = 1; const add = (free) => { free = 5; return free }; add(2)",
  );
  assert.deepEqual(shown, ["2", "3", "6", "2", "TypeError: D is not a constructor", "7", '"1,1"', "2", "5"]);
});

Deno.test("the error of an assignment to an undeclared name shows the declaration", async () => {
  const [assigned, loop, wrong] = await play("total = 5", "for (i = 0; i < 3; i++) {}", "await vrs()");
  const [called] = await play("(() => { leaked = [1, 2] })()");
  assert.equal(called, "ReferenceError: leaked is not defined (declare it: let leaked = …)");
  assert.equal(assigned, "ReferenceError: total is not defined (declare it: let total = 5)");
  assert.equal(loop, "ReferenceError: i is not defined (declare it: for (let i = …)");
  assert.match(wrong!, /did you mean vars/);
});

Deno.test("own properties of a thrown error reach the model", async () => {
  const [shown] = await play("throw Object.assign(new Error('bad'), { code: 'E1', data: { a: 1 }, cause: 'c' })");
  assert.match(shown!, /^Error: bad \{ code: "E1", data: \{ a: 1 \} \} \[cause: "c"\]$/);
});

Deno.test("a forgotten await is named", async () => {
  const shown = await play(
    "async function list() { return [1] }\nlist().map((x) => x)",
    "for (const one of list()) {}",
    "const all = list(); all.map((x) => x)",
    "for (const p of rlm.chunk('text')) {}",
    "/a(b)/.exec(rlm.chunk('ab'))[1]",
    "(await list()).missing.length",
  );
  for (const text of [shown[0], shown[1]]) assert.match(text!, /list\(…\) gives a promise: \(await list\(…\)\)/);
  assert.match(shown[2]!, /all is a promise: all = await list\(…\)/);
  assert.match(shown[3]!, /rlm\.chunk\(…\) gives a promise/);
  assert.match(shown[4]!, /reading '1'.*\(rlm\.chunk\(…\) gives a promise: await rlm\.chunk\(…\)\)/);
  assert.doesNotMatch(shown[5]!, /promise/);
});

Deno.test("prototypes of the language cannot be extended, and the error explains it", async () => {
  const [shown] = await play("Array.prototype.last = function () { return this.at(-1) }");
  assert.match(shown!, /Array\.prototype cannot be extended in the sandbox: declare a function, such as last\(value\)/);
});

Deno.test("the console formats, and a promise that nothing can settle is shown as pending", async () => {
  const begun = performance.now();
  const shown = await play("console.log('%s is %d%%', 'a', 5, 'b'); print('%s', 1); 0", "new Promise(() => {})");
  assert.equal(shown[0], "a is 5% b\n%s 1\n0");
  assert.match(shown[1]!, /pending/i);
  assert.ok(performance.now() - begun < 60_000);
});

Deno.test("the errors of require, a continued line and a deadline name a remedy", async () => {
  const shown = await play(
    "require('fs')",
    "throw new Error('x')\n  ({ a: 1 })",
    "typeof SharedArrayBuffer + typeof Atomics",
  );
  assert.match(shown[0]!, /there is no require/);
  assert.match(shown[1]!, /continues this one/);
  assert.equal(shown[2], '"undefinedundefined"');
});

Deno.test("enums of text and functions declared twice are as in the language", async () => {
  const shown = await play(
    "enum E { A = `t`, B = `${A}u` + 1, C = 4 }\nObject.keys(E).join()",
    "function f() { return 1 }\nconst got = f()\nfunction f() { return 2 }\n`${got} ${f()} ${f}`",
  );
  assert.deepEqual(shown, ['"4,A,B,C"', '"2 2 function f() { return 2 }"']);
});

Deno.test("a name that the engine forbids is refused with its place, and the sandbox continues", async () => {
  const shown = await play("const kept = 1", "1;\nvar \\u088F = 1", "\\u088F", "kept");
  assert.match(shown[1]!, /^Refused: Cannot use the name \S+ \(line 2:5\)/);
  assert.match(shown[2]!, /^Refused: Cannot use the name \S+ \(line 1:1\)/);
  assert.equal(shown[3], "1");
});

Deno.test("line feeds inside strings are escaped, and positions refer to the written text", async () => {
  await using engine = await startEngine([
    replyJson(["const a = \"x\ny\", b = 'p\r\n\\'q';\nnope(a)", "a + b", 'const c: string = "one\n";\nc.length']),
    replyJson(["const d = \"open;\nconst e = 'closed'"]),
    replyJson([], { final: "It is finished." }),
  ]);
  await engine.ask("x");
  const results = engine.events.flatMap((event) => event.type === "block_finished" ? [event.result] : []);
  assert.deepEqual([results[0]?.error?.line, results[0]?.error?.column], [4, 1]);
  assert.equal(results[0]?.repaired, "escaped the line feeds inside a string");
  assert.match(results[1]?.preview ?? "", /x\ny?/);
  assert.equal(results[2]?.preview, "4");
  assert.equal(results[3]?.error?.name, "SyntaxError");
});

Deno.test("a shown promise, and a block that takes too long, come with code to write instead", async () => {
  const wait = "new Promise((done) => setTimeout(() => done(1), 20))";
  await using engine = await startEngine([
    replyJson([`print(${wait})`, `[1, 2].map(() => ${wait})`, `await ${wait}`, "'text'"]),
    JSON.stringify({ thinking: "Loop", code: [{ expr: "for (;;);", timeMs: 1 }] }),
    JSON.stringify({ thinking: "Loop", code: [{ expr: "for (;;);", timeMs: 9_000 }] }),
    replyJson([], { final: "It is finished." }),
  ], { settings: { deadlines: { minMs: 200, maxMs: 300, defaultMs: 300 } } });
  await engine.ask("x");
  assert.deepEqual(engine.context(1).match(/Block \d shows a promise, not its result: await it/g), [
    "Block 1 shows a promise, not its result: await it",
    "Block 2 shows a promise, not its result: await it",
  ]);
  assert.match(
    engine.context(2),
    /TIMEOUT Timeout \(0\.2s\): a larger "timeMs" of the block raises this limit; its changes are kept/,
  );
  assert.match(
    engine.context(3),
    /TIMEOUT Timeout \(0\.3s\): no block has more time \(sandbox\.timeoutMaxMs\), so split its work; its changes are kept/,
  );
});

Deno.test("the error for a missing name suggests an existing one", async () => {
  const shown = await play(
    "await rlm.summarise('x')",
    "await rlm('x')",
    "const all = await fetch('http://a')",
    "await all.json()",
    "process.env.HOME",
    "const Text = new TextBlob('a'), textBlob = 1",
    "await ask('Which?')",
    "const path = undefined; path.join('a')",
  );
  assert.match(
    shown[0]!,
    /^TypeError: rlm\.summarise is not a function \(rlm has ask, mapChunks, reduceChunks, [a-zA-Z, ]+\)$/,
  );
  assert.match(shown[1]!, /^TypeError: rlm is not a function \(rlm has ask, mapChunks, reduceChunks, [a-zA-Z, ]+\)$/);
  assert.deepEqual(shown.slice(2), [
    "TypeError: fetch is not a function (there is no fetch: all names for blocks are in scope already, such as rlm)",
    "ReferenceError: all is not defined (an earlier block declared it, and it has no value now: declare it again)",
    "TypeError: Cannot read properties of undefined (reading 'env') " +
    "(there is no process: all names for blocks are in scope already, such as rlm)",
    "ReferenceError: TextBlob is not defined",
    "ReferenceError: ask is not defined (to ask the user, end with the question as the final answer)",
    "TypeError: Cannot read properties of undefined (reading 'join')",
  ]);
});

Deno.test("a value that is looked at is shown even if it is undefined", async () => {
  const shown = await play(
    "const row = { code: 3 }; row.exitCode",
    "new Map().get('x')",
    "print('x')",
    "[1].forEach((x) => print(x))",
    "for (const x of [1]) x",
    "const none = undefined",
    "await answer('It is finished.')",
  );
  assert.deepEqual(shown, ["undefined", "undefined", "x\n", "1\n", "", "", ""]);
});

Deno.test("the index explains why a value is not kept, and names only a block that made it", async () => {
  await using engine = await startEngine([
    replyJson(["const s = Symbol('x')", "const p = Promise.resolve(1)", "const slow = vars()", "await slow"]),
    replyJson([], { final: "It is finished." }),
  ]);
  await engine.ask("x");
  const [, index = ""] = /<var_index>\n([^]*)\n<\/var_index>/.exec(engine.context(1)) ?? [];
  assert.deepEqual(index.split("\n"), [
    "const slow: Promise  // v2 lost: Vis cannot keep a promise (await it and keep its result)",
    "const p: Promise  // lost: Vis cannot keep a promise (await it and keep its result); made by const p = Promise.resolve(1)",
    "const s: symbol  // lost: Vis cannot keep a symbol; made by const s = Symbol('x')",
  ]);
});
