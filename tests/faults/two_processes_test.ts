import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { isAlive, thisProcess } from "../../src/app/session/process_owner.ts";
import { BusyError } from "../../src/domain/errors.ts";
import { openStore } from "../../src/persistence/open_store.ts";
import { newQuery } from "../conformance/store/fixtures.ts";
import { buildSandbox } from "../helpers/sandbox.ts";
import { inPlace } from "./_place.ts";
import { runs } from "../helpers/long_part.ts";

const MAIN = fileURLToPath(new URL("../helpers/turns_main.ts", import.meta.url));
const TURNS = runs(6, 20);

function start(path: string, workspace: string, count: number) {
  const args = ["run", "-A", "--no-check", "--quiet", MAIN, path, workspace, String(count)];
  const child = new Deno.Command(Deno.execPath(), { args, stdin: "piped", stdout: "piped", stderr: "inherit" }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const lines = (): string[] => text.split("\n").slice(0, -1);
  return {
    child,
    async until(line: string): Promise<void> {
      while (!lines().includes(line)) {
        const { value, done } = await reader.read();
        if (done) throw new Error(`Ended before ${line}: ${text}`);
        text += value;
      }
    },
    async go(): Promise<void> {
      const writer = child.stdin.getWriter();
      await writer.write(new TextEncoder().encode("\n"));
      await writer.close();
    },
    async rest(): Promise<string[]> {
      for (let next = await reader.read(); !next.done; next = await reader.read()) text += next.value;
      await child.status;
      return lines();
    },
  };
}

Deno.test("two processes work in one database at once, many turns each, and none fails", async () => {
  await buildSandbox();
  await inPlace(async ({ path }) => {
    const running = ["/one", "/two"].map((workspace) => start(path, workspace, TURNS));
    for (const one of running) await one.until("ready");
    await Promise.all(running.map((one) => one.go()));
    const said = await Promise.all(running.map((one) => one.rest()));
    const expected = Array.from({ length: TURNS }, (_, turn) => `done ${turn}`);
    for (const lines of said) assert.deepEqual(lines.filter((line) => /^\w+ \d+$/.test(line)).slice(1), expected);
    const store = await openStore({ path, isAlive });
    assert.equal(await store.sweepLost(isAlive), 0);
    for (const workspace of ["/one", "/two"]) {
      const { branchId = "" } = await store.latestConversation(workspace) ?? {};
      const versions = await store.variableVersions(branchId, "list");
      assert.equal(versions.length, TURNS);
      const queries = await store.queries(branchId);
      assert.deepEqual(queries.map(({ text }) => text), expected.map((_, turn) => `turn ${turn}`));
    }
    assert.deepEqual(await store.check(), []);
    await store.close();
  });
});

Deno.test("a branch is refused while a living process works on it, and given once that one was killed", async () => {
  await buildSandbox();
  await inPlace(async ({ path, workspace }) => {
    const other = start(path, workspace, 1);
    await other.until("ready");
    Deno.kill(other.child.pid, "SIGSTOP"); // The process is alive, and silent.
    const store = await openStore({ path, isAlive });
    const made = await store.createConversation({ title: "t", channel: "c", workspace });
    const stopped = { ...thisProcess(), pid: other.child.pid, started: startedOf(other.child.pid) };
    const theirs = await store.beginQuery(newQuery(made.branchId, "theirs", { owner: stopped }));
    const mine = newQuery(made.branchId, "mine", { owner: thisProcess() });
    await assert.rejects(store.beginQuery(mine), BusyError);
    assert.equal(await store.sweepLost(isAlive), 0, "it lives");
    const elsewhere = await store.createConversation({ title: "e", channel: "c", workspace });
    const free = await store.beginQuery(newQuery(elsewhere.branchId, "free", { owner: thisProcess() }));
    other.child.kill("SIGKILL");
    await other.child.status;
    await other.child.stdin.close().catch(() => {});
    const second = await store.beginQuery(mine);
    assert.deepEqual((await store.query(theirs))?.reason, "process_lost");
    assert.deepEqual([(await store.query(second))?.running, (await store.query(free))?.running], [true, true]);
    const third = newQuery(made.branchId, "third", { owner: { ...thisProcess(), pid: 1, started: startedOf(1) } });
    await assert.rejects(store.beginQuery(third), BusyError, "what was taken over is leased");
    await store.close();
    await other.rest();
  });
});

function startedOf(pid: number): string {
  const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}
