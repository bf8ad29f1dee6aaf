import assert from "node:assert/strict";
import { ConversationPrograms } from "../../src/environment/conversation_programs.ts";
import type { Spawned, SpawnOptions } from "../../src/extension/spawned.ts";

/** A wall whose programs go on until their signal, and take a while to end. */
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

Deno.test("ConversationPrograms.bind() ends programs with their call, but for those of the conversation", async () => {
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
  await assert.rejects(long, /the conversation was closed/);
  await closing;
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
