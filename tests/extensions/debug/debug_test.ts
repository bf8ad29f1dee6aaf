import assert from "node:assert/strict";
import debug from "../../../extensions/debug/mod.ts";
import { StoredHistory } from "../../../src/environment/environment_for_extensions.ts";
import type { EnvironmentView } from "../../../src/extension/mod.ts";
import { ExtensionRegistry } from "../../../src/extension/registry.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { begun, block, iterate } from "../../conformance/store/fixtures.ts";
import { recordingLog, VIEW } from "../../extension/_sample.ts";

Deno.test("debug shows the sent messages, the run blocks and their times, and adds no text to a prompt", async () => {
  const store = await openStore({ path: ":memory:" });
  const ids = await begun(store, { text: "Where is the jam?" });
  for (const position of [0, 1]) {
    const blocks = [block(`const a = ${position}`, { result: { preview: "0", ms: 7.4 } })];
    await iterate(store, { queryId: ids.queryId, position, blocks });
  }
  const registry = new ExtensionRegistry({ log: recordingLog().log });
  registry.register(debug);
  const env: EnvironmentView = { ...VIEW, conversationId: ids.conversationId, db: new StoredHistory(store, ids) };
  const active = await registry.activate(env);
  const signal = new AbortController().signal;
  const call = (name: string, ...args: unknown[]) => active.call(`debug.${name}`, args, { env, signal });
  assert.deepEqual(active.blocks, []);
  const sent = await call("prompt") as { role: string; text: string; chars: number }[];
  assert.ok(sent.length > 0 && sent.every(({ role, text, chars }) => role !== "" && text.length === chars));
  const all = await call("iterations") as { number: number; request: string; blocks: { code: string }[] }[];
  assert.deepEqual(all.map(({ number, request }) => `${number} ${request}`), [
    "1 Where is the jam?",
    "2 Where is the jam?",
  ]);
  const [last] = await call("timings", { last: 1 }) as { number: number; modelMs: number; blockMs: number[] }[];
  assert.deepEqual([last?.number, typeof last?.modelMs, last?.blockMs], [2, "number", [7]]);
  assert.equal((await call("state") as EnvironmentView).conversationId, ids.conversationId);
  assert.deepEqual((await registry.activate(VIEW)).functions, []);
  await store.close();
});
