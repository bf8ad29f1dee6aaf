import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import type { ConversationArchive } from "../../src/persistence/archive_schema.ts";
import type { Store } from "../../src/persistence/store.ts";
import { archiveTextOf } from "../helpers/archive_of.ts";

export async function unpacked(name: string): Promise<Uint8Array> {
  return gunzipSync(await readFile(new URL(`fixtures/${name}.gz`, import.meta.url)));
}

/** Compares the store's content with the export of the program that made it. */
export async function readsAs(store: Store, name: string): Promise<void> {
  const [conversation] = await store.listConversations({ limit: 2 });
  const { conversationId = "", branchId = "" } = conversation ?? {};
  const known = new TextDecoder().decode(await unpacked(`${name}.json`));
  assert.deepEqual(
    asKnown(JSON.parse(await archiveTextOf(store, conversationId)), JSON.parse(known)),
    JSON.parse(known),
  );
  assert.equal((await store.queries(branchId)).length, 4);
  assert.deepEqual(
    (await store.liveImages(branchId)).length,
    (await store.variables(branchId)).filter(({ scope }) => scope === "live").length,
  );
  assert.equal((await store.search("mentioned", { limit: 1 })).length, 1);
}

/** Returns the archive without later cells, which are NULL, and with the known hash. */
function asKnown(archive: ConversationArchive, { tables, sha256 }: ConversationArchive): unknown {
  const known: Readonly<Record<string, readonly object[]>> = tables;
  const rows = Object.entries(archive.tables).map(([table, found]) => [
    table,
    found.map((row, at) =>
      Object.fromEntries(
        Object.entries(row).filter(([name, cell]) => cell !== null || name in (known[table]?.[at] ?? {})),
      )
    ),
  ]);
  return { ...archive, tables: Object.fromEntries(rows), sha256 };
}
