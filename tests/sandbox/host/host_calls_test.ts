import assert from "node:assert/strict";
import { advised, HostCallError } from "../../../src/domain/errors.ts";
import { errorForModel } from "../../../src/domain/query/host_call.ts";
import type { HostCall } from "../../../src/sandbox/sandbox.ts";
import { testSandbox } from "../../helpers/sandbox.ts";

Deno.test("host calls carry arguments and results both ways", async () => {
  const seen: HostCall[] = [];
  await using box = await testSandbox({
    functions: {
      "fs.echo": (call) => {
        seen.push(call);
        return call.args;
      },
    },
  });
  const code = "JSON.stringify(await fs.echo('a', [1, { b: null }], undefined))";
  assert.equal(await box.show(code, { index: 3 }), JSON.stringify('["a",[1,{"b":null}],null]'));
  assert.deepEqual(seen.map(({ name, args, block }) => ({ name, args, block })), [
    { name: "fs.echo", args: ["a", [1, { b: null }], undefined], block: 3 },
  ]);
  assert.equal(await box.show("(await fs.echo(new Map([[1, new Set([2])]])))[0].get(1).has(2)"), "true");
});

Deno.test("host calls are recorded with their outcome", async () => {
  await using box = await testSandbox({
    functions: { good: () => 1, bad: () => Promise.reject(new Error("no")) },
  });
  const { result } = await box.run("await good(); await bad().catch(() => {}); 1");
  assert.deepEqual(result.calls.map(({ name, ok }) => [name, ok]), [["good", true], ["bad", false]]);
  assert.ok(result.calls.every(({ ms }) => ms >= 0));
});

Deno.test("host errors arrive with name, message and hint, at the line of the call, without the host's stack", async () => {
  await using box = await testSandbox({
    functions: {
      "fs.readFile": () => {
        throw new HostCallError("Cannot read a.txt: not there", {
          namespace: "fs",
          symbol: "readFile",
          hint: "try fs.listFiles",
        });
      },
    },
  });
  assert.equal(
    await box.show(
      "await fs.readFile('a').catch((e) => [e instanceof Error, e.name, e.message, e.hint].join('|'))",
    ),
    '"true|HostCallError|Cannot read a.txt: not there|try fs.listFiles"',
  );
  const { result } = await box.run("const a = 1\n\nawait fs.readFile('a.txt')");
  assert.equal(result.outcome, "error");
  assert.deepEqual([result.error?.name, result.error?.line], ["HostCallError", 3]);
  assert.deepEqual([result.error?.message, result.error?.advice], [
    "Cannot read a.txt: not there",
    " (try fs.listFiles)",
  ]);
  assert.doesNotMatch(JSON.stringify(result), /host_calls_test|\/src\/|file:/);
});

Deno.test("the advice of a host error is in the message of a block that catches it, and apart in a report", async () => {
  const broken = () => {
    throw advised(new Error("Cannot read src: it is a folder"), "list it with fs.listFiles");
  };
  await using box = await testSandbox({ functions: { "fs.readFile": broken } });
  assert.equal(
    await box.show("await fs.readFile('src').catch((e) => e.message)"),
    '"Cannot read src: it is a folder; list it with fs.listFiles"',
  );
  const { result: { error } } = await box.run("await fs.readFile('src')");
  assert.equal(error?.message, "Cannot read src: it is a folder");
  assert.equal(error && errorForModel(error), "Cannot read src: it is a folder; list it with fs.listFiles");
});

Deno.test("a value that cannot cross is an error of the call, in either direction", async () => {
  await using box = await testSandbox({ functions: { give: () => () => 1, take: () => 1 } });
  const { result } = await box.run("await take(() => 1)");
  assert.equal(result.outcome, "error");
  assert.match(result.error?.message ?? "", /Cannot call take/);
  assert.equal((await box.run("await give()")).result.outcome, "error");
  assert.equal(await box.show("await take(1)"), "1");
});

Deno.test("an argument or a result over 64 MiB is an error that names the size", async () => {
  await using box = await testSandbox({
    functions: { big: () => new Uint8Array(65 << 20), take: () => 1 },
    limits: { memoryBytes: 512 << 20 },
  });
  for (const code of ["await take(new Uint8Array(65 * 2 ** 20))", "await big()"]) {
    const { result } = await box.run(code, { deadlineMs: 20_000 });
    assert.equal(result.outcome, "error", code);
    assert.match(result.error?.message ?? "", /64 MiB|67108864|67,?108/, code);
  }
  assert.equal(await box.show("await take(1)"), "1");
});

Deno.test("16 MiB cross in both directions unchanged", async () => {
  await using box = await testSandbox({ functions: { twice: ({ args }) => args[0] } });
  const code = `const sent = new Uint8Array(2 ** 24).map((_, i) => i * 31);
    const got = await twice(sent); got.length === sent.length && got.every((byte, i) => byte === sent[i])`;
  assert.equal(await box.show(code, { deadlineMs: 20_000 }), "true");
});

Deno.test("200 calls in parallel are at most 64 at a time and all answered, in any order", async () => {
  let now = 0, most = 0;
  await using box = await testSandbox({
    functions: {
      wait: async ({ args: [n] }) => {
        most = Math.max(most, ++now);
        await new Promise((done) => setTimeout(done, Number(n) % 7));
        now--;
        return n;
      },
    },
  });
  const code = "(await Promise.all(Array.from({ length: 200 }, (_, i) => wait(i)))).every((n, i) => n === i)";
  assert.equal(await box.show(code, { deadlineMs: 10_000 }), "true");
  assert.ok(most > 10 && most <= 64, `${most} at once`);
});

Deno.test("a block's deadline aborts the calls that this block started and no others", async () => {
  const aborted: unknown[] = [];
  await using box = await testSandbox({
    functions: {
      hang: ({ args: [name], signal }) =>
        new Promise((done) => signal.addEventListener("abort", () => done(aborted.push(name)))),
      later: () => new Promise((done) => setTimeout(() => done("came"), 250)),
    },
  });
  await box.run("globalThis.early = later(); 1");
  const { result } = await box.run("await hang('mine')", { deadlineMs: 100 });
  assert.equal(result.outcome, "timeout");
  assert.deepEqual(aborted, ["mine"]);
  assert.equal(await box.show("await early"), '"came"');
});

Deno.test("a call that outlives its block has the iteration and the number of its block, and is late", async () => {
  const late = Promise.withResolvers<HostCall>();
  const next = Promise.withResolvers<void>();
  await using box = await testSandbox({
    functions: {
      save: async (call) => {
        assert.equal(call.isLate(), false);
        await next.promise;
        late.resolve(call);
        return "saved";
      },
      go: () => next.resolve(),
    },
  });
  const { result } = await box.run("const saving = save(); 1", { iteration: 3, index: 2 });
  assert.deepEqual([result.ok, result.calls], [true, []]);
  assert.equal(await box.show("await go(); await saving", { iteration: 4 }), '"saved"');
  const { iteration, block, isLate } = await late.promise;
  assert.deepEqual([iteration, block, isLate()], [3, 2, true]);
});

Deno.test("a block that throws ends when its open calls, and the calls that follow them, have ended", async () => {
  const thrown = Promise.withResolvers<void>();
  await using box = await testSandbox({
    functions: {
      write: () => thrown.promise,
      fail: () => {
        thrown.resolve();
        throw new Error("no such file");
      },
    },
  });
  const { result } = await box.run(
    "await Promise.all([(async () => { for (const at of [1, 2, 3, 4, 5]) await write(at) })(), fail()])",
  );
  assert.match(result.error?.message ?? "", /no such file/);
  assert.deepEqual(result.calls.map(({ name }) => name).sort(), ["fail", "write", "write", "write", "write", "write"]);
});

Deno.test("a block that threw keeps its error when its time ends its open calls", async () => {
  await using box = await testSandbox({
    functions: {
      hang: ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
      fail: () => Promise.reject(new Error("no such file")),
    },
  });
  const { result } = await box.run("await Promise.all([hang(), fail()])", { deadlineMs: 300 });
  assert.deepEqual([result.outcome, result.timedOut], ["error", false]);
  assert.match(result.error?.message ?? "", /no such file/);
  assert.deepEqual(result.calls.map(({ name, ok }) => [name, ok]), [["fail", false], ["hang", false]]);
  assert.equal(await box.show("1"), "1");
});

Deno.test("a cancelled block aborts its calls at once", async () => {
  await using box = await testSandbox({
    functions: {
      hang: ({ signal }) => new Promise((_, no) => signal.addEventListener("abort", () => no(signal.reason))),
    },
  });
  const abort = new AbortController();
  const running = box.run("await hang()", { signal: abort.signal, deadlineMs: 30_000 });
  setTimeout(() => abort.abort(), 30);
  assert.equal((await running).result.outcome, "cancelled");
  assert.equal(await box.show("1"), "1");
});

Deno.test("endQuery() aborts running calls, and their promises reject", async () => {
  const aborted: string[] = [];
  await using box = await testSandbox({
    functions: {
      hang: ({ name, signal }) => new Promise(() => signal.addEventListener("abort", () => aborted.push(name))),
    },
  });
  await box.run("globalThis.left = hang().catch((e) => e.message); 1");
  await box.sandbox.endQuery();
  assert.deepEqual(aborted, ["hang"]);
  assert.match(await box.show("await left"), /request has ended/);
});

Deno.test("work of an ended query can call nothing more", async () => {
  let calls = 0;
  await using box = await testSandbox({ functions: { count: () => ++calls } });
  await box.run("globalThis.go = null; globalThis.old = new Promise((done) => go = done).then(() => count()); 1");
  await box.sandbox.endQuery();
  const { result } = await box.run("go(); await old");
  assert.equal(result.outcome, "error");
  assert.equal(calls, 0);
});

Deno.test("constants are next to the functions of their namespace and cannot be changed", async () => {
  await using box = await testSandbox({
    functions: { "web.get": () => 1 },
    constants: { "web.limits": { max: 3, hosts: ["a"] }, "web.on": true },
  });
  assert.equal(await box.show("web.limits.max + web.limits.hosts[0] + web.on"), '"3atrue"');
  for (const code of ["web.limits.max = 4", "web.limits.hosts.push('b')", "web.get = 1", "web.more = 1"]) {
    assert.equal((await box.run(code)).result.outcome, "error", code);
  }
});

Deno.test("doc(x) asks the host for a function by itself or by its name", async () => {
  await using box = await testSandbox({
    functions: { doc: ({ args: [name] }) => `about ${name}`, "fs.readFile": () => 1, vars: () => 1 },
  });
  assert.equal(await box.show("await doc(fs.readFile)"), '"about fs.readFile"');
  assert.equal(await box.show("await doc(vars)"), '"about vars"');
  assert.equal(await box.show("await doc('fs')"), '"about fs"');
  assert.equal((await box.run("await doc(() => 1)")).result.outcome, "error");
});

Deno.test("a host function that throws no Error is answered all the same", async () => {
  await using box = await testSandbox({
    functions: {
      odd: () => {
        throw "just text";
      },
    },
  });
  assert.equal(await box.show("await odd().catch((e) => e.message)"), '"just text"');
});
