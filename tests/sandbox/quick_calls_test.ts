import assert from "node:assert/strict";
import { testSandbox } from "../helpers/sandbox.ts";

/** These calls are answered at once. The child's threads pass them on without their event loops. */
const functions = { "host.echo": ({ args }: { readonly args: readonly unknown[] }) => args[0] };
const FOREVER = "for (;;) await host.echo(++count)";

Deno.test("a block that calls for ever ends at its deadline, and keeps its variables", async () => {
  await using child = await testSandbox({ functions });
  const { result } = await child.run(`let count = 0; ${FOREVER}`, { deadlineMs: 300 });
  assert.equal(result.outcome, "timeout");
  assert.ok(Number(await child.show("count")) > 10);
  assert.equal(await child.show("await host.echo('on')"), '"on"');
});

Deno.test("a block that calls for ever can be cancelled", async () => {
  await using child = await testSandbox({ functions });
  const controller = new AbortController();
  const running = child.run(`let count = 0; ${FOREVER}`, { deadlineMs: 20_000, signal: controller.signal });
  setTimeout(() => controller.abort(), 50);
  const { result } = await running;
  assert.equal(result.outcome, "cancelled");
  assert.equal(await child.show("1 + 1"), "2");
});

Deno.test("a loop after an answer ends at the deadline", async () => {
  await using child = await testSandbox({ functions });
  for (const loop of ["for (;;);", "await (function f() { return Promise.resolve().then(f) })()"]) {
    const { result } = await child.run(`var kept = await host.echo(5); ${loop}`, { deadlineMs: 200 });
    assert.equal(result.outcome, "timeout", loop);
    assert.equal(await child.show("kept"), "5");
  }
});

Deno.test("timers and output continue between calls in quick succession", async () => {
  const texts: string[] = [];
  let seen = 0;
  await using child = await testSandbox({
    functions: { ...functions, "host.seen": () => seen = texts.length },
    onOutput: ({ text }) => texts.push(text),
  });
  const shown = await child.show(`
    let ticks = 0;
    const timer = setInterval(() => ticks++, 5);
    console.log("begun");
    for (const end = performance.now() + 300; performance.now() < end;) await host.echo(1);
    await host.seen();
    clearInterval(timer);
    ticks > 2`);
  assert.equal(shown, "true");
  assert.ok(seen > 0, "output came with the end only");
  assert.equal(texts.join(""), "begun\n");
});

Deno.test("answers that take their time, or are large, come between quick ones", async () => {
  const big = "x".repeat(300_000);
  await using child = await testSandbox({
    functions: {
      ...functions,
      "host.slow": async ({ args }) => {
        await new Promise((resolve) => setTimeout(resolve, 15));
        return args[0];
      },
      "host.big": () => big,
    },
  });
  const shown = await child.show(`
    let sum = 0;
    for (let i = 0; i < 5; i++) {
      sum += await host.echo(1);
      sum += await host.slow(10);
      sum += (await host.big()).length;
      sum += (await Promise.all([host.echo(1), host.slow(1), host.echo(1)])).length;
      sum += (await host.echo(${"`${sum}`"}.padEnd(5000))).length;
    }
    sum`);
  assert.equal(shown, String(5 * (1 + 10 + 300_000 + 3 + 5000)));
});

Deno.test("calls that a block leaves behind are answered while the next ones run", async () => {
  await using child = await testSandbox({ functions });
  await child.show("var left = []; for (let i = 0; i < 200; i++) host.echo(i).then((value) => left.push(value)); 1");
  for (let i = 0; i < 20; i++) await child.show("await host.echo(1)");
  assert.equal(await child.show("left.length"), "200");
});

Deno.test("blocks in quick succession each have their own values, errors and names", async () => {
  await using child = await testSandbox({ functions });
  for (let i = 0; i < 100; i++) {
    assert.equal(await child.show(`const at${i} = await host.echo(${i}); at${i} + ${i}`), String(2 * i));
    const { result } = await child.run(`null.x${i}`);
    assert.match(result.error?.message ?? "", new RegExp(`x${i}'`));
  }
  assert.equal(await child.show("at0 + at99"), "99");
});

/** Each ends in the middle of its work. */
const CUT_OFF: readonly (readonly [code: string, deadlineMs: number])[] = [
  [
    "const deeper = (n) => { fs.read(n).catch(() => {}); deeper(n + 1) }\nfor (let i = 0; i < 5; i++) { try { deeper(0) } catch {} await fs.read('a') }",
    10_000,
  ],
  ["for (;;) { fs.read('a').catch(() => {}); await null }", 60],
  ["for (let i = 0;; i++) { const call = fs.read(`a${i}`); call.catch(() => {}); if (i % 7 === 0) await call }", 60],
  ["for (;;) print('x'.repeat(100))", 60],
];

Deno.test("blocks that use up their stack or are stopped while they send leave the pipe in order", async () => {
  await using box = await testSandbox({ functions: { "fs.read": () => "text" } });
  for (const [code, deadlineMs] of CUT_OFF) {
    await box.run(code, { deadlineMs });
    assert.equal(await box.show("await fs.read('after')"), '"text"', code);
  }
  await box.sandbox.endQuery();
  assert.equal(await box.show("await fs.read('after')"), '"text"');
});
