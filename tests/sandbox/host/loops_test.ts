import assert from "node:assert/strict";
import { testSandbox } from "../../helpers/sandbox.ts";

const DEADLINE_MS = 150;

/** A deadline must end each of these endless loops without losing the variables. */
const LOOPS: Readonly<Record<string, string>> = {
  "sync": "for (;;);",
  "sync after await": "await 1; for (;;);",
  "await null": "for (;;) await null",
  "microtasks, a value given": "(function f() { Promise.resolve().then(f) })()",
  "microtasks, awaited": "await new Promise(() => { (function f() { Promise.resolve().then(f) })() })",
  "queueMicrotask": "(function f() { queueMicrotask(f) })(); await new Promise(() => {})",
  "regular expression": "/(a+)+$/.test('a'.repeat(50) + 'b')",
  "regular expression after await": "await 1; /(a+)+$/.test('a'.repeat(50) + 'b')",
  "timer callback": "setTimeout(() => { for (;;); }, 1); await new Promise(() => {})",
  "interval and await": "setInterval(() => {}, 1); await new Promise(() => {})",
  "timers without end": "for (;;) await new Promise((done) => setTimeout(done, 1))",
  "thenable": "await { then() { for (;;); } }",
  "after a host call": "await fs.readFile('a'); for (;;);",
  "host calls without end": "for (;;) await fs.readFile('a')",
  "catching every refusal": "for (;;) { try { await fs.readFile('a') } catch { /* again */ } }",
  "a host call that never answers": "await fs.never()",
  "catching the abort": "try { await fs.never() } catch { for (;;); }",
  "generator": "function* g() { for (;;) yield 1 } for (const x of g()) x",
  "async iteration": "async function* g() { for (;;) yield 1 } for await (const x of g()) x",
  "getter": "({ get a() { for (;;); } }).a",
  "sort": "[3, 2, 1].sort(() => { for (;;); })",
  "finally": "try { throw 1 } finally { for (;;); }",
  "digest": "for (;;) await crypto.subtle.digest('SHA-1', new Uint8Array(1))",
  "class static block": "class A { static { for (;;); } }",
};

Deno.test("run() ends every loop at its deadline and keeps the variables", async (t) => {
  await using box = await testSandbox({
    functions: { "fs.readFile": () => "text", "fs.never": () => new Promise(() => {}) },
    limits: { graceMs: 30_000 }, // A loop that cannot be stopped is killed after that.
  });
  await box.run("globalThis.kept = 0");
  let rounds = 0;
  for (const [name, code] of Object.entries(LOOPS)) {
    await t.step(name, async () => {
      const { result } = await box.run(code, { deadlineMs: DEADLINE_MS });
      assert.equal(result.outcome, "timeout", `${name}: ${result.error?.message}`);
      assert.equal(box.sandbox.ended, false, "the child was killed");
      assert.equal(await box.show("++kept"), String(++rounds));
    });
  }
});

Deno.test("open work of a timed-out block does not disturb run()", async () => {
  await using box = await testSandbox();
  await box.run("globalThis.n = 0; for (;;) { n++; await new Promise((done) => setTimeout(done, 1)) }", {
    deadlineMs: 50,
  });
  const before = Number(await box.show("n"));
  await box.run("await new Promise((done) => setTimeout(done, 30))");
  assert.ok(Number(await box.show("n")) <= before + 1);
});

Deno.test("background work that never pauses is stopped and noted", async () => {
  await using box = await testSandbox();
  const { result } = await box.run("setTimeout(() => { globalThis.began = 1; for (;;); }, 5); 1");
  assert.equal(result.outcome, "value");
  await new Promise((done) => setTimeout(done, 40));
  const next = await box.run("began", { deadlineMs: 3000 });
  assert.equal(next.result.preview, "1");
  assert.ok(next.notes.some((note) => note.includes("Vis stopped background work")), next.notes.join());
});

Deno.test("deadlines that come between two short turns end the block and never the child", async () => {
  await using box = await testSandbox({ functions: { "fs.readFile": () => "text" }, limits: { graceMs: 30_000 } });
  const codes = [
    "for (;;) await crypto.subtle.digest('SHA-1', new Uint8Array(1))",
    "for (;;) await fs.readFile('a')",
    "for (;;) await new Promise((done) => setTimeout(done, 0))",
    "for (;;) { setTimeout(() => {}, 0); await fs.readFile('a') }",
  ];
  for (let i = 0; i < 40; i++) {
    const { result } = await box.run(codes[i % codes.length] ?? "", { deadlineMs: 5 + i % 7 });
    assert.equal(result.outcome, "timeout", result.error?.message);
  }
  assert.equal(await box.show("1"), "1");
});
