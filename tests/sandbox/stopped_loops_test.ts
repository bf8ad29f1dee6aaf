/** The deadline of a block stops loops at its top level. On a busy machine, a loop may have hardly begun. It is then
 * run again until it has advanced, and the child gets time to stop it. */
import assert from "node:assert/strict";
import { decode } from "../../src/sandbox/codec/codec.ts";
import { type TestSandbox, testSandbox } from "../helpers/sandbox.ts";

const STOPPED: readonly (readonly [far: string, source: string, check: string])[] = [
  ["n > 1000", "let n = 0, half = 0; for (;;) { n++; half += 0.5 }", "half === n / 2"],
  ["n > 1000", "let n = 0, half = 0; for (;; n++) half += 0.5", "half === n / 2"],
  ["n > 1000", "var half = 0; for (var n = 0; true; n++) { half += 0.5; if (n % 3) continue }", "half === n / 2"],
  ["n > 1000", "let n = 0, half = 0; while (true) { half = n / 2; n++ }", "half === (n - 1) / 2"],
  ["n > 1000", "let n = 0, text = ''; while (true) { n++; text = `${n}` }", "text === `${n}`"],
  ["n > 1000", "let n = 0, big = 0n; while (true) { n++; big++ }", "big === BigInt(n)"],
  ["n > 1000", "let n = 0, u; while (true) { n++; if (n > 999) u = n }", "Math.abs(u - n) < 2"],
  [
    "n > 0",
    "let n = 0, half = 0; const spin = (ms) => { const end = performance.now() + ms; while (performance.now() < end); }\n" +
    "for (;; n++) { half += 0.5; spin(10); half += 0.5 }",
    "half === n + 0.5",
  ],
  [
    "seen?.length === 1",
    "let n = 0; const seen = [], push = (x) => { seen.push(x); for (;;); }\nfor (const x of [1.5, 2]) { n += x\npush(n) }",
    "seen[0] === n",
  ],
  ["n > 1000", "let n = 0; const list = new Float64Array(1); for (;; ) { n++; list[0] = n }", "list[0] === n"],
];

const PATIENT = { limits: { graceMs: 60_000 } };

async function isTrue(box: TestSandbox, check: string): Promise<boolean> {
  const { value } = await box.run(check);
  return value !== null && decode(value) === true;
}

Deno.test("run() a loop that is stopped leaves its variables as they were at that moment", async () => {
  await using box = await testSandbox(PATIENT);
  for (const [far, source, check] of STOPPED) {
    for (let isFar = false; !isFar;) {
      const { result, saved } = await box.run(source, { deadlineMs: 60 });
      assert.equal(result.outcome, "timeout", source);
      isFar = await isTrue(box, far);
      if (isFar) assert.ok(saved.some(({ name }) => name === "n"), source);
      if (isFar) assert.ok(await isTrue(box, check), source);
      await box.sandbox.forget(saved.map(({ name }) => name));
    }
  }
});

Deno.test("run() a stopped loop in background work, and globals that a block replaced", async () => {
  await using box = await testSandbox(PATIENT);
  const hostile = "String.prototype.split = String.prototype.slice = String.prototype.indexOf = () => 'x'\n";
  for (let isFar = false; !isFar;) {
    const { result } = await box.run(
      `${hostile}let a = 0, b = 0\nawait new Promise((done) => setTimeout(done, 1))\nfor (;; a++) b += 0.5`,
      { deadlineMs: 80 },
    );
    assert.equal(result.outcome, "timeout");
    isFar = await isTrue(box, "a > 1000");
    assert.ok(!isFar || await isTrue(box, "b === a / 2"));
  }
});
