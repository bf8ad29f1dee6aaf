import { Buffer } from "node:buffer";
import { COLUMNS } from "../schema/columns.ts";
import { Content } from "../content/content.ts";
import { toJson } from "../database/json.ts";

const PREFIX = "sha256:";
/** A text or value that is longer is among the contents, wherever the database has it. */
const INLINE_CHARS = 1024;

/** How an archive stores the cells of a table. Cells that are not named here are stored as they are. */
export interface CellKinds {
  /** Texts that may be in `content`. */
  readonly texts?: readonly string[];
  /** JSON that may be in `content`. */
  readonly json?: readonly string[];
  /** JSON that is always in its column. */
  readonly plainJson?: readonly string[];
  /** Bytes that may be in `content`. */
  readonly bytes?: readonly string[];
  /** The same with JSON in UTF-8. */
  readonly jsonBytes?: readonly string[];
}

/** The tables of an archive, in an order in which referenced tables come first. */
export const ARCHIVE_TABLES = {
  conversationSoul: { json: ["metadata"] },
  conversationState: { texts: ["title"], plainJson: ["metadata"] },
  querySoul: { texts: ["title"], json: ["metadata"] },
  queryState: { texts: ["promptEnrichment", "subtitle", "runLabel"], json: ["metadata"] },
  iteration: {
    texts: ["llmSystemPrompt", "llmUserPrompt", "llmResponse", "llmThinking", "llmError"],
    json: ["llmTraces", "metadata"],
  },
  expressionSoul: { plainJson: ["metadata"] },
  expressionState: { texts: ["stdout", "stderr"], json: ["metadata"], bytes: ["result"], jsonBytes: ["error"] },
  expressionDependency: { plainJson: ["metadata"] },
  scopeChange: {},
  extensionState: { texts: ["value"] },
  childBranch: {},
  subCall: { texts: ["prompt", "reply", "error"], plainJson: ["usage"] },
} as const satisfies Readonly<Record<string, CellKinds>>;

/** Cells that locate a row in this database; an import computes them again. */
const OWN: ReadonlySet<string> = new Set([
  "activity",
  "tenant",
  "queries",
  "number",
  "runs",
]);

export type ArchiveTable = keyof typeof ARCHIVE_TABLES;
export type Row = Readonly<Record<string, unknown>>;

/** The cells of a row that go into an archive. */
export function archived(table: ArchiveTable, row: Row): Row {
  return Object.fromEntries(COLUMNS[table].filter((column) => !OWN.has(column)).map((column) => [column, row[column]]));
}

/** Converts a row of the database to its form in an archive. Its JSON must be loaded into `content`; `refer` receives
 * what its other cells refer to. */
export function toArchiveRow(
  row: Row,
  { kinds, content, refer, adopt }: {
    readonly kinds: CellKinds;
    readonly content: Content;
    readonly refer: (hash: string) => void;
    /** Returns the hash of a long cell. */
    readonly adopt: (column: string, bytes: Uint8Array) => string;
  },
): Row {
  const named = (hash: string) => {
    refer(hash);
    return { content: hash };
  };
  const reference = (cell: string) => named(cell.slice(PREFIX.length));
  const parse = (text: string): unknown => JSON.parse(text);
  const { large }: { readonly large?: string } = kinds.bytes === undefined
    ? {}
    : JSON.parse(content.text(String(row["metadata"])));
  return Object.fromEntries(
    Object.entries(row).map(([column, cell]) => {
      if (cell === null) return [column, column === "result" && large !== undefined ? reference(large) : cell];
      const has = (columns: readonly string[] = []) => columns.includes(column);
      if (has(kinds.texts) && isReference(cell)) return [column, reference(cell)];
      if (has(kinds.texts) && typeof cell === "string" && cell.length > INLINE_CHARS) {
        return [column, named(adopt(column, new TextEncoder().encode(cell)))];
      }
      if (has(kinds.bytes) && cell instanceof Uint8Array && cell.length > INLINE_CHARS) {
        return [column, named(adopt(column, cell))];
      }
      if (has(kinds.json) && typeof cell === "string") return [column, parse(content.text(cell))];
      if (has(kinds.plainJson) && typeof cell === "string") return [column, parse(cell)];
      if (has(kinds.bytes)) {
        return [column, isReference(cell) ? reference(cell) : { base64: bytesOf(cell).toString("base64") }];
      }
      if (has(kinds.jsonBytes)) {
        return [column, parse(Buffer.from(isReference(cell) ? content.bytes(cell) : bytesOf(cell)).toString())];
      }
      return [column, cell];
    }),
  );
}

/** What must be loaded before rows of a table are converted for an archive. */
export function jsonCells(rows: readonly Row[], { json = [], jsonBytes = [] }: CellKinds): unknown[] {
  return rows.flatMap((row) => [...json, ...jsonBytes].map((column) => row[column]));
}

/** Converts a row of an archive to the cells of the database. `bytesIn` returns the bytes for a hash; `before` is the
 * cell of the previous version. */
export async function fromArchiveRow(
  row: Row,
  { kinds, content, bytesIn, before }: {
    readonly kinds: CellKinds;
    readonly content: Content;
    readonly bytesIn: (hash: string) => Uint8Array;
    readonly before: Uint8Array | string | null;
  },
): Promise<Row> {
  const cells: Record<string, unknown> = {};
  for (const [column, cell] of Object.entries(row)) {
    const has = (columns: readonly string[] = []) => columns.includes(column);
    const stored = async (): Promise<unknown> => {
      if (cell === null) return null;
      if (has(kinds.texts)) {
        return await content.putText(typeof cell === "string" ? cell : textOf(bytesIn(hashIn(cell))));
      }
      if (has(kinds.json)) return await content.putText(toJson(cell as Row));
      if (has(kinds.plainJson)) return toJson(cell as Row);
      if (has(kinds.bytes)) return await content.putBytes(valueOf(cell as Value, bytesIn), before);
      if (has(kinds.jsonBytes)) return await content.putBytes(Buffer.from(toJson(cell as Row)));
      return cell;
    };
    cells[column] = await stored();
  }
  return cells;
}

/** Decodes the bytes of a text that may be in `content`. */
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

/** The bytes of a cell that is not a reference. */
function bytesOf(cell: unknown): Buffer {
  return cell instanceof Uint8Array ? Buffer.from(cell) : Buffer.from(String(cell));
}
