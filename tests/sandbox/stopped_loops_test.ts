/** Loops of the top level, stopped by the deadline of their block. */
import assert from "node:assert/strict";
import { decode } from "../../src/sandbox/codec/codec.ts";
import { testSandbox } from "../helpers/sandbox.ts";

const STOPPED: readonly (readonly [source: string, check: string])[] = [
  ["let n = 0, half = 0; for (;;) { n++; half += 0.5 }", "n > 1000 && half === n / 2"],
  ["let n = 0, half = 0; for (;; n++) half += 0.5", "n > 1000 && half === n / 2"],
  ["var half = 0; for (var n = 0; true; n++) { half += 0.5; if (n % 3) continue }", "n > 1000 && half === n / 2"],
  ["let n = 0, half = 0; while (true) { half = n / 2; n++ }", "n > 1000 && half === (n - 1) / 2"],
  ["let n = 0, text = ''; while (true) { n++; text = `${n}` }", "n > 1000 && text === `${n}`"],
  ["let n = 0, big = 0n; while (true) { n++; big++ }", "n > 1000 && big === BigInt(n)"],
  ["let n = 0, u; while (true) { n++; if (n > 999) u = n }", "n > 1000 && Math.abs(u - n) < 2"],
  [
    "let n = 0, half = 0; const spin = (ms) => { const end = performance.now() + ms; while (performance.now() < end); }\n" +
    "for (;; n++) { half += 0.5; spin(10); half += 0.5 }",
    "n > 0 && half === n + 0.5",
  ],
  [
    "let n = 0; const seen = [], push = (x) => { seen.push(x); for (;;); }\nfor (const x of [1.5, 2]) { n += x\npush(n) }",
    "seen[0] === n",
  ],
  ["let n = 0; const list = new Float64Array(1); for (;; ) { n++; list[0] = n }", "n > 1000 && list[0] === n"],
];

Deno.test("run() a loop that is stopped leaves its variables as they were at that moment", async () => {
  await using box = await testSandbox();
  for (const [source, check] of STOPPED) {
    const { result, saved } = await box.run(source, { deadlineMs: 60 });
    assert.equal(result.outcome, "timeout", source);
    assert.ok(saved.some(({ name }) => name === "n"), source);
    const { value } = await box.run(check);
    assert.equal(value && decode(value), true, source);
    await box.sandbox.forget(saved.map(({ name }) => name));
  }
});

Deno.test("run() a stopped loop in background work, and globals that a block replaced", async () => {
  await using box = await testSandbox();
  const hostile = "String.prototype.split = String.prototype.slice = String.prototype.indexOf = () => 'x'\n";
  const { result } = await box.run(
    `${hostile}let a = 0, b = 0\nawait new Promise((done) => setTimeout(done, 1))\nfor (;; a++) b += 0.5`,
    { deadlineMs: 80 },
  );
  assert.equal(result.outcome, "timeout");
  const { value } = await box.run("a > 1000 && b === a / 2");
  assert.equal(value && decode(value), true);
});
