import { createHash } from "node:crypto";
import type { Kysely } from "kysely";
import { chunks } from "./_chunker.ts";
import { compiledRows } from "./_compiled_rows.ts";
import type { Schema } from "./_schema.ts";

const PREFIX = "sha256:";
const INLINE_BYTES = 1024;
const CHUNKED_BYTES = 64 * 1024;
const READ_AT_ONCE = 200;

/** Long texts and values, each stored once in the table `content`, inside the transaction it is made with. Lone
 * surrogates become U+FFFD, since the database holds UTF-8. */
export class Content {
  /** The connection or transaction that it works on. */
  readonly db: Kysely<Schema>;
  readonly #known = new Map<string, Uint8Array<ArrayBuffer>>();
  readonly #references = new WeakMap<Uint8Array, string>();

  constructor(db: Kysely<Schema>) {
    this.db = db;
  }

  /** What the column holds: the text itself, or a reference where it is long, looks like one, or has a NUL (at which
   * `node:sqlite` ends a text that it reads). */
  async putText(text: string): Promise<string> {
    const odd = text.startsWith(PREFIX) || text.includes("\0");
    if (!odd && text.length * 3 <= INLINE_BYTES) return text;
    const bytes = new TextEncoder().encode(text);
    return !odd && bytes.length <= INLINE_BYTES ? text : await this.#put(bytes);
  }

  /** What a BLOB column holds: the bytes, or a reference as text. */
  async putBytes(bytes: Uint8Array): Promise<Uint8Array | string> {
    return bytes.length <= INLINE_BYTES ? bytes : await this.#put(bytes);
  }

  /** Reads ahead what these cells refer to, in few queries; `text` and `bytes` then give it. */
  async load(cells: Iterable<unknown>): Promise<void> {
    const wanted = new Set<string>();
    for (const cell of cells) {
      if (typeof cell !== "string" || !cell.startsWith(PREFIX)) continue;
      const hash = cell.slice(PREFIX.length);
      if (!this.#known.has(hash)) wanted.add(hash);
    }
    const lists = new Map<string, readonly string[]>();
    for (const row of await this.#rows([...wanted])) {
      if (row.encoding === "raw") this.#known.set(row.hash, row.bytes);
      else lists.set(row.hash, pieceHashes(row.bytes));
    }
    if (lists.size > 0) await this.#join(lists);
  }

  /** The text of a cell that was loaded. */
  text(cell: string): string {
    return cell.startsWith(PREFIX) ? decode(this.#loaded(cell)) : cell;
  }

  /** The bytes of a cell that was loaded; the same object for the same reference. */
  bytes(cell: Uint8Array | string): Uint8Array<ArrayBuffer> {
    return typeof cell === "string" ? this.#loaded(cell) : owned(cell);
  }

  #loaded(reference: string): Uint8Array<ArrayBuffer> {
    const found = this.#known.get(reference.slice(PREFIX.length));
    if (!found) throw new Error(`Database content is malformed: ${reference} is missing`);
    return found;
  }

  async #put(bytes: Uint8Array): Promise<string> {
    const before = this.#references.get(bytes);
    if (before !== undefined) return before;
    const hash = hashOf(bytes);
    if (bytes.length <= CHUNKED_BYTES) await this.#insert(hash, "raw", bytes);
    else if ((await this.#rows([hash])).length === 0) await this.#putChunks(hash, bytes);
    const reference = PREFIX + hash;
    this.#references.set(bytes, reference);
    return reference;
  }

  async #putChunks(hash: string, bytes: Uint8Array): Promise<void> {
    const pieces = chunks(bytes);
    const hashes = pieces.map(hashOf);
    for (const [index, piece] of pieces.entries()) await this.#insert(hashes[index] ?? "", "raw", piece);
    await this.#insert(hash, "chunks", new TextEncoder().encode(JSON.stringify(hashes)));
  }

  async #insert(hash: string, encoding: "raw" | "chunks", bytes: Uint8Array): Promise<void> {
    await compiledRows(this.db, {
      name: "put content",
      build: () =>
        this.db.insertInto("content").values({ hash, encoding, bytes }).onConflict((conflict) => conflict.doNothing()),
      parameters: [hash, encoding, bytes],
    });
  }

  async #join(lists: ReadonlyMap<string, readonly string[]>): Promise<void> {
    for (const [hash, pieces] of lists) {
      const rows = new Map((await this.#rows([...new Set(pieces)])).map((row) => [row.hash, row.bytes]));
      const parts = pieces.map((piece) => rows.get(piece) ?? new Uint8Array());
      const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
      let offset = 0;
      for (const part of parts) {
        whole.set(part, offset);
        offset += part.length;
      }
      if (rows.size === new Set(pieces).size) this.#known.set(hash, whole);
    }
  }

  async #rows(hashes: readonly string[]): Promise<Row[]> {
    const found: Row[] = [];
    for (let i = 0; i < hashes.length; i += READ_AT_ONCE) {
      const some = hashes.slice(i, i + READ_AT_ONCE);
      const rows = await this.db.selectFrom("content").selectAll().where("hash", "in", some).execute();
      for (const row of rows) found.push({ ...row, bytes: owned(row.bytes) });
    }
    return found;
  }
}

interface Row {
  readonly hash: string;
  readonly encoding: "raw" | "chunks";
  readonly bytes: Uint8Array<ArrayBuffer>;
}

function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** A byte order mark at the start belongs to the text. */
function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

function pieceHashes(bytes: Uint8Array): string[] {
  const list: unknown = JSON.parse(decode(bytes));
  return Array.isArray(list) ? list.map(String) : [];
}

/** SQLite hands out buffers of their own, never shared ones; the typings do not say so. */
function owned(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer ? bytes as Uint8Array<ArrayBuffer> : new Uint8Array(bytes);
}
