import { Buffer } from "node:buffer";
import { MAX_ARCHIVE_BYTES } from "../../domain/records/archive_limits.ts";
import type { ConversationArchive } from "../../domain/records/conversation_archive.ts";
import { UsageError } from "../../domain/errors.ts";
import { verifyAbsent } from "../database/absent.ts";
import {
  ARCHIVE_TABLES,
  archived,
  type ArchiveTable,
  type CellKinds,
  jsonCells,
  type Row,
  toArchiveRow,
} from "./cells.ts";
import { verifyConversation } from "./tally.ts";
import { Content } from "../content/content.ts";
import { contentPieces } from "../content/content_pieces.ts";
import type { Database } from "../database/database.ts";
import { intact } from "../schema/intact.ts";

const PIECE_BYTES = 3 << 20;

type Rows = Readonly<Record<ArchiveTable, readonly Row[]>>;

/** Exports all rows of a conversation and what they refer to. Run it in a transaction, so that everything is from one
 * moment. */
export async function exportConversation(db: Database, conversationId: string): Promise<ConversationArchive> {
  const content = new Content(db);
  const wanted = new Set<string>();
  const tables: Record<string, readonly Row[]> = {};
  const rows = await readRows(db, conversationId);
  if (rows.conversationSoul.length === 0) {
    await verifyAbsent(db, { table: "conversationSoul", id: conversationId });
  }
  if (db.verifies) verifyConversation(rows, { conversationId, states: await stateSums(db, rows.conversationState) });
  for (const [name, kinds] of entries()) {
    const found = rows[name].map((row) => archived(name, row));
    await content.load(jsonCells(found, kinds));
    tables[name] = found.map((row) =>
      settled(name, toArchiveRow(row, { kinds, content, refer: (hash) => wanted.add(hash) }))
    );
  }
  for (const query of tables["querySoul"] ?? []) for (const hash of imagesOf(query)) wanted.add(hash);
  const contents = await readContents(content, [...wanted].sort());
  // Every row came from the tables that the type describes.
  return { format: "vis conversation", version: 2, tables, contents } as unknown as ConversationArchive;
}

async function readRows(db: Database, conversationId: string): Promise<Rows> {
  const branches = db.selectFrom("conversationState").select("id").where("conversationSoulId", "=", conversationId);
  const queries = db.selectFrom("querySoul").select("id").where("conversationStateId", "in", branches);
  const runs = db.selectFrom("queryState").select("id").where("querySoulId", "in", queries);
  const iterations = db.selectFrom("iteration").select("id").where("queryStateId", "in", runs);
  const soul = db.selectFrom("conversationSoul as t").selectAll("t").select(intact("conversationSoul", "t"));
  const branch = db.selectFrom("conversationState as t").selectAll("t").select(intact("conversationState", "t"));
  const query = db.selectFrom("querySoul as t").selectAll("t").select(intact("querySoul", "t"));
  const run = db.selectFrom("queryState as t").selectAll("t").select(intact("queryState", "t"));
  const iteration = db.selectFrom("iteration as t").selectAll("t").select(intact("iteration", "t"));
  return {
    conversationSoul: await soul.where("t.id", "=", conversationId).execute(),
    conversationState: await branch.where("t.conversationSoulId", "=", conversationId).orderBy("t.version").execute(),
    querySoul: await query.where("t.id", "in", queries).orderBy("t.rowid").execute(),
    queryState: await run.where("t.id", "in", runs).orderBy("t.rowid").execute(),
    iteration: await iteration.where("t.id", "in", iterations).orderBy("t.rowid").execute(),
    ...await expressionRows(db, conversationId),
    extensionState: await db.selectFrom("extensionState as t").selectAll("t").select(intact("extensionState", "t"))
      .where("t.conversationStateId", "in", branches).orderBy("t.rowid").execute(),
    childBranch: await db.selectFrom("childBranch as t").selectAll("t").select(intact("childBranch", "t"))
      .where("t.conversationStateId", "in", branches).orderBy("t.rowid").execute(),
    subCall: await db.selectFrom("subCall as t").selectAll("t").select(intact("subCall", "t"))
      .where("t.iterationId", "in", iterations).orderBy("t.rowid").execute(),
  };
}

async function expressionRows(db: Database, conversationId: string) {
  const branches = db.selectFrom("conversationState").select("id").where("conversationSoulId", "=", conversationId);
  const souls = db.selectFrom("expressionSoul").select("id").where("conversationStateId", "in", branches);
  return {
    expressionSoul: await db.selectFrom("expressionSoul as t").selectAll("t").select(intact("expressionSoul", "t"))
      .where("t.id", "in", souls).orderBy("t.rowid").execute(),
    expressionState: await db.selectFrom("expressionState as t").selectAll("t").select(intact("expressionState", "t"))
      .where("t.expressionSoulId", "in", souls).orderBy("t.expressionSoulId").orderBy("t.version").execute(),
    expressionDependency: await db.selectFrom("expressionDependency as t").selectAll("t")
      .select(intact("expressionDependency", "t")).where("t.conversationStateId", "in", branches).orderBy("t.rowid")
      .execute(),
    scopeChange: await db.selectFrom("scopeChange as t").selectAll("t").select(intact("scopeChange", "t"))
      .where("t.expressionSoulId", "in", souls).orderBy("t.id").execute(),
  };
}

/** Sums of the states of extensions, by branch. */
async function stateSums(db: Database, branches: readonly Row[]): Promise<ReadonlyMap<string, number>> {
  const ids = branches.map(({ id }) => String(id));
  const rows = await db.selectFrom("extensionTally").select((t) => ["branch", t.fn.sum<number>("sum").as("sum")])
    .where("branch", "in", ids).groupBy("branch").execute();
  return new Map(rows.map(({ branch, sum }) => [branch, sum]));
}

/** Settles rows that were still running, since nothing runs when the file is read. Earlier versions stored the owner
 * process with a query. */
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

async function readContents(content: Content, hashes: readonly string[]): Promise<ConversationArchive["contents"]> {
  const contents: ConversationArchive["contents"] = [];
  let total = 0;
  for (const sha256 of hashes) {
    const bytes = await whole(content, sha256);
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

async function whole(content: Content, hash: string): Promise<Uint8Array> {
  const reference = `sha256:${hash}`;
  if (content.has(hash)) return content.bytes(reference);
  return Buffer.concat(await Array.fromAsync(contentPieces(content.db, reference)));
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
