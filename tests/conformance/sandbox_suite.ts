import assert from "node:assert/strict";
import { SandboxEnded } from "../../src/domain/errors.ts";
import { isAlive, type TestSandbox, testSandbox, type TestSandboxOptions } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

export interface Carrier {
  readonly name: string;
  readonly launcher: readonly string[];
  /** The reason why the carrier cannot be tried here; empty if it can. */
  readonly missing?: string;
}

export function family(root: number): number[] {
  const parents = new Map<number, number>();
  for (const { name } of Deno.readDirSync("/proc")) {
    try {
      const stat = /^\d+$/.test(name) ? Deno.readTextFileSync(`/proc/${name}/stat`) : "";
      const parent = Number(/\) \S (\d+)/.exec(stat)?.[1]);
      if (parent > 0) parents.set(Number(name), parent);
    } catch { /* The process ended meanwhile. */ }
  }
  const found = [root];
  for (const pid of found) for (const [child, parent] of parents) if (parent === pid) found.push(child);
  return found;
}

function inFolder(folder: string): number[] {
  const isIn = (pid: string): boolean => {
    try {
      return /^\d+$/.test(pid) && Deno.readLinkSync(`/proc/${pid}/cwd`).startsWith(folder);
    } catch {
      return false; // The process has ended, or belongs to another user.
    }
  };
  return [...Deno.readDirSync("/proc")].map(({ name }) => name).filter(isIn).map(Number);
}

async function allGone(pids: readonly number[]): Promise<void> {
  await until(() => pids.every((pid) => !isAlive(pid)));
}

export function sandboxSuite({ name, launcher, missing = "" }: Carrier): void {
  const open = (options: TestSandboxOptions = {}): Promise<TestSandbox> => testSandbox({ ...options, launcher });
  const test = (what: string, fn: () => Promise<void>): void =>
    Deno.test({ name: `${what} [${name}]${missing && `: ${missing}`}`, ignore: missing !== "", fn });

  test("walls are the same as without a launcher", async () => {
    await using plain = await testSandbox();
    await using box = await open();
    assert.deepEqual(box.sandbox.walls, plain.sandbox.walls);
  });

  test("values, variables, errors and output arrive", async () => {
    await using box = await open();
    await box.run("const kept = { n: 1 }; function twice(x: number) { return x * 2 }");
    assert.equal(await box.show("kept.n++; console.log('out'); twice(kept.n)"), "4");
    const { result } = await box.run("console.error('err')\nthrow new RangeError('too far')");
    assert.deepEqual([result.outcome, result.error?.name, result.error?.line], ["error", "RangeError", 2]);
    assert.equal(result.stderr, "err\n");
    assert.equal((await box.run("let z: = 1")).result.outcome, "refused");
  });

  test("nothing of the environment reaches the child", async () => {
    await using box = await open({ test: { walls: { realm: false, permissions: false, landlock: false } } });
    const keys: string[] = JSON.parse(JSON.parse(await box.show("JSON.stringify(Object.keys(Deno.env.toObject()))")));
    assert.deepEqual(keys.filter((key) => /HOME|PATH|USER|KEY|VIS/.test(key)), []);
  });

  test("a deadline ends a loop and keeps the variables", async () => {
    await using box = await open();
    await box.run("let n = 1");
    assert.equal((await box.run("n = 2; for (;;);", { deadlineMs: 100 })).result.outcome, "timeout");
    assert.equal((await box.run("n = 3; await new Promise(() => {})", { deadlineMs: 100 })).result.outcome, "timeout");
    assert.equal(await box.show("n"), "3");
  });

  test("host calls go both ways, a megabyte as well", async () => {
    await using box = await open({ functions: { "fs.echo": ({ args: [value] }) => value } });
    assert.equal(await box.show("(await Promise.all([1, 2, 3].map((n) => fs.echo(n)))).join()"), '"1,2,3"');
    assert.equal(await box.show("(await fs.echo('x'.repeat(2 ** 20))).length"), "1048576");
  });

  test("a new child has the variables of a killed one", async () => {
    const first = await open();
    const { saved } = await first.run("const list = [1, 2]; const size = () => list.length; class A { x = 3 }");
    Deno.kill(first.sandbox.pid, "SIGKILL");
    await until(() => first.sandbox.ended);
    await using second = await open();
    await second.sandbox.restore(saved);
    assert.equal(await second.show("size() + new A().x"), "5");
  });

  test("the end of the child under a block is reported with its kind", async () => {
    await using box = await open({ limits: { memoryBytes: 96 << 20 } });
    const bomb = "const bomb = []; for (;;) bomb.push(Array.from({ length: 1000 }, (_, n) => n + 0.5))";
    const { result } = await box.run(bomb, { deadlineMs: 20_000 });
    assert.equal(result.outcome, "memory", result.error?.message);
    await assert.rejects(box.sandbox.read("bomb", { maxBytes: 10 }), SandboxEnded);
  });

  test("close() leaves no process, whatever the child does", async () => {
    for (const code of ["", "await new Promise(() => {})", "for (;;);", "for (;;) await null"]) {
      const box = await open();
      const pids = family(box.sandbox.pid);
      const running = code ? box.run(code, { deadlineMs: 60_000 }) : null;
      await new Promise((done) => setTimeout(done, 20));
      await box.sandbox.close();
      await running;
      await allGone(pids);
    }
  });

  test("a child whose own process is killed is reported, and its launcher ends with it", async () => {
    await using box = await open();
    const pids = family(box.sandbox.pid);
    const running = box.run("await new Promise(() => {})", { deadlineMs: 20_000 });
    await new Promise((done) => setTimeout(done, 20));
    Deno.kill(pids.at(-1) ?? 0, "SIGKILL");
    const { result } = await running;
    assert.equal(result.outcome, "killed");
    assert.match(result.error?.message ?? "", /SIGKILL/);
    await allGone(pids);
  });

  test("aborting a start leaves no process", async () => {
    const folderRoot = Deno.makeTempDirSync();
    // The program reads its setup and never answers.
    const program = { path: "/bin/sh", args: ["-c", "exec cat > /dev/null"] };
    const caller = new AbortController();
    const opening = assert.rejects(open({ signal: caller.signal, test: { program, folderRoot } }), SandboxEnded);
    await until(() => inFolder(folderRoot).length > 0);
    caller.abort();
    await opening;
    await until(() => inFolder(folderRoot).length === 0);
    Deno.removeSync(folderRoot, { recursive: true });
  });
}
