import { createHash } from "node:crypto";
import { joinBytes } from "../domain/join_bytes.ts";
import { chunks } from "./_chunker.ts";
import type { Database } from "./_database.ts";
import { applyDelta, deltaOf } from "./_delta.ts";
import { stepsOf } from "./_delta_steps.ts";
import { compiledRows } from "./_compiled_rows.ts";
import type { Schema } from "./_schema.ts";

const PREFIX = "sha256:";
const INLINE_BYTES = 1024;
const CHUNKED_BYTES = 64 * 1024;
/** Larger values are not compared with what they were before. */
const DELTA_BYTES = 1 << 20;
const READ_AT_ONCE = 200;
const NO_DELTA = { base: null, steps: null, spent: null };

/** Long texts and values, each stored once in the table `content`, inside the transaction it is made with. Lone
 * surrogates become U+FFFD, since the database holds UTF-8. */
export class Content {
  /** The connection or transaction that it works on. */
  readonly db: Database;
  readonly #known = new Map<string, Uint8Array<ArrayBuffer>>();
  readonly #references = new WeakMap<Uint8Array, string>();

  constructor(db: Database) {
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

  /** What a BLOB column holds: the bytes, or a reference as text. `before` is the cell of the value that they were made
   * from: then only what differs is stored, where that is much less. */
  async putBytes(bytes: Uint8Array, before: Uint8Array | string | null = null): Promise<Uint8Array | string> {
    return bytes.length <= INLINE_BYTES ? bytes : await this.#put(bytes, before);
  }

  /** Reads ahead what these cells refer to, in few queries; `text` and `bytes` then give it. */
  async load(cells: Iterable<unknown>): Promise<void> {
    const wanted = new Set<string>();
    for (const cell of cells) {
      if (typeof cell !== "string" || !cell.startsWith(PREFIX)) continue;
      const hash = cell.slice(PREFIX.length);
      if (!this.#known.has(hash)) wanted.add(hash);
    }
    const rows = await this.#rows([...wanted]);
    const deltas = rows.filter(({ encoding }) => encoding === "delta");
    await this.#keep(rows);
    await this.#keep(await this.#rows([...new Set(deltas.map(({ base }) => base ?? ""))]));
    for (const row of deltas) {
      const base = this.#known.get(row.base ?? "");
      if (base) this.#known.set(row.hash, applyDelta(base, { steps: stepsOf(row.steps), literals: row.bytes }));
    }
  }

  async #keep(rows: readonly Row[]): Promise<void> {
    for (const { encoding, hash, bytes } of rows) if (encoding === "raw") this.#known.set(hash, bytes);
    const lists = rows.filter(({ encoding }) => encoding === "chunks")
      .map(({ hash, bytes }) => [hash, pieceHashes(bytes)] as const);
    if (lists.length > 0) await this.#join(new Map(lists));
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

  async #put(bytes: Uint8Array, before: Uint8Array | string | null = null): Promise<string> {
    const known = this.#references.get(bytes);
    if (known !== undefined) return known;
    const hash = hashOf(bytes);
    if (typeof before !== "string" || !await this.#putDelta(hash, bytes, before)) {
      if (bytes.length <= CHUNKED_BYTES) await this.#insert({ ...NO_DELTA, hash, encoding: "raw", bytes });
      else if ((await this.#rows([hash])).length === 0) await this.#putChunks(hash, bytes);
    }
    const reference = PREFIX + hash;
    this.#references.set(bytes, reference);
    return reference;
  }

  /** All differences go back to one base, so that reading takes one step; when together they are as long as the base, a
   * new one is due. That keeps what n versions take near the least there is. */
  async #putDelta(hash: string, bytes: Uint8Array, before: string): Promise<boolean> {
    if (bytes.length > DELTA_BYTES) return false;
    const [row] = await this.#rows([before.slice(PREFIX.length)]);
    if (row === undefined || row.hash === hash) return row !== undefined;
    if (row.encoding === "chunks" && !await this.#isSmall(pieceHashes(row.bytes))) return false;
    const base = row.base ?? row.hash;
    await this.load([PREFIX + base]);
    const from = this.#known.get(base);
    if (from === undefined) return false;
    const delta = deltaOf(from, bytes);
    if (delta === null) return false;
    const steps = JSON.stringify(delta.steps);
    const spent = (row.spent ?? 0) + delta.literals.length + steps.length;
    if (spent > from.length) return false;
    await this.#insert({ hash, encoding: "delta", bytes: delta.literals, base, steps, spent });
    return true;
  }

  async #isSmall(pieces: readonly string[]): Promise<boolean> {
    if (pieces.length > READ_AT_ONCE) return false;
    const sizes = await this.db.selectFrom("content").select((c) => c.fn<number>("length", ["bytes"]).as("size"))
      .where("hash", "in", pieces).execute();
    return sizes.reduce((sum, { size }) => sum + size, 0) <= DELTA_BYTES;
  }

  async #putChunks(hash: string, bytes: Uint8Array): Promise<void> {
    const pieces = chunks(bytes);
    const hashes = pieces.map(hashOf);
    for (const [index, piece] of pieces.entries()) {
      await this.#insert({ ...NO_DELTA, hash: hashes[index] ?? "", encoding: "raw", bytes: piece });
    }
    const list = new TextEncoder().encode(JSON.stringify(hashes));
    await this.#insert({ ...NO_DELTA, hash, encoding: "chunks", bytes: list });
  }

  async #insert({ hash, encoding, bytes, base, steps, spent }: Schema["content"]): Promise<void> {
    const row = { hash, encoding, bytes, base, steps, spent };
    await compiledRows(this.db, {
      name: "put content",
      build: () => this.db.insertInto("content").values(row).onConflict((conflict) => conflict.doNothing()),
      parameters: Object.values(row),
    });
  }

  async #join(lists: ReadonlyMap<string, readonly string[]>): Promise<void> {
    for (const [hash, pieces] of lists) {
      const rows = new Map((await this.#rows([...new Set(pieces)])).map((row) => [row.hash, row.bytes]));
      const parts = pieces.flatMap((piece) => rows.get(piece) ?? []);
      if (parts.length === pieces.length) this.#known.set(hash, joinBytes(parts));
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

interface Row extends Readonly<Schema["content"]> {
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
