import assert from "node:assert/strict";
import { testSandbox } from "../helpers/sandbox.ts";

/** An idle child sleeps where the next message is quick, and gets no message that can wait. */
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

Deno.test("bind() of a name that is not the user's is seen by the next request, in order", async () => {
  await using box = await testSandbox();
  const { sandbox } = box;
  await sandbox.bind("$query", "first");
  await sandbox.bind("$query", "second");
  assert.equal(await box.show("$query"), '"second"');
  await sandbox.bind("$query", "third");
  assert.equal(await sandbox.read("$query", { maxBytes: 100 }), "third");
  await sandbox.bind("$query", "fourth");
  assert.deepEqual(await sandbox.render("{{$query}}!", { deadlineMs: 1000 }), {
    ok: true,
    from: "template",
    text: "fourth!",
  });
  const long = "x".repeat(100_000);
  await sandbox.bind("$query", long);
  await sandbox.bind("$answer", "short");
  assert.equal(await box.show("$query.length + $answer"), '"100000short"');
});

Deno.test("endQuery() after a block without open work does not wait, and the next query starts fresh", async () => {
  await using box = await testSandbox();
  for (let query = 0; query < 3; query++) {
    await box.sandbox.bind("$query", `query ${query}`);
    assert.equal(await box.show("$query"), `"query ${query}"`);
    await box.sandbox.endQuery();
  }
});

Deno.test("endQuery() stops the open work of an earlier block at once, although the last one left none", async () => {
  let calls = 0;
  await using box = await testSandbox({ functions: { "host.tick": () => ++calls } });
  await box.show("setInterval(() => host.tick().catch(() => {}), 2); 1");
  await box.show("2");
  while (calls < 3) await pause(2);
  await box.sandbox.endQuery();
  const then = calls;
  await pause(30);
  assert.equal(calls, then);
});

Deno.test("the open work of a block continues while the child is idle", async () => {
  const left: Record<string, string> = {
    "a timer": "setTimeout(() => host.done(1), 10)",
    "a digest": "crypto.subtle.digest('SHA-256', new Uint8Array(4_000_000)).then(() => host.done(2))",
    "a call": "host.slow().then(() => host.done(3))",
    "an untimed call": "host.untimed().then(() => host.done(4))",
  };
  for (const [what, code] of Object.entries(left)) {
    const done = Promise.withResolvers<unknown>();
    await using box = await testSandbox({
      functions: {
        "host.done": ({ args }) => done.resolve(args[0]),
        "host.slow": () => pause(20),
        "host.untimed": () => pause(20),
      },
      untimed: ["host.untimed"],
    });
    await box.show(`${code}; 0`);
    const late = setTimeout(() => done.reject(new Error(`${what} did not go on`)), 5000);
    await done.promise;
    clearTimeout(late);
  }
});

Deno.test("a sleeping child answers any message", async () => {
  await using box = await testSandbox({ functions: { "host.echo": ({ args }) => args[0] } });
  const { sandbox } = box;
  const { saved } = await box.run("const kept = { n: 1 }; function twice(n) { return 2 * n }");
  for (let round = 0; round < 3; round++) {
    await pause(30);
    assert.equal(await box.show(`kept.n + twice(${round})`), String(1 + 2 * round));
    await pause(30);
    assert.deepEqual(await sandbox.read("kept", { maxBytes: 1000 }), { n: 1 });
    await pause(30);
    await sandbox.restore(saved);
    await pause(30);
    await sandbox.bind("given", "y".repeat(70_000), { user: true });
    assert.equal(await box.show("given.length"), "70000");
    await pause(30);
    await sandbox.forget(["given"]);
    await pause(30);
    assert.equal(await box.show(`await host.echo("${"z".repeat(70_000)}".length)`), "70000");
    const { result } = await box.run("nothing.here");
    assert.equal(result.error?.name, "ReferenceError");
  }
});

Deno.test("requests that come together, or while a block ends, are all answered at once", async () => {
  await using box = await testSandbox();
  const { sandbox } = box;
  const large = "x".repeat(100_000);
  const begun = performance.now();
  for (let round = 0; round < 40; round++) {
    const running = box.run(round % 2 ? "setTimeout(() => {}, 1); 1" : "2", { deadlineMs: 5000 });
    const asked = [
      sandbox.bind("$query", large),
      sandbox.forget(["none"]),
      sandbox.endQuery(),
      sandbox.render("{{$query}}", { deadlineMs: 1000 }),
      sandbox.forget(["none"]),
    ];
    await Promise.all([running, ...asked]);
    await Promise.all([sandbox.forget(["none"]), sandbox.render("none", { deadlineMs: 1000 }), sandbox.endQuery()]);
  }
  assert.ok(performance.now() - begun < 8000, "the child slept over what was asked");
});
