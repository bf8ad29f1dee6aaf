import { Buffer } from "node:buffer";
import { MAX_ARCHIVE_BYTES } from "../domain/archive_limits.ts";
import type { ConversationArchive } from "../domain/conversation_archive.ts";
import { UsageError } from "../domain/errors.ts";
import {
  ARCHIVE_TABLES,
  type ArchiveTable,
  type CellKinds,
  jsonCells,
  type Row,
  toArchiveRow,
} from "./_archive_cells.ts";
import { Content } from "./_content.ts";
import type { Database } from "./_database.ts";
import { largePieces } from "./_large_text.ts";

const PIECE_BYTES = 3 << 20;

type Rows = Readonly<Record<ArchiveTable, readonly Row[]>>;

/** All rows of a conversation and what they refer to. Run it in a transaction, so that all is of one moment. */
export async function exportConversation(db: Database, conversationId: string): Promise<ConversationArchive> {
  const content = new Content(db);
  const wanted = new Set<string>();
  const tables: Record<string, readonly Row[]> = {};
  const rows = await readRows(db, conversationId);
  for (const [name, kinds] of entries()) {
    const found = rows[name];
    await content.load(jsonCells(found, kinds));
    tables[name] = found.map((row) =>
      settled(name, toArchiveRow(row, { kinds, content, refer: (hash) => wanted.add(hash) }))
    );
  }
  for (const query of tables["querySoul"] ?? []) for (const hash of imagesOf(query)) wanted.add(hash);
  const contents = await readContents(db, [...wanted].sort());
  // Every row came from the tables that the type describes.
  return { format: "vis conversation", version: 1, tables, contents } as unknown as ConversationArchive;
}

async function readRows(db: Database, conversationId: string): Promise<Rows> {
  const branches = db.selectFrom("conversationState").select("id").where("conversationSoulId", "=", conversationId);
  const queries = db.selectFrom("querySoul").select("id").where("conversationStateId", "in", branches);
  const runs = db.selectFrom("queryState").select("id").where("querySoulId", "in", queries);
  const iterations = db.selectFrom("iteration").select("id").where("queryStateId", "in", runs);
  const souls = db.selectFrom("expressionSoul").select("id").where("conversationStateId", "in", branches);
  return {
    conversationSoul: await db.selectFrom("conversationSoul").select(["id", "metadata", "createdAt"])
      .where("id", "=", conversationId).execute(),
    conversationState: await db.selectFrom("conversationState").selectAll()
      .where("conversationSoulId", "=", conversationId).orderBy("version").execute(),
    querySoul: await db.selectFrom("querySoul").selectAll().where("id", "in", queries).orderBy("rowid").execute(),
    queryState: await db.selectFrom("queryState").selectAll().where("id", "in", runs).orderBy("rowid").execute(),
    iteration: await db.selectFrom("iteration").selectAll().where("id", "in", iterations).orderBy("rowid").execute(),
    expressionSoul: await db.selectFrom("expressionSoul").selectAll().where("id", "in", souls).orderBy("rowid")
      .execute(),
    expressionState: await db.selectFrom("expressionState").selectAll().where("expressionSoulId", "in", souls)
      .orderBy("expressionSoulId").orderBy("version").execute(),
    expressionDependency: await db.selectFrom("expressionDependency").selectAll()
      .where("conversationStateId", "in", branches).orderBy("rowid").execute(),
    scopeChange: await db.selectFrom("scopeChange")
      .select(["expressionSoulId", "queryStateId", "position", "scope", "createdAt"])
      .where("expressionSoulId", "in", souls).orderBy("id").execute(),
    extensionState: await db.selectFrom("extensionState").selectAll().where("conversationStateId", "in", branches)
      .orderBy("rowid").execute(),
    childBranch: await db.selectFrom("childBranch").selectAll().where("conversationStateId", "in", branches)
      .orderBy("rowid").execute(),
    subCall: await db.selectFrom("subCall").selectAll().where("iterationId", "in", iterations).orderBy("rowid")
      .execute(),
  };
}

/** Whatever runs has not ended when the file is read. Earlier versions noted with a query whose process it was. */
function settled(table: ArchiveTable, row: Row): Row {
  if (table !== "queryState" && table !== "iteration") return row;
  const status = row["status"] === "running" ? "interrupted" : row["status"];
  if (table === "iteration") return { ...row, status };
  const { owner: _owner, ...metadata } = row["metadata"] as Row;
  return { ...row, status, metadata };
}

function imagesOf(query: Row): readonly string[] {
  const { images = [] } = query["metadata"] as { readonly images?: readonly { readonly content?: string }[] };
  return images.flatMap(({ content }) => content === undefined ? [] : [content.slice("sha256:".length)]);
}

async function readContents(db: Database, hashes: readonly string[]): Promise<ConversationArchive["contents"]> {
  const contents: ConversationArchive["contents"] = [];
  let total = 0;
  for (const sha256 of hashes) {
    const bytes = await whole(db, sha256);
    total += bytes.length;
    if (total > MAX_ARCHIVE_BYTES) {
      throw new UsageError(
        "Cannot export conversation: it has more than 256 MiB, copy the database with vis db backup",
      );
    }
    const text = utf8(bytes);
    if (text !== null) {
      contents.push({ sha256, text });
      continue;
    }
    const base64: string[] = [];
    for (let i = 0; i < bytes.length; i += PIECE_BYTES) {
      base64.push(Buffer.from(bytes.subarray(i, i + PIECE_BYTES)).toString("base64"));
    }
    contents.push({ sha256, base64 });
  }
  return contents;
}

async function whole(db: Database, hash: string): Promise<Uint8Array> {
  const reference = `sha256:${hash}`;
  const row = await db.selectFrom("content").select("encoding").where("hash", "=", hash).executeTakeFirst();
  if (row?.encoding === "chunks") {
    const pieces: Uint8Array[] = [];
    for await (const piece of largePieces(db, reference)) pieces.push(piece);
    return Buffer.concat(pieces);
  }
  const content = new Content(db);
  await content.load([reference]);
  return content.bytes(reference);
}

function utf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function entries(): readonly (readonly [ArchiveTable, CellKinds])[] {
  return Object.entries(ARCHIVE_TABLES) as [ArchiveTable, CellKinds][];
}
