import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import type { ConversationArchive } from "../../src/persistence/archive_schema.ts";
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

/** The archive without cells that came later, which are NULL. Its hash is that of the known one. */
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
