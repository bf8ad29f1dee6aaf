import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import type { Conversations } from "../../src/conversation/conversations.ts";
import { type Exported, Exports } from "../../src/conversation/export/exports.ts";
import { openStore } from "../../src/persistence/open_store.ts";
import type { Branch } from "../../src/persistence/store.ts";
import { begun, block, image, iterate, queryEnd } from "../conformance/store/fixtures.ts";
import { archiveTextOf } from "../helpers/archive_of.ts";
import { noise } from "../persistence/_filled.ts";
import { withDatabasePath } from "../persistence/_temp_database.ts";

async function textOf(made: Exported): Promise<string> {
  const bytes = await Array.fromAsync(made.pieces());
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(await new Blob(bytes).arrayBuffer());
}

const files = async () => (await readdir(tmpdir())).filter((name) => name.startsWith("vis-export-"));

/** The part of conversations that an export uses. `exportConversation` returns rows of any length. */
function conversationsOf(exportConversation: Conversations["stored"]["exportConversation"]): Conversations {
  return { stored: { exportConversation } } as unknown as Conversations;
}

const BRANCH = { conversationId: "c", branchId: "b" } as Branch;

Deno.test("an export is complete before it is read, in a file without a name if it is large, and the same as its parts", async () => {
  await withDatabasePath(async (path) => {
    const store = await openStore({ path });
    const ids = await begun(store);
    const text = `${"wort ".repeat(300_000)}\u{1f600}\u200d é`;
    const saved = [image("v", { bytes: noise("export", 3_300_000) })];
    await iterate(store, {
      queryId: ids.queryId,
      position: 0,
      blocks: [block("const v = 1", { saved, result: { stdout: text } })],
    });
    await store.endQuery(ids.queryId, queryEnd({ answer: "done" }));
    const before = await files();
    const conversations = conversationsOf((id, take) => store.exportConversation(id, take));
    const branch = { ...BRANCH, conversationId: ids.conversationId };
    {
      await using made = await new Exports().make(branch, { conversations, format: "json" });
      assert.ok(made.bytes > 5_500_000);
      assert.deepEqual(await files(), before);
      const found = await textOf(made);
      assert.equal(new TextEncoder().encode(found).length, made.bytes);
      assert.ok(found === await archiveTextOf(store, ids.conversationId));
      assert.ok(await textOf(made) === found, "it can be read again");
      const { contents } = JSON.parse(found) as { contents: { text?: string; base64?: string[] }[] };
      assert.ok(contents.some((one) => one.text === text));
      assert.deepEqual(contents.map(({ base64 }) => base64?.length).filter((one) => one !== undefined), [2]);
    }
    const small = new Exports({ archiveBytes: 5_500_000 });
    await assert.rejects(small.make(branch, { conversations, format: "json" }), {
      name: "UsageError",
      message: /^Cannot export the conversation: it is larger than 5 MiB, the limit; back up the database instead/,
    });
    await store.close();
  });
});

Deno.test("exports are made one after the other; an abandoned or failed one lets the next one begin", async () => {
  const gate = Promise.withResolvers<void>();
  const began: string[] = [];
  const conversations = conversationsOf(async (conversationId, take) => {
    began.push(conversationId);
    await take({ format: "f", version: 1 });
    if (conversationId === "first") await gate.promise;
    if (conversationId === "bad") throw new Error("damaged");
  });
  const exports = new Exports();
  const make = (conversationId: string, signal?: AbortSignal) =>
    exports.make({ ...BRANCH, conversationId }, { conversations, format: "json", ...(signal ? { signal } : {}) });
  const first = make("first");
  const leaving = new AbortController();
  const second = assert.rejects(make("second", leaving.signal));
  const bad = assert.rejects(make("bad"), { message: "damaged" });
  const last = make("last");
  leaving.abort();
  await second;
  assert.deepEqual(began, ["first"]);
  gate.resolve();
  await bad;
  for (const one of [await first, await last]) await one[Symbol.asyncDispose]();
  assert.deepEqual(began, ["first", "bad", "last"]);
});

Deno.test("exports that no client reads to their end are bounded", async () => {
  const conversations = conversationsOf((_id, take) => take({ format: "f", version: 1 }));
  const exports = new Exports();
  const make = () => exports.make(BRANCH, { conversations, format: "json" });
  const open: Exported[] = [];
  const refused = await (async () => {
    for (let at = 0; at < 100; at++) open.push(await make());
  })().then(() => null, (error: unknown) => error);
  assert.ok(refused instanceof Error && refused.name === "BusyError" && open.length === 32);
  await open[0]?.[Symbol.asyncDispose]();
  await open[0]?.[Symbol.asyncDispose]();
  open.push(await make());
  await assert.rejects(make(), { name: "BusyError" });
  for (const one of open) await one[Symbol.asyncDispose]();
});
