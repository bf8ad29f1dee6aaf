import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { UsageError } from "../../domain/errors.ts";
import { newId } from "../../domain/kit/ids.ts";
import type { ConversationArchive } from "../../domain/records/conversation_archive.ts";
import type { ContentSource, ImportReport } from "../../domain/records/conversations.ts";
import { Content } from "../content/content.ts";
import { putLarge } from "../content/large_text.ts";
import type { Database } from "../database/database.ts";
import { insertRow } from "../database/insert_row.ts";
import { moveToFront } from "../runs/activity.ts";
import { ARCHIVE_TABLES, type ArchiveTable, type CellKinds, fromArchiveRow, type Row } from "./cells.ts";

const PIECE_BYTES = 4 << 20;

/** `Store.importConversation`: one transaction. */
export async function importConversation(
  db: Database,
  { archive, workspace, contents = contentsByHash(archive.contents) }: {
    readonly archive: ConversationArchive;
    readonly workspace: string;
    readonly contents?: ContentSource;
  },
): Promise<ImportReport> {
  const { tables } = archive;
  const ids = newIds(tables);
  const places = placesOf(tables, db.ownTenant);
  const bytesIn = (hash: string): Uint8Array => contents.get(hash) ?? missing(`text ${hash}`);
  try {
    await db.write(async (tx) => {
      await tx.deferReferences();
      const content = new Content(tx);
      for (const [name, kinds] of Object.entries(ARCHIVE_TABLES) as [ArchiveTable, CellKinds][]) {
        const results = new Map<unknown, Uint8Array | string | null>();
        for (const given of ordered(name, tables)) {
          const row = await ownRow(name, { row: given, ids, content, workspace, bytesIn });
          const soul = row["expressionSoulId"];
          const before = results.get(soul) ?? null;
          const cells = await cellsOf(row, { kinds, content, bytesIn, before, contents, large: largeOf(name, given) });
          if (soul !== undefined) results.set(soul, cells["result"] as Uint8Array | string | null);
          // The archive was checked against the columns of the table that each group of rows is named after.
          await insertRow(tx, name, { ...cells, ...places.get(String(given["id"])) } as never);
        }
      }
      const conversationId = ids.get(tables.conversationSoul[0]?.id ?? "") ?? missing("conversation");
      await moveToFront(tx, { conversationId, activity: 0, metadata: null });
    });
  } catch (error) {
    throw contradiction(db, error) ?? error;
  }
  const [soul] = tables.conversationSoul;
  return { conversationId: ids.get(soul?.id ?? "") ?? missing("conversation"), ids };
}

/** The cells of branches and queries that count the rows below them, by the id in the file. */
function placesOf(
  { conversationSoul, conversationState, querySoul, queryState }: ConversationArchive["tables"],
  tenant: string,
): ReadonlyMap<string, Row> {
  const places = new Map<string, Row>(conversationSoul.map(({ id }) => [id, { activity: 0, tenant }]));
  const runs = new Map<string, number>();
  for (const { querySoulId, version } of queryState) {
    runs.set(querySoulId, Math.max(runs.get(querySoulId) ?? 0, version + 1));
  }
  for (const { id } of conversationState) {
    const queries = querySoul.filter(({ conversationStateId }) => conversationStateId === id);
    queries.forEach((query, number) => places.set(query.id, { number, runs: runs.get(query.id) ?? 0 }));
    places.set(id, { queries: queries.length });
  }
  return places;
}

/** New ids sort in the order of the old ones. */
function newIds(tables: ConversationArchive["tables"]): ReadonlyMap<string, string> {
  const old = Object.values(tables).flatMap((rows) => rows.flatMap((row) => "id" in row ? [row.id] : []));
  if (new Set(old).size < old.length) throw new UsageError("Cannot import conversation: two rows have the same id");
  return new Map(old.sort().map((id) => [id, newId()]));
}

function contentsByHash(contents: ConversationArchive["contents"]): ContentSource {
  const found = new Map<string, Uint8Array<ArrayBuffer>>();
  for (const one of contents) {
    const bytes = "text" in one
      ? new TextEncoder().encode(one.text)
      : new Uint8Array(Buffer.concat(one.base64.map((piece) => Buffer.from(piece, "base64"))));
    if (createHash("sha256").update(bytes).digest("hex") !== one.sha256) {
      throw new UsageError(`Cannot import conversation: text ${one.sha256} was changed: its hash does not match`);
    }
    found.set(one.sha256, bytes);
  }
  return { get: (hash) => found.get(hash), pieces: (hash) => [found.get(hash) ?? missing(`text ${hash}`)] };
}

/** Rows are stored in the order of the file, which is the order in which they were first stored; versions are grouped
 * by variable there. */
function ordered(name: ArchiveTable, tables: ConversationArchive["tables"]): readonly Row[] {
  if (name !== "expressionState") return tables[name];
  const places = new Map(tables.iteration.map(({ id }, at) => [id, at]));
  const place = (id: string): number => places.get(id) ?? places.size;
  return tables[name].toSorted((a, b) => place(a.iterationId) - place(b.iterationId) || (a.id < b.id ? -1 : 1));
}

interface Given {
  readonly row: Row;
  readonly ids: ReadonlyMap<string, string>;
  readonly content: Content;
  readonly workspace: string;
  readonly bytesIn: (hash: string) => Uint8Array;
}

/** Converts a row to one of this database: with new ids and this workspace, and without the chat that it came from. */
async function ownRow(table: ArchiveTable, given: Given): Promise<Row> {
  const { row, ids } = given;
  const own = (id: unknown): string => ids.get(String(id)) ?? missing(`row ${id}`);
  const renewed = Object.fromEntries(
    Object.entries(row).map((
      [column, cell],
    ) => [column, cell !== null && (column === "id" || column.endsWith("Id")) ? own(cell) : cell]),
  );
  const metadata = row["metadata"];
  if (typeof metadata !== "object" || metadata === null) return renewed;
  return { ...renewed, metadata: await ownMetadata(table, { ...given, metadata: { ...metadata }, own }) };
}

async function ownMetadata(
  table: ArchiveTable,
  { metadata, own, content, workspace, bytesIn }: Given & {
    readonly metadata: Row;
    readonly own: (id: unknown) => string;
  },
): Promise<Row> {
  const renewed = (key: string) => typeof metadata[key] === "string" ? { [key]: own(metadata[key]) } : {};
  switch (table) {
    case "conversationSoul": {
      const { externalId: _chat, ...rest } = metadata;
      return { ...rest, workspace };
    }
    case "conversationState": {
      const fork = metadata["fork"] as Row | undefined;
      if (!fork) return metadata;
      return { ...metadata, fork: { ...fork, queryId: own(fork["queryId"]), soulId: own(fork["soulId"]) } };
    }
    case "querySoul": {
      const images = metadata["images"] as readonly Row[] | undefined;
      if (!images) return metadata;
      const stored: Row[] = [];
      for (const image of images) stored.push(await ownImage(image, { content, bytesIn }));
      return { ...metadata, images: stored };
    }
    case "expressionSoul":
      return { ...metadata, ...renewed("inheritedFrom") };
    case "expressionDependency":
      return { ...metadata, ...renewed("iteration") };
    case "expressionState":
      return { ...metadata, ...renewed("block") };
    default:
      return metadata;
  }
}

async function ownImage(image: Row, { content, bytesIn }: Pick<Given, "content" | "bytesIn">): Promise<Row> {
  const reference = image["content"];
  if (typeof reference !== "string") return image;
  const cell = await content.putApart(bytesIn(reference.slice("sha256:".length)));
  const { mediaType } = image;
  return typeof cell === "string"
    ? { mediaType, content: cell }
    : { mediaType, base64: Buffer.from(cell).toString("base64") };
}

/** For a version whose text is too large to pass around: the hash of the text. */
function largeOf(table: ArchiveTable, row: Row): string | null {
  if (table !== "expressionState") return null;
  const { large } = row["metadata"] as { readonly large?: string };
  return large?.slice("sha256:".length) ?? null;
}

async function cellsOf(
  row: Row,
  { large, contents, ...how }: Parameters<typeof fromArchiveRow>[1] & {
    readonly large: string | null;
    readonly contents: ContentSource;
  },
): Promise<Row> {
  if (large === null) return await fromArchiveRow(row, how);
  const { result: _result, ...rest } = row;
  const result = how.content.largeCell(await putLarge(how.content.db, pieces(contents.pieces(large))));
  return { ...await fromArchiveRow(rest, how), result };
}

/** The same bytes in pieces of a size that does not depend on the archive. */
async function* pieces(source: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const whole = new Uint8Array(PIECE_BYTES);
  let filled = 0;
  for (const piece of source) {
    for (let from = 0; from < piece.length;) {
      const part = piece.subarray(from, from + PIECE_BYTES - filled);
      whole.set(part, filled);
      filled += part.length;
      from += part.length;
      if (filled < PIECE_BYTES) continue;
      yield whole.slice();
      filled = 0;
    }
  }
  if (filled > 0) yield whole.slice(0, filled);
}

function missing(what: string): never {
  throw new UsageError(`Cannot import conversation: ${what} is missing in the file`);
}

/** The error for rows that violate a rule of the schema. */
function contradiction(db: Database, error: unknown): UsageError | null {
  if (error instanceof UsageError || !db.breaksRule(error)) return null;
  return new UsageError(`Cannot import conversation: its rows contradict each other (${error.message})`, {
    cause: error,
  });
}
