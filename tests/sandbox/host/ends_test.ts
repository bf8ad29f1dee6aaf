import assert from "node:assert/strict";
import { join } from "node:path";
import { SandboxEnded } from "../../../src/domain/errors.ts";
import { otherProcess } from "../../helpers/other_process.ts";
import { runs } from "../../helpers/long_part.ts";
import { isAlive, testSandbox } from "../../helpers/sandbox.ts";
import { until } from "../../helpers/until.ts";
import { withFolder } from "../../helpers/with_folder.ts";

const linux = Deno.build.os === "linux";

Deno.test("a memory bomb ends the child with the outcome memory, and the next child works", async () => {
  await using box = await testSandbox({ limits: { memoryBytes: 128 << 20 } });
  await box.run("const kept = [1, 2, 3]");
  // In some runtimes, a buffer that finds no room is an ordinary error. The next step is not.
  const code = `const bomb = []; for (;;) {
    try { for (;;) bomb.push(new Uint8Array(2 ** 20).fill(1)) } catch { for (;;) bomb.push({ at: [bomb.length] }) }
  }`;
  const { result, saved } = await box.run(code, { deadlineMs: 20_000 });
  assert.equal(result.outcome, "memory", result.error?.message);
  assert.deepEqual([result.ok, saved], [false, []]);
  assert.match(result.error?.message ?? "", /memory/);
  assert.equal(box.sandbox.ended, true);
  await using next = await testSandbox();
  assert.equal(await next.show("1"), "1");
});

Deno.test("a bomb of the heap ends the child with the outcome memory", async () => {
  await using box = await testSandbox({ limits: { memoryBytes: 96 << 20 } });
  const code = `const bomb = []; for (;;) bomb.push({ a: Array(${
    runs(1_000, 1)
  }).fill(bomb.length), b: 'x' + bomb.length })`;
  const { result } = await box.run(code, { deadlineMs: 30_000 });
  assert.equal(result.outcome, "memory", result.error?.message);
});

Deno.test("one allocation too large is an ordinary error", async () => {
  await using box = await testSandbox();
  const { result } = await box.run("new Uint8Array(8e9)");
  assert.deepEqual([result.outcome, result.error?.name], ["error", "RangeError"]);
  assert.equal(await box.show("1"), "1");
});

Deno.test("endless recursion is an ordinary error", async () => {
  await using box = await testSandbox();
  for (const code of ["const f = () => f(); f()", "const g = async () => { await g() }; await g()"]) {
    const { result } = await box.run(code);
    assert.deepEqual([result.outcome, result.error?.name], ["error", "RangeError"]);
  }
  assert.equal(await box.show("1"), "1");
});

Deno.test("a child killed from outside is reported as killed, whatever is pending", async () => {
  const printed = Promise.withResolvers<unknown>();
  await using box = await testSandbox({ onOutput: printed.resolve });
  const running = box.run("console.log('before'); await new Promise(() => {})", { deadlineMs: 20_000 });
  await printed.promise;
  Deno.kill(box.sandbox.pid, "SIGKILL");
  const { result } = await running;
  assert.equal(result.outcome, "killed");
  assert.match(result.error?.message ?? "", /outside/);
  assert.equal(result.stdout, "before\n");
  assert.equal(box.sandbox.ended, true);
  await assert.rejects(box.sandbox.read("x", { maxBytes: 10 }), SandboxEnded);
  await assert.rejects(box.sandbox.endQuery(), SandboxEnded);
  await assert.rejects(box.sandbox.restore([]), SandboxEnded);
  await assert.rejects(box.sandbox.bind("x", 1), SandboxEnded);
  await assert.rejects(box.sandbox.forget(["x"]), SandboxEnded);
  await assert.rejects(box.sandbox.render("x", { deadlineMs: 100 }), SandboxEnded);
});

Deno.test("requests that wait when the child dies reject with SandboxEnded", async () => {
  await using box = await testSandbox();
  Deno.kill(box.sandbox.pid, "SIGSTOP");
  const waiting = assert.rejects(box.sandbox.bind("x", 1, { user: true }), SandboxEnded);
  Deno.kill(box.sandbox.pid, "SIGKILL");
  await waiting;
});

Deno.test("a child killed during a host call aborts the call", async () => {
  let aborted = false;
  const called = Promise.withResolvers<void>();
  await using box = await testSandbox({
    functions: {
      hang: ({ signal }) => {
        called.resolve();
        return new Promise((done) => signal.addEventListener("abort", () => done(aborted = true)));
      },
    },
  });
  const running = box.run("await hang()", { deadlineMs: 20_000 });
  await called.promise;
  Deno.kill(box.sandbox.pid, "SIGKILL");
  assert.equal((await running).result.outcome, "killed");
  await until(() => aborted);
});

Deno.test("restore() in a new child restores the variables that the killed one had saved", async () => {
  const first = await testSandbox();
  const reports = [
    await first.run("const data = { a: [1, new Map([[2, 'x']])] }; const big = 'y'.repeat(300_000)"),
    await first.run(
      "function twice(n: number) { return n * 2 }\nclass Point { x = 1; sum(y: number) { return this.x + y } }",
    ),
  ];
  const images = reports.flatMap(({ saved }) => saved);
  const lost = first.run("data.a.push(3); for (;;);", { deadlineMs: 60_000 });
  setTimeout(() => Deno.kill(first.sandbox.pid, "SIGKILL"), 50);
  assert.equal((await lost).result.outcome, "killed");
  await using second = await testSandbox();
  const restored = await second.sandbox.restore(images);
  assert.deepEqual(restored.map(({ name, how }) => [name, how]).sort(), [
    ["Point", "eval"],
    ["big", "data"],
    ["data", "data"],
    ["twice", "eval"],
  ]);
  const code = "[data.a.length, data.a[1].get(2), big.length, twice(4), new Point().sum(2)].join()";
  assert.equal(await second.show(code), '"2,x,300000,8,3"');
});

Deno.test("restore() repeats no side effect: host calls are off", async () => {
  let calls = 0;
  const functions = { count: () => ++calls };
  await using first = await testSandbox({ functions });
  const { saved } = await first.run("function tick() { return count() }\nconst n = await tick()");
  assert.equal(calls, 1);
  await using second = await testSandbox({ functions });
  const trap = saved.map((image) =>
    image.name === "tick" ? { ...image, source: "(count(), function tick() {})" } : image
  );
  await second.sandbox.restore(trap);
  await second.run("1");
  assert.equal(calls, 1);
});

Deno.test("bind(), read(), forget() and render() work on the same scope as blocks", async () => {
  await using box = await testSandbox();
  const { sandbox } = box;
  await sandbox.bind("$query", "what is it?");
  await sandbox.bind("rows", [{ n: 1 }], { user: true });
  assert.equal(await box.show("$query + rows[0].n"), '"what is it?1"');
  await box.run("rows.push({ n: 2 })");
  assert.deepEqual(await sandbox.read("rows", { maxBytes: 1000 }), [{ n: 1 }, { n: 2 }]);
  await box.run("const long = 'x'.repeat(10_000)");
  await assert.rejects(sandbox.read("long", { maxBytes: 1000 }), RangeError);
  assert.deepEqual(await sandbox.render("rows are {{rows.length}}", { deadlineMs: 1000 }), {
    ok: true,
    from: "template",
    text: "rows are 2",
  });
  await sandbox.forget(["rows", "unknown"]);
  assert.equal(await box.show("typeof rows"), '"undefined"');
});

Deno.test("a block cannot keep a system variable: it has its former value afterwards", async () => {
  await using box = await testSandbox();
  await box.sandbox.bind("$query", "asked");
  const { notes, saved } = await box.run("$query = 'forged'");
  assert.deepEqual(saved, []);
  assert.ok(notes.some((note) => note.includes("$query")));
  assert.equal(await box.show("$query"), '"asked"');
});

Deno.test("render() has a deadline", async () => {
  await using box = await testSandbox();
  await box.run("const slow = { get x() { for (;;); }, toString() { for (;;); } }");
  const report = await box.sandbox.render("{{slow.x}} {{slow}}", { deadlineMs: 100 });
  assert.equal(box.sandbox.ended, false);
  assert.ok(report.ok === false || report.text.length < 1000);
  assert.equal(await box.show("1"), "1");
});

Deno.test("close() reaps the child and removes its folder, twice as well", async () => {
  const root = Deno.makeTempDirSync();
  try {
    const box = await testSandbox({ test: { folderRoot: root } });
    assert.equal([...Deno.readDirSync(root)].length, 1);
    const { pid } = box.sandbox;
    await Promise.all([box.sandbox.close(), box.sandbox.close()]);
    await box.sandbox.close();
    assert.equal(isAlive(pid), false);
    assert.deepEqual([...Deno.readDirSync(root)], []);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});

Deno.test("a start sweeps the folders of main processes that have ended, and no others", async () => {
  await withFolder(async (root) => {
    const old = new Date(Date.now() - 3_600_000);
    const folders = ["vis-sandbox-1-old", "vis-sandbox-new", "other"];
    for (const name of folders) {
      Deno.mkdirSync(join(root, name));
      if (!name.endsWith("new")) Deno.utimeSync(join(root, name), old, old);
    }
    const module = import.meta.resolve("../../../src/sandbox/launch.ts");
    const { end } = await otherProcess(`
      import { WorkFolder } from ${JSON.stringify(module)};
      const { path } = globalThis.made = new WorkFolder({ root: ${JSON.stringify(root)} });
      Deno.utimeSync(path, ${old.getTime() / 1000}, ${old.getTime() / 1000})`);
    const names = () => Array.from(Deno.readDirSync(root), ({ name }) => name).sort();
    const [living = ""] = names().filter((name) => !folders.includes(name));
    const left = async () => {
      await using _box = await testSandbox({ test: { folderRoot: root } });
      return names().filter((name) => name === living || folders.includes(name));
    };
    assert.deepEqual(await left(), ["other", living, "vis-sandbox-new"].sort());
    await end();
    assert.deepEqual(await left(), ["other", "vis-sandbox-new"]);
  });
});

Deno.test("aborting the sandbox's own signal ends it", async () => {
  const abort = new AbortController();
  await using box = await testSandbox({ signal: abort.signal });
  const running = box.run("for (;;);", { deadlineMs: 60_000 });
  abort.abort();
  assert.equal((await running).result.outcome, "killed");
  await assert.rejects(testSandbox({ signal: AbortSignal.abort() }), SandboxEnded);
});

Deno.test("grants that no wall enforces yet are refused", async () => {
  const { openSandbox } = await import("../../../src/sandbox/host/open_sandbox.ts");
  const { LIMITS } = await import("../../helpers/sandbox.ts");
  const grants = { net: ["example.org:443"], read: [], write: [], env: [] };
  const open = openSandbox({ functions: [], constants: {}, onCall: () => Promise.resolve(), limits: LIMITS, grants });
  await assert.rejects(open, /Cannot grant net/);
});

const PARENT = `
import { testSandbox } from ${JSON.stringify(new URL("../../helpers/sandbox.ts", import.meta.url).href)};
const box = await testSandbox({ functions: { hang: () => new Promise(() => {}) } });
console.log(box.sandbox.pid);
await box.run(Deno.args[0], { deadlineMs: 60_000 });
`;

for (const [what, code] of [["waits", "await hang()"], ["loops", "for (;;);"]] as const) {
  Deno.test({
    name: `no child is left when the main process is killed while a block ${what}`,
    ignore: !linux,
    async fn() {
      const script = Deno.makeTempFileSync({ suffix: ".ts" });
      Deno.writeTextFileSync(script, PARENT);
      const config = new URL("../../../deno.json", import.meta.url).pathname;
      const parent = new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--no-lock", "--no-check", "--config", config, script, code],
        stdout: "piped",
        stderr: "null",
      }).spawn();
      const reader = parent.stdout.pipeThrough(new TextDecoderStream()).getReader();
      const pid = Number((await reader.read()).value);
      try {
        assert.ok(pid > 0 && isAlive(pid));
        await new Promise((done) => setTimeout(done, 50));
      } finally {
        parent.kill("SIGKILL");
        await parent.status;
        await reader.cancel();
        Deno.removeSync(script);
      }
      await until(() => !isAlive(pid));
    },
  });
}
