import assert from "node:assert/strict";
import { ConversationPrograms } from "../../src/environment/environment_for_extensions.ts";
import type { Spawned, SpawnOptions } from "../../src/extension/spawn_types.ts";

/** Makes a wall whose programs run until their signal, and take a while to end. */
function wall() {
  const asked: SpawnOptions[] = [];
  let ended = 0;
  const spawn = (_workspace: string, _argv: readonly string[], options: SpawnOptions): Promise<Spawned> => {
    asked.push(options);
    return new Promise((_resolve, reject) => {
      options.signal?.addEventListener("abort", async () => {
        await new Promise((resolve) => setTimeout(resolve, 1));
        ended++;
        reject(options.signal?.reason);
      });
    });
  };
  return { spawn, asked, ended: () => ended };
}

Deno.test("ConversationPrograms.bind() ends programs with their call, except the conversation's own", async () => {
  const programs = new ConversationPrograms();
  const { spawn, asked } = wall();
  const call = new AbortController();
  const own = new AbortController();
  const start = programs.bind(spawn, { workspace: "/w", signal: call.signal });
  const short = start(["a"]);
  const long = start(["b"], { lifetime: "conversation" });
  const given = start(["c"], { lifetime: "conversation", signal: own.signal });
  call.abort(new Error("The call is over"));
  await assert.rejects(short, /The call is over/);
  assert.equal(asked[1]?.signal?.aborted, false);
  own.abort(new Error("Enough"));
  await assert.rejects(given, /Enough/);
  const closing = programs.close();
  await assert.rejects(long, /its conversation was closed/);
  await closing;
});

Deno.test("ConversationPrograms.bind() ends a program whose call has returned, without a rejection that nobody handles", async () => {
  const programs = new ConversationPrograms();
  const { spawn, asked, ended } = wall();
  const returned = new AbortController();
  const start = programs.bind(spawn, {
    workspace: "/w",
    signal: new AbortController().signal,
    ended: returned.signal,
  });
  void start(["forgotten"]);
  const long = start(["b"], { lifetime: "conversation" });
  returned.abort();
  assert.deepEqual(asked.map(({ signal }) => signal?.aborted), [true, false]);
  const closing = programs.close();
  await assert.rejects(long, /its conversation was closed/);
  await closing;
  assert.equal(ended(), 2);
});

Deno.test("ConversationPrograms.close() waits until nothing is left, and starts nothing afterwards", async () => {
  const programs = new ConversationPrograms();
  const { spawn, asked, ended } = wall();
  const start = programs.bind(spawn, { workspace: "/w", signal: new AbortController().signal });
  const running = [start(["a"]), start(["b"], { lifetime: "conversation" })].map((one) => one.catch(() => {}));
  await programs.close();
  assert.equal(ended(), 2);
  await Promise.all(running);
  void start(["late"], { lifetime: "conversation" }).catch(() => {});
  assert.equal(asked[2]?.signal?.aborted, true);
});

Deno.test("ConversationPrograms reports once a titled program that failed without being ended", async () => {
  const programs = new ConversationPrograms();
  const ENDED: Spawned = {
    ...{ code: 0, signal: null, stdout: "", stderr: "", ms: 1 },
    ...{ timedOut: false, truncated: false, notes: [] },
  };
  const run = async (how: Partial<Spawned>, options: SpawnOptions): Promise<void> => {
    const start = programs.bind(() => Promise.resolve({ ...ENDED, ...how }), {
      workspace: "/w",
      signal: new AbortController().signal,
    });
    await start(["a"], { lifetime: "conversation", ...options });
  };
  await run({}, { title: "good" });
  await run({ code: 1 }, {});
  await run({ code: 143, signal: "SIGTERM" }, { title: "stopped", stop: AbortSignal.abort() });
  assert.deepEqual([programs.failed, programs.take()], [[], []]);
  await run({ code: 7 }, { title: "serve" });
  await run({ code: 137, signal: "SIGKILL" }, { title: "x".repeat(500) });
  await run({ code: 143, signal: "SIGTERM", timedOut: true }, { title: "late" });
  const failed = ["serve (exit code 7)", `${"x".repeat(79)}… (ended by SIGKILL)`, "late (timed out)"];
  assert.deepEqual(programs.failed, failed);
  assert.deepEqual(programs.take(), failed.map((how) => `A background command failed: ${how}`));
  assert.deepEqual(programs.take(), []);
  programs.endQuery();
  assert.deepEqual(programs.failed, []);
});
