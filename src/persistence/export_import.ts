import { sql } from "kysely";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { UsageError } from "../domain/errors.ts";
import { newId } from "../domain/kit/ids.ts";
import { clip } from "../domain/kit/text.ts";
import type { ContentSource, ImportReport } from "../domain/records/conversations.ts";
import { ARCHIVE_FORMAT, ARCHIVE_VERSION, type ArchivePart, type ConversationArchive } from "./archive_schema.ts";
import { Content, contentPieces, putLarge } from "./long_values.ts";
import { type Database, insertRow, toJson } from "./database.ts";
import { moveToFront } from "./branches.ts";
import {
  ARCHIVED_TABLES,
  archivedColumns,
  type ArchivedTable,
  columnName,
  columnsOf,
  columnsOfKind,
  isOfConversation,
  snakeCase,
} from "./tables.ts";

const PREFIX = "sha256:";
const INLINE_CHARS = 1024;

type Row = Readonly<Record<string, unknown>>;

function archived(table: ArchivedTable, row: Row): Row {
  return Object.fromEntries(archivedColumns(table).map((column) => [column, row[column]]));
}

function toArchiveRow(
  row: Row,
  { table, content, refer, adopt }: {
    readonly table: ArchivedTable;
    readonly content: Content;
    readonly refer: (hash: string) => void;
    readonly adopt: (column: string, bytes: Uint8Array) => string;
  },
): Row {
  const columns = columnsOf(table);
  const named = (hash: string) => {
    refer(hash);
    return { content: hash };
  };
  const reference = (cell: string) => named(cell.slice(PREFIX.length));
  const { large }: { readonly large?: string } = table === "expressionState"
    ? JSON.parse(content.text(String(row["metadata"])))
    : {};
  const given = (column: string, cell: unknown): unknown => {
    if (cell === null) return column === "result" && large !== undefined ? reference(large) : cell;
    switch (columns[column]?.kind) {
      case "long":
        if (isReference(cell)) return reference(cell);
        return String(cell).length > INLINE_CHARS ? named(adopt(column, new TextEncoder().encode(String(cell)))) : cell;
      case "json":
        return JSON.parse(content.text(String(cell)));
      case "plainJson":
        return JSON.parse(String(cell));
      case "bytes":
        if (isReference(cell)) return reference(cell);
        return cell instanceof Uint8Array && cell.length > INLINE_CHARS
          ? named(adopt(column, cell))
          : { base64: bytesOf(cell).toString("base64") };
      case "jsonBytes":
        return JSON.parse(Buffer.from(isReference(cell) ? content.bytes(cell) : bytesOf(cell)).toString());
      default:
        return cell;
    }
  };
  return Object.fromEntries(Object.entries(row).map(([column, cell]) => [column, given(column, cell)]));
}

async function fromArchiveRow(
  row: Row,
  { table, content, bytesIn, before }: {
    readonly table: ArchivedTable;
    readonly content: Content;
    readonly bytesIn: (hash: string) => Uint8Array;
    readonly before: Uint8Array | string | null;
  },
): Promise<Row> {
  const columns = columnsOf(table);
  const stored = async (column: string, cell: unknown): Promise<unknown> => {
    if (cell === null) return null;
    switch (columns[column]?.kind) {
      case "long":
        return await content.putText(typeof cell === "string" ? cell : textOf(bytesIn(hashIn(cell))));
      case "json":
        return await content.putText(toJson(cell as Row));
      case "plainJson":
        return toJson(cell as Row);
      case "bytes":
        return await content.putBytes(valueOf(cell as Value, bytesIn), before);
      case "jsonBytes":
        return await content.putBytes(Buffer.from(toJson(cell as Row)));
      default:
        return cell;
    }
  };
  const cells: Record<string, unknown> = {};
  for (const [column, cell] of Object.entries(row)) cells[column] = await stored(column, cell);
  return cells;
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

type Value = { readonly base64: string } | { readonly content: string };

function valueOf(cell: Value, bytesIn: (hash: string) => Uint8Array): Uint8Array {
  return "content" in cell ? bytesIn(cell.content) : new Uint8Array(Buffer.from(cell.base64, "base64"));
}

function hashIn(cell: unknown): string {
  return (cell as { readonly content: string }).content;
}

function isReference(cell: unknown): cell is string {
  return typeof cell === "string" && cell.startsWith(PREFIX);
}

function bytesOf(cell: unknown): Buffer {
  return cell instanceof Uint8Array ? Buffer.from(cell) : Buffer.from(String(cell));
}

const ROWS_AT_ONCE = 20;

interface Order {
  readonly by: string;
  readonly key: string;
}

const STORED: Order = { by: "t.rowid", key: "id" };
const ORDER: { readonly [T in ArchivedTable]?: Order } = {
  conversationState: { by: "t.version", key: "id" },
  expressionState: { by: "t.expression_soul_id, t.version", key: "id" },
  scopeChange: { by: "t.id", key: "id" },
  childBranch: { by: "t.rowid", key: "conversation_state_id" },
};

interface LongCell {
  readonly table: ArchivedTable;
  readonly key: unknown;
  readonly column: string;
}

/** The caller must run this function in a transaction, so that the archive is one snapshot. `take` may get parts before
 * the function rejects with `Damage`. */
export async function exportConversation(
  db: Database,
  { conversationId, take }: {
    readonly conversationId: string;
    readonly take: (part: ArchivePart) => Promise<void>;
  },
): Promise<void> {
  const wanted = new Set<string>();
  const inRows = new Map<string, LongCell>();
  await take({ format: ARCHIVE_FORMAT, version: ARCHIVE_VERSION });
  for (const table of ARCHIVED_TABLES) {
    await take({ table });
    for await (const { row, content } of rowsOf(db, { table, conversationId })) {
      const adopt = (column: string, bytes: Uint8Array): string => {
        const hash = createHash("sha256").update(bytes).digest("hex");
        inRows.set(hash, { table, key: row[camelKey(table)], column });
        return hash;
      };
      const refer = (hash: string) => wanted.add(hash);
      const given = settled(table, toArchiveRow(archived(table, row), { table, content, refer, adopt }));
      if (table === "querySoul") { for (const hash of imagesOf(given)) refer(hash); }
      await take({ row: given });
    }
  }
  for (const sha256 of [...wanted].sort()) {
    const cell = inRows.get(sha256);
    const pieces = () => cell === undefined ? contentPieces(db, PREFIX + sha256) : longCellBytes(db, cell);
    await take({ sha256, pieces });
  }
}

async function* rowsOf(
  db: Database,
  { table, conversationId }: { readonly table: ArchivedTable; readonly conversationId: string },
): AsyncGenerator<{ readonly row: Row; readonly content: Content }> {
  const { by, key } = ORDER[table] ?? STORED;
  const name = sql.raw(snakeCase(table));
  const { rows: keys } = await sql<{ key: string | number }>`SELECT t.${sql.raw(key)} AS key FROM ${name} t
    WHERE ${isOfConversation(table, conversationId)} ORDER BY ${sql.raw(by)}`.execute(db);
  for (let from = 0; from < keys.length; from += ROWS_AT_ONCE) {
    const some = keys.slice(from, from + ROWS_AT_ONCE).map((one) => one.key);
    const { rows } = await sql<Row>`SELECT t.* FROM ${name} t
      WHERE t.${sql.raw(key)} IN (${sql.join(some)}) ORDER BY ${sql.raw(by)}`.execute(db);
    const content = new Content(db);
    const converted = columnsOfKind(table, "json", "jsonBytes");
    await content.load(rows.flatMap((row) => converted.map((column) => row[column])));
    for (const row of rows) yield { row, content };
  }
}

function keyOf(table: ArchivedTable): string {
  return (ORDER[table] ?? STORED).key;
}

function camelKey(table: ArchivedTable): string {
  return columnName(keyOf(table));
}

async function* longCellBytes(db: Database, { table, key, column }: LongCell): AsyncGenerator<Uint8Array> {
  const { rows: [row] } = await sql<{ cell: unknown }>`SELECT ${sql.raw(snakeCase(column))} AS cell
    FROM ${sql.raw(snakeCase(table))} WHERE ${sql.raw(keyOf(table))} = ${key}`.execute(db);
  const cell = row?.cell;
  yield cell instanceof Uint8Array ? cell : new TextEncoder().encode(String(cell));
}

function settled(table: ArchivedTable, row: Row): Row {
  if (table !== "queryState" && table !== "iteration") return row;
  const status = row["status"] === "running" ? "interrupted" : row["status"];
  if (table === "iteration") return { ...row, status };
  const { owner: _owner, ...metadata } = row["metadata"] as Row;
  return { ...row, status, metadata };
}

function imagesOf(query: Row): readonly string[] {
  const { images = [] } = query["metadata"] as { readonly images?: readonly { readonly content?: string }[] };
  return images.flatMap(({ content }) => content === undefined ? [] : [content.slice(PREFIX.length)]);
}

const PIECE_BYTES = 4 << 20;

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
      await tx.dialect.deferReferences(tx);
      const content = new Content(tx);
      for (const name of ARCHIVED_TABLES) {
        const results = new Map<unknown, Uint8Array | string | null>();
        for (const given of ordered(name, tables)) {
          const row = await ownRow(name, { row: given, ids, content, workspace, bytesIn });
          const soul = row["expressionSoulId"];
          const before = results.get(soul) ?? null;
          const cells = await cellsOf(row, {
            table: name,
            content,
            bytesIn,
            before,
            contents,
            large: largeOf(name, given),
          });
          if (soul !== undefined) results.set(soul, cells["result"] as Uint8Array | string | null);
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

/** The new ids have the order of the old ids. */
function newIds(tables: ConversationArchive["tables"]): ReadonlyMap<string, string> {
  const old = Object.values(tables).flatMap((rows) => rows.flatMap((row) => "id" in row ? [row.id] : []));
  const twice = old.find((id, at) => old.indexOf(id) < at);
  if (twice !== undefined) throw refused(`two rows of the file have the id ${clip(twice, 80)}`);
  return new Map(old.sort().map((id) => [id, newId()]));
}

function contentsByHash(contents: ConversationArchive["contents"]): ContentSource {
  const found = new Map<string, Uint8Array<ArrayBuffer>>();
  for (const one of contents) {
    const bytes = "text" in one
      ? new TextEncoder().encode(one.text)
      : new Uint8Array(Buffer.concat(one.base64.map((piece) => Buffer.from(piece, "base64"))));
    if (createHash("sha256").update(bytes).digest("hex") !== one.sha256) {
      throw refused(`text ${one.sha256} does not match its hash`);
    }
    found.set(one.sha256, bytes);
  }
  return { get: (hash) => found.get(hash), pieces: (hash) => [found.get(hash) ?? missing(`text ${hash}`)] };
}

/** The archive has the rows of `expressionState` in the order of their variables, but an import needs the order of the
 * iterations. */
function ordered(name: ArchivedTable, tables: ConversationArchive["tables"]): readonly Row[] {
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

async function ownRow(table: ArchivedTable, given: Given): Promise<Row> {
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
  table: ArchivedTable,
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

function largeOf(table: ArchivedTable, row: Row): string | null {
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
  const result = how.content.db.dialect.largeCell(await putLarge(how.content.db, pieces(contents.pieces(large))));
  return { ...await fromArchiveRow(rest, how), result };
}

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
  throw refused(`the file lacks ${clip(what, 100)}`);
}

function refused(why: string, options?: ErrorOptions): UsageError {
  return new UsageError(`Cannot import the conversation: ${why}; export the conversation again`, options);
}

function contradiction(db: Database, error: unknown): UsageError | null {
  if (error instanceof UsageError || !db.dialect.breaksRule(error)) return null;
  return refused(`its rows contradict each other (${error.message})`, { cause: error });
}
