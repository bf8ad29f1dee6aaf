import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import type { Store } from "../../src/persistence/store.ts";
import { archiveTextOf } from "../helpers/archive_of.ts";

/** A fixture that an earlier version of the program made. */
export async function unpacked(name: string): Promise<Uint8Array> {
  return gunzipSync(await readFile(new URL(`fixtures/${name}.gz`, import.meta.url)));
}

/** Compares what it reads with what the program that made it exported. */
export async function readsAs(store: Store, name: string): Promise<void> {
  const [conversation] = await store.listConversations({ limit: 2 });
  const { conversationId = "", branchId = "" } = conversation ?? {};
  const known = new TextDecoder().decode(await unpacked(`${name}.json`));
  assert.deepEqual(JSON.parse(await archiveTextOf(store, conversationId)), JSON.parse(known));
  assert.equal((await store.queries(branchId)).length, 4);
  assert.deepEqual(
    (await store.liveImages(branchId)).length,
    (await store.variables(branchId)).filter(({ scope }) => scope === "live").length,
  );
  assert.equal((await store.search("mentioned", { limit: 1 })).length, 1);
}
