import assert from "node:assert/strict";
import { join } from "node:path";
import { Workspace } from "./_workspace.ts";

const SECRET = "secret".repeat(1_000);
const RACE_MS = 120;
/** The test waits at most this many turns for the first one to succeed. */
const MOST = 2_000;

/** The same names exist outside and inside, so only their contents show which folder was reached. */
async function raced(): Promise<Workspace> {
  const workspace = await Workspace.with({ "d/a.txt": "inside\n", "d/b.txt": "inside\n", "d/sub/c.txt": "inside\n" });
  for (const name of ["a.txt", "b.txt", "only_outside.txt"]) {
    await Deno.writeTextFile(join(workspace.outside, name), SECRET);
  }
  await Deno.mkdir(join(workspace.outside, "sub"));
  await Deno.writeTextFile(join(workspace.outside, "sub/c.txt"), SECRET);
  await Deno.remove(join(workspace.outside, "secret.txt"));
  return workspace;
}

async function facts(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    const { mode, mtime, size } = await Deno.lstat(path);
    found.push(`${path} ${mode} ${mtime?.getTime()} ${size}`);
    if (isDirectory) found.push(...await facts(path));
  }
  return found.sort();
}

/** Runs `turn` repeatedly while `d` alternates between a folder and a link to the outside. It ends after some time, or
 * once `enough` is true. */
async function race(workspace: Workspace, turn: (at: number) => Promise<unknown>, enough: () => boolean) {
  const worker = new Worker(new URL("./_racer.ts", import.meta.url), { type: "module" });
  const stop = new SharedArrayBuffer(4);
  const message = (): Promise<number> => new Promise((resolve) => worker.onmessage = ({ data }) => resolve(data));
  const started = message();
  worker.postMessage({ folder: join(workspace.root, "d"), target: workspace.outside, stop });
  await started;
  const turns = message();
  try {
    const begun = performance.now();
    for (let at = 0; performance.now() < begun + RACE_MS || (at < MOST && !enough()); at++) await turn(at);
  } finally {
    Atomics.store(new Int32Array(stop), 0, 1);
    await turns;
    worker.terminate();
  }
}

Deno.test("a read that follows the path is led outside by the race", async () => {
  await using workspace = await raced();
  let led = false;
  await race(workspace, async () => {
    led ||= await Deno.readTextFile(join(workspace.root, "d/a.txt")).then((text) => text === SECRET, () => false);
  }, () => led);
  assert.ok(led);
});

const TURNS: Readonly<Record<string, (workspace: Workspace, at: number) => Promise<unknown>>> = {
  readFile: (w) => w.call("readFile", "d/a.txt"),
  "readFile of lines": (w) => w.call("readFile", "d/a.txt", { from: 1, to: 1 }),
  readFiles: (w) => w.call("readFiles", ["d/a.txt", "d/sub/c.txt", "d/*.txt"]),
  listFiles: (w) => w.call("listFiles", "d"),
  glob: (w) => w.call("glob", ["d/*", "**/*.txt"]),
  grep: (w) => w.call("grep", "inside|secret", "d"),
  "grep in a worker": (w) => w.call("grep", "(inside|secret){1,40}", "d"),
  stat: (w) => w.call("stat", "d/a.txt"),
  writeFile: (w, at) => w.call("writeFile", `d/new${at}.txt`, "x"),
  "writeFile in new folders": (w, at) => w.call("writeFile", `d/new${at}/deep/x.txt`, "x"),
  edit: (w) => w.call("edit", ["a", "b"].map((name) => ({ path: `d/${name}.txt`, old: "insi", new: "insi" }))),
  patch: (w, at) => w.call("patch", `--- /dev/null\n+++ b/d/p${at}.txt\n@@ -0,0 +1 @@\n+x\n`),
  move: (w, at) => at % 2 ? w.call("move", "d/sub", "d/other") : w.call("move", "d/other", "d/sub"),
  remove: (w, at) => w.call("remove", at % 2 ? "d/a.txt" : "d/sub", { recursive: true }),
};

for (const [name, turn] of Object.entries(TURNS)) {
  Deno.test(`a folder that becomes a link does not lead fs.${name}() outside`, async () => {
    await using workspace = await raced();
    const before = await facts(workspace.outside);
    let done = 0;
    await race(workspace, async (at) => {
      try {
        const result = JSON.stringify(await turn(workspace, at));
        done++;
        assert.doesNotMatch(result, /secret|only_outside|"size":6000/);
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        assert.doesNotMatch(String(error), /only_outside/);
      }
    }, () => done > 0);
    assert.ok(done > 0, "no call ever got through");
    assert.deepEqual(await facts(workspace.outside), before);
    const left = (await facts(workspace.root)).filter((fact) => /\.vis-[\w-]+\.tmp/.test(fact));
    assert.deepEqual(left, [], "no temporary file stays");
  });
}

Deno.test("a folder that becomes a link does not lead fs.undo() outside", async () => {
  await using workspace = await raced();
  for (let at = 0; at < 40; at++) await workspace.call("writeFile", `d/u${at % 4}.txt`, `${at}`);
  const before = await facts(workspace.outside);
  await race(workspace, async (at) => await workspace.call("undo", { redo: at % 3 === 2 }).catch(() => {}), () => true);
  assert.deepEqual(await facts(workspace.outside), before);
});

Deno.test("fs does not follow a temporary file that was swapped for a link", async () => {
  await using workspace = await Workspace.with({ "a.txt": "a" });
  const target = join(workspace.outside, "secret.txt");
  await Deno.chmod(target, 0o600);
  const swap = new Worker(new URL("./_swapper.ts", import.meta.url), { type: "module" });
  const stop = new SharedArrayBuffer(4);
  const ended = new Promise((resolve) => swap.onmessage = resolve);
  swap.postMessage({ folder: workspace.root, target, stop });
  for (let at = 0; at < 60; at++) await workspace.call("writeFile", "a.txt", `${at}`).catch(() => {});
  Atomics.store(new Int32Array(stop), 0, 1);
  await ended;
  swap.terminate();
  assert.equal(await Deno.readTextFile(target), "secret\n");
  assert.equal(((await Deno.stat(target)).mode ?? 0) & 0o777, 0o600);
});
