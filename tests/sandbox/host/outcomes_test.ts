import assert from "node:assert/strict";
import { decode } from "../../../src/sandbox/codec/codec.ts";
import { keptTestSandbox, testSandbox } from "../../helpers/sandbox.ts";

Deno.test("run() reports a value with its preview, type and bytes", async () => {
  await using box = await keptTestSandbox();
  const { result, value, saved, notes } = await box.run("1 + 1");
  assert.equal(result.outcome, "value");
  assert.equal(result.ok, true);
  assert.equal(result.preview, "2");
  assert.equal(result.type, "number");
  assert.equal(result.error, null);
  assert.deepEqual([saved, notes], [[], []]);
  assert.ok(value);
  assert.equal(decode(value), 2);
});

Deno.test("run() reports none for a block without a value", async () => {
  await using box = await keptTestSandbox();
  const { result, value } = await box.run("function a() {}");
  assert.deepEqual([result.outcome, result.ok, result.preview, value], ["none", true, "", null]);
  assert.deepEqual(result.defined, ["a"]);
});

Deno.test("run() shows the value of a variable that the last statement declares", async () => {
  await using box = await keptTestSandbox();
  assert.equal(await box.show("const a = 3"), "3");
  assert.equal(await box.show("let b = 1, c = [b];"), "[ 1 ]");
  assert.equal((await box.run("const { d } = { d: 1 }")).result.outcome, "none");
});

Deno.test("run() neither shows a declared function nor waits for a declared promise", async () => {
  await using box = await keptTestSandbox();
  assert.equal((await box.run("const f = () => 1")).result.outcome, "none");
  const { result } = await box.run("const p = new Promise(() => {})");
  assert.deepEqual([result.outcome, result.pending], ["none", ["p"]]);
});

Deno.test("run() awaits a promise that is the block's value", async () => {
  await using box = await keptTestSandbox();
  assert.equal(await box.show("Promise.resolve(7)"), "7");
  assert.equal(await box.show("const p = Promise.resolve(8); await p"), "8");
  const { result } = await box.run("Promise.reject(new TypeError('late'))");
  assert.deepEqual([result.outcome, result.error?.name, result.error?.message], ["error", "TypeError", "late"]);
});

Deno.test("run() keeps no bytes of a value over 1 MiB or of one the codec does not cover", async () => {
  await using box = await keptTestSandbox();
  for (const code of ["'x'.repeat(2 ** 21)", "(() => 1)"]) {
    const { result, value } = await box.run(code);
    assert.deepEqual([result.outcome, value], ["value", null], code);
  }
});

Deno.test("run() reports a thrown value with its place in the block", async () => {
  await using box = await keptTestSandbox();
  const { result } = await box.run("const before = 1\nfunction fail() {\n  throw new RangeError('too far')\n}\nfail()");
  assert.equal(result.outcome, "error");
  assert.deepEqual([result.error?.name, result.error?.message, result.error?.line], ["RangeError", "too far", 3]);
  assert.match(result.error?.excerpt ?? "", /throw new RangeError/);
  assert.match(result.error?.stack ?? "", /fail/);
  assert.doesNotMatch(result.error?.stack ?? "", /sandbox|\.js|worker/);
  assert.equal(await box.show("before"), "1");
});

Deno.test("run() survives any thrown value", async () => {
  await using box = await keptTestSandbox();
  const thrown = [
    "throw null",
    "throw undefined",
    "throw 'text'",
    "throw new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 }, getOwnPropertyDescriptor() { throw 3 } })",
    "throw { get message() { for (;;); }, toString() { for (;;); } }",
    "throw Object.assign(new Error('x'), { get name() { return 1 } })",
    "const e = new Error('x'); Object.defineProperty(e, 'stack', { get() { throw 1 } }); throw e",
    "const f = new Error('x'); Object.defineProperty(f, 'message', { get() { throw 1 } }); throw f",
    "const g = new Error('m'.repeat(1e6)); g.stack = 5; throw g",
    "Error.stackTraceLimit = 0; throw new Error('no stack')",
    "throw new Proxy({}, { get() { for (;;); }, set() { for (;;); }, has() { for (;;); } })",
  ];
  for (const code of thrown) {
    const { result } = await box.run(code, { deadlineMs: 1000 });
    assert.equal(result.outcome, "error", code);
    assert.ok((result.error?.message ?? "").length <= 4000);
  }
  assert.equal(await box.show("1"), "1");
});

Deno.test("run() keeps the beginning and the end of a long message", async () => {
  await using box = await keptTestSandbox();
  const { result } = await box.run("throw new Error('BEGIN' + 'm'.repeat(9990) + 'REASON')");
  assert.match(result.error?.message ?? "", /^BEGINm+\n\.\.\. 6101 characters left out \.\.\.\nm+REASON$/);
});

Deno.test("run() refuses code that does not parse, before any of it runs", async () => {
  await using box = await keptTestSandbox();
  const { result } = await box.run("globalThis.ran = 1;\nlet z: = 3");
  assert.deepEqual([result.outcome, result.error?.name, result.ok], ["refused", "SyntaxError", false]);
  assert.equal(await box.show("typeof ran"), '"undefined"');
});

Deno.test("run() strips types", async () => {
  await using box = await keptTestSandbox();
  assert.equal(await box.show("const n: number = 4; interface A { b: string }; n as number"), "4");
});

Deno.test("run() keeps the variables of a block that ran out of time, and names its limit", async () => {
  await using box = await keptTestSandbox();
  await box.run("const kept = { n: 1 }");
  const { result } = await box.run("kept.n = 2; for (;;);", { deadlineMs: 200 });
  assert.deepEqual([result.outcome, result.timedOut, result.ok], ["timeout", true, false]);
  assert.equal(result.error?.message, "Timeout (0.2s)");
  assert.equal(await box.show("kept.n"), "2");
});

Deno.test("run() is cancelled by its signal where the block waits, and the child lives on", async () => {
  const abort = new AbortController();
  await using box = await keptTestSandbox({ functions: { begun: () => abort.abort() } });
  const { result } = await box.run("const before = 5; begun().catch(() => {}); await new Promise(() => {})", {
    signal: abort.signal,
    deadlineMs: 600_000,
  });
  assert.deepEqual([result.outcome, result.ok, result.timedOut], ["cancelled", false, false]);
  assert.equal(await box.show("before"), "5");
});

Deno.test("run() is cancelled by its signal where the block loops: the child is killed in time", async () => {
  const abort = new AbortController();
  await using box = await keptTestSandbox({ functions: { begun: () => abort.abort() }, limits: { graceMs: 100 } });
  const { result } = await box.run("begun(); for (;;);", { signal: abort.signal, deadlineMs: 600_000 });
  assert.equal(result.outcome, "cancelled");
  assert.equal(box.sandbox.ended, true);
});

Deno.test("run() does not start a block whose signal is aborted already", async () => {
  await using box = await keptTestSandbox();
  const { result } = await box.run("await new Promise((done) => setTimeout(done, 10_000))", {
    signal: AbortSignal.abort(),
    deadlineMs: 20_000,
  });
  assert.equal(result.outcome, "cancelled");
  assert.equal(await box.show("1"), "1");
});

Deno.test("run() reports killed, not an exception, on a sandbox that has ended", async () => {
  const box = await testSandbox();
  await box.sandbox.close();
  const { result } = await box.run("1");
  assert.deepEqual([result.outcome, result.error?.name], ["killed", "SandboxEnded"]);
});

Deno.test("run() refuses a second block while one runs", async () => {
  await using box = await keptTestSandbox();
  const first = box.run("await new Promise((done) => setTimeout(done, 30)); 'first'");
  assert.equal((await box.run("2")).result.outcome, "refused");
  assert.equal((await first).result.preview, '"first"');
});

Deno.test("run() takes a deadline of no time at all", async () => {
  await using box = await keptTestSandbox();
  assert.equal((await box.run("for (;;);", { deadlineMs: 0 })).result.outcome, "timeout");
  assert.equal(await box.show("1"), "1");
});

Deno.test("run() separates stdout and stderr, streams them, and counts the bytes that it does not keep", async () => {
  const seen: string[] = [];
  await using box = await keptTestSandbox({
    limits: { outputBytes: 100_000 },
    onOutput: ({ stream, text }) => seen.push(`${stream}:${text.length}`),
  });
  const { result } = await box.run("console.log('out', { a: 1 }); console.error('err'); print('more')");
  assert.equal(result.stdout, "out { a: 1 }\nmore\n");
  assert.equal(result.stderr, "err\n");
  assert.equal(result.dropped, 0);
  const flood = await box.run("for (let i = 0; i < 300; i++) console.log('x'.repeat(999)); 1");
  assert.equal(flood.result.stdout.length, 100_000);
  assert.equal(flood.result.dropped, 200_000);
  assert.ok(seen.length >= 4);
  assert.equal((await box.run("console.log('again')")).result.stdout, "again\n");
});

Deno.test("run() strips control characters from all text of the child", async () => {
  await using box = await keptTestSandbox();
  const escape = "\\u001b[31m\\u0007\\u009b\\u202e\\r";
  const { result } = await box.run(`console.log("${escape}\\t|"); throw new Error("${escape}")`);
  // deno-lint-ignore no-control-regex
  const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;
  assert.doesNotMatch(JSON.stringify(result).replaceAll("\\u", ""), control);
  for (const text of [result.stdout, result.error?.message ?? ""]) {
    assert.doesNotMatch(text, control);
    assert.match(text, /\[31m/);
  }
  assert.match(result.stdout, /\t\|\n$/);
});

Deno.test("results[i] and printed[i] have the results and outputs of the last iteration's blocks", async () => {
  await using box = await keptTestSandbox();
  await box.run("print('a'); console.error('b'); [1, 2]", { iteration: 1, index: 0 });
  await box.run("throw new Error('no')", { iteration: 1, index: 1 });
  assert.equal(await box.show("results.length", { iteration: 1, index: 2 }), "0");
  const seen = "[results[0], results[1], results.length, printed]";
  const rows = '[ [ 1, 2 ], undefined, 3, [ "a\\nb\\n", "", "" ] ]';
  assert.equal(await box.show(seen, { iteration: 2, index: 0 }), rows);
  assert.equal(await box.show(seen, { iteration: 2, index: 1 }), rows);
  assert.equal(await box.show("results[1].length", { iteration: 3, index: 0 }), "4");
  await box.sandbox.endQuery();
  assert.equal(await box.show("results[0]", { iteration: 3, index: 0 }), "4");
});

Deno.test("run() restores an overwritten name, and reports it", async () => {
  await using box = await keptTestSandbox({ functions: { "fs.readFile": () => "text", vars: () => ["a"] } });
  const { result, notes, saved } = await box.run(
    "fs = 1; print = 2; console = null; delete globalThis.vars; fs + print",
  );
  assert.equal(result.preview, "3");
  assert.deepEqual(saved, []);
  for (const name of ["fs", "print", "console", "vars"]) {
    assert.ok(notes.some((note) => note.startsWith(`${name} `)), `${name} in ${notes.join("; ")}`);
  }
  assert.equal(await box.show("print('x'); (await fs.readFile('a')) + (await vars()).length"), '"text1"');
});

Deno.test("stray errors and rejections become notes of a later report", async () => {
  await using box = await keptTestSandbox();
  await box.run(
    "Promise.reject(new Error('stray rejection')); setTimeout(() => { throw new Error('stray error') }, 1); 1",
  );
  const { notes } = await box.run("await new Promise((done) => setTimeout(done, 20))");
  const later = [...notes, ...(await box.run("1")).notes];
  assert.ok(later.some((note) => note.includes("stray error")), later.join("; "));
});

Deno.test("unawaited work continues through the blocks of a query and ends with it", async () => {
  await using box = await keptTestSandbox();
  await box.run("globalThis.ticks = 0; setInterval(() => ticks++, 1); 1");
  await box.run("await new Promise((done) => setTimeout(done, 30))");
  assert.ok(Number(await box.show("ticks")) > 1);
  await box.sandbox.endQuery();
  const after = await box.show("ticks");
  await box.run("await new Promise((done) => setTimeout(done, 20))");
  assert.equal(await box.show("ticks"), after);
});
