import assert from "node:assert/strict";
import { testSandbox } from "../helpers/sandbox.ts";

const wait = (ms: number): Promise<string> => new Promise((done) => setTimeout(() => done("came"), ms));
const functions = {
  "rlm.run": ({ args: [ms] }: { readonly args: readonly unknown[] }) => wait(Number(ms)),
  "fs.read": ({ args: [ms] }: { readonly args: readonly unknown[] }) => wait(Number(ms)),
};
const options = { functions, untimed: ["rlm.run"], limits: { graceMs: 30_000 } };

Deno.test("time spent in calls with a deadline of their own does not count to the block's", async () => {
  await using box = await testSandbox(options);
  assert.equal(await box.show("await rlm.run(700)", { deadlineMs: 600 }), '"came"');
  const many = "(await Promise.all([rlm.run(500), rlm.run(550), rlm.run(10)])).length + (await rlm.run(200)).length";
  assert.equal(await box.show(many, { deadlineMs: 600 }), "7");
});

Deno.test("many short calls with a deadline of their own are as patient as one long call", async () => {
  await using box = await testSandbox({ ...options, limits: { graceMs: 100 } });
  const code = "let n = 0; while (n < 20) { await rlm.run(150); n++ }\nn";
  assert.equal(await box.show(code, { deadlineMs: 1_500 }), "20");
});

Deno.test("more such calls than may be outstanding pause the deadline too", async () => {
  await using box = await testSandbox(options);
  const code = "(await Promise.all(Array.from({ length: 130 }, () => rlm.run(400)))).length";
  assert.equal(await box.show(code, { deadlineMs: 1000 }), "130");
});

Deno.test("a block that computes, or waits for something else as well, keeps its deadline", async (t) => {
  await using box = await testSandbox(options);
  const codes = {
    "before the call": "await new Promise((done) => setTimeout(done, 300)); await rlm.run(1)",
    "another call": "await Promise.all([rlm.run(2000), fs.read(400)])",
    "a timer": "await Promise.race([rlm.run(2000), new Promise((done) => setTimeout(done, 400))])",
    "computing": "rlm.run(2000); for (;;);",
    "computing after an answer": "await rlm.run(300); for (;;);",
    "microtasks": "rlm.run(2000); for (;;) await null",
    "a catastrophic regular expression": "await rlm.run(1); /(a+)+$/.test('a'.repeat(50) + 'b')",
    "nothing, when the call has come": "await rlm.run(200); await new Promise(() => {})",
  };
  for (const [name, code] of Object.entries(codes)) {
    await t.step(name, async () => {
      const { result } = await box.run(code, { deadlineMs: 150 });
      assert.equal(result.outcome, "timeout", result.preview);
      assert.equal(box.sandbox.ended, false);
    });
  }
  assert.equal(await box.show("1"), "1");
});

Deno.test("a block that waits for such a call can be cancelled at once", async () => {
  await using box = await testSandbox(options);
  const abort = new AbortController();
  const running = box.run("await rlm.run(60_000)", { deadlineMs: 100, signal: abort.signal });
  setTimeout(() => abort.abort(), 200);
  assert.equal((await running).result.outcome, "cancelled");
  assert.equal(await box.show("1"), "1");
});
