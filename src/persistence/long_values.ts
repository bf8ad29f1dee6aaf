import type { QueryCreator } from "kysely";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { BusyError } from "../domain/errors.ts";
import { joinBytes } from "../domain/kit/bytes.ts";
import { newId } from "../domain/kit/ids.ts";
import { jsonOrUndefined } from "../domain/kit/json.ts";
import { Damage, type Database, namedChange } from "./database.ts";
import type { DatabaseSchema } from "./tables.ts";

const PREFIX = "sha256:";
const INLINE_BYTES = 1024;
const DELTA_BYTES = 1 << 20;
const READ_AT_ONCE = 200;
/** PostgreSQL keeps long values in pieces, which bounds the size of a statement and of a row. */
const PIECE_BYTES = 256 * 1024, SENT_AT_ONCE = 16;
const PUT_LONG = `INSERT INTO long_value AS v (hash) VALUES ($1) ON CONFLICT (hash) DO UPDATE SET hash = v.hash
RETURNING (xmax = 0) AS is_new`;
const PUT_PIECE = "INSERT INTO long_value_piece (hash, position, bytes) VALUES ($1, $2, $3)";
const NO_DELTA = { base: null, steps: null, spent: null };

const insertContent = namedChange((db, row: DatabaseSchema["content"]) =>
  db.insertInto("content").values(row).onConflict((conflict) =>
    db.dialect.locksByChange
      ? conflict.column("hash").doUpdateSet((row) => ({ hash: row.ref("excluded.hash") }))
      : conflict.doNothing()
  )
);

/** The caller must `load` a reference before `text` or `bytes`, which throw `Damage` for missing or changed content. */
export class Content {
  readonly db: Database;
  readonly #known = new Map<string, Uint8Array<ArrayBuffer> | null>();
  readonly #references = new WeakMap<Uint8Array, string>();

  constructor(db: Database) {
    this.db = db;
  }

  async putText(text: string): Promise<string> {
    const odd = text.startsWith(PREFIX) || text.includes("\0");
    const { textBytes } = this.db.dialect;
    if (!odd && text.length * 3 <= textBytes) return text;
    const bytes = new TextEncoder().encode(text);
    return !odd && bytes.length <= textBytes ? text : await this.#put(bytes);
  }

  /** `before` is the cell of the previous value, to which SQLite may store the difference. */
  async putBytes(bytes: Uint8Array, before: Uint8Array | string | null = null): Promise<Uint8Array | string> {
    const { valueBytes, hasDifferences } = this.db.dialect;
    if (bytes.length <= valueBytes) return bytes;
    return await (hasDifferences ? this.#put(bytes, before) : this.#putLong(bytes));
  }

  checkOf(bytes: Uint8Array): ValueCheck {
    return bytes.length === 0 || bytes.length > this.db.dialect.valueBytes ? {} : { crc: crc32(bytes) };
  }

  async putApart(bytes: Uint8Array, before: Uint8Array | string | null = null): Promise<Uint8Array | string> {
    return bytes.length <= INLINE_BYTES ? bytes : await this.#put(bytes, before);
  }

  async load(cells: Iterable<unknown>): Promise<void> {
    const wanted = new Set<string>();
    for (const cell of cells) {
      if (typeof cell !== "string" || !cell.startsWith(PREFIX)) continue;
      const hash = cell.slice(PREFIX.length);
      if (!this.#known.has(hash)) wanted.add(hash);
    }
    if (wanted.size === 0) return;
    const read = await this.#read([...wanted]);
    for (const hash of wanted) {
      const bytes = read.get(hash);
      if (bytes) this.#known.set(hash, hashOf(bytes) === hash ? bytes : null);
    }
  }

  async #read(hashes: readonly string[]): Promise<Map<string, Uint8Array<ArrayBuffer>>> {
    const rows = await this.#rows(hashes);
    const deltas = rows.filter(({ encoding }) => encoding === "delta");
    const found = await this.#joined(rows);
    const bases = new Set(deltas.flatMap(({ base }) => base === null || found.has(base) ? [] : base));
    for (const [hash, bytes] of await this.#joined(await this.#rows([...bases]))) found.set(hash, bytes);
    for (const { hash, base, steps, bytes } of deltas) {
      const from = found.get(base ?? "");
      const whole = from && attempt(() => applyDelta(from, { steps: stepsOf(steps), literals: bytes }));
      if (whole) found.set(hash, whole);
    }
    if (this.db.dialect.hasDifferences) return found;
    for (const hash of hashes) {
      if (found.has(hash)) continue;
      const pieces = await this.db.run("SELECT bytes FROM long_value_piece WHERE hash = $1 ORDER BY position", [hash]);
      if (pieces.length > 0) found.set(hash, joinBytes(pieces.map(({ bytes }) => bytes as Uint8Array)));
    }
    return found;
  }

  async #joined(rows: readonly Row[]): Promise<Map<string, Uint8Array<ArrayBuffer>>> {
    const found = new Map<string, Uint8Array<ArrayBuffer>>();
    for (const { encoding, hash, bytes } of rows) {
      if (encoding === "raw") found.set(hash, bytes);
      if (encoding !== "chunks") continue;
      const pieces = attempt(() => pieceHashes(bytes)) ?? [];
      const parts = new Map((await this.#rows([...new Set(pieces)])).map((row) => [row.hash, row.bytes]));
      found.set(hash, joinBytes(pieces.flatMap((piece) => parts.get(piece) ?? [])));
    }
    return found;
  }

  text(cell: string): string {
    return cell.startsWith(PREFIX) ? decode(this.#loaded(cell)) : cell;
  }

  bytes(cell: Uint8Array | string): Uint8Array<ArrayBuffer> {
    if (typeof cell === "string") return this.#loaded(cell);
    if (cell.length <= INLINE_BYTES) return owned(cell);
    return this.#loaded(this.adopt(cell));
  }

  adopt(bytes: Uint8Array): string {
    const hash = hashOf(bytes);
    if (!this.#known.get(hash)) this.#known.set(hash, owned(bytes));
    return PREFIX + hash;
  }

  has(hash: string): boolean {
    return this.#known.has(hash);
  }

  #loaded(reference: string): Uint8Array<ArrayBuffer> {
    const found = this.#known.get(reference.slice(PREFIX.length));
    if (found) return found;
    throw new Damage(
      `content ${reference} ${found === null ? "has changed since Vis stored it" : "is missing, wholly or in part"}`,
    );
  }

  async #put(bytes: Uint8Array, before: Uint8Array | string | null = null): Promise<string> {
    const known = this.#references.get(bytes);
    if (known !== undefined) return known;
    const hash = hashOf(bytes);
    if (typeof before !== "string" || !await this.#putDelta(hash, bytes, before)) {
      if (bytes.length <= this.db.dialect.contentBytes) {
        await insertContent(this.db, { ...NO_DELTA, hash, encoding: "raw", bytes });
      } else if ((await this.#rows([hash])).length === 0) await this.#putChunks(hash, bytes);
    }
    const reference = PREFIX + hash;
    this.#references.set(bytes, reference);
    return reference;
  }

  /** The base of a difference is never a difference, so a read takes one step. */
  async #putDelta(hash: string, bytes: Uint8Array, before: string): Promise<boolean> {
    if (bytes.length > DELTA_BYTES) return false;
    const [row] = await this.#rows([before.slice(PREFIX.length)]);
    if (row === undefined || row.hash === hash) return row !== undefined;
    if (row.encoding === "chunks" && !await this.#isSmall(pieceHashes(row.bytes))) return false;
    const base = row.base ?? row.hash;
    // A reader verifies the result by its own hash, so the base needs no check.
    const from = (await this.#read([base])).get(base);
    if (from === undefined) return false;
    const delta = deltaOf(from, bytes);
    if (delta === null) return false;
    const steps = JSON.stringify(delta.steps);
    const spent = (row.spent ?? 0) + delta.literals.length + steps.length;
    if (spent > from.length) return false;
    await insertContent(this.db, { hash, encoding: "delta", bytes: delta.literals, base, steps, spent });
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
    for (const [at, piece] of pieces.entries()) {
      await insertContent(this.db, { ...NO_DELTA, hash: hashes[at] ?? "", encoding: "raw", bytes: piece });
    }
    const list = new TextEncoder().encode(JSON.stringify(hashes));
    await insertContent(this.db, { ...NO_DELTA, hash, encoding: "chunks", bytes: list });
  }

  /** When the last row that refers to the value is gone, a trigger removes the pieces. */
  async #putLong(bytes: Uint8Array): Promise<string> {
    const hash = hashOf(bytes);
    // The statement also locks an existing row, so that no other transaction removes the row.
    const [row] = await this.db.run(PUT_LONG, [hash]);
    for (let from = 0, at = 0; row?.["isNew"] && from < bytes.length; from += PIECE_BYTES, at++) {
      const piece = [hash, at, bytes.subarray(from, from + PIECE_BYTES)];
      // An occasional wait bounds the number of pieces on their way to the server.
      if (at % SENT_AT_ONCE === 0) await this.db.run(PUT_PIECE, piece);
      else await this.db.store(PUT_PIECE, piece);
    }
    return PREFIX + hash;
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

interface Row extends Readonly<DatabaseSchema["content"]> {
  readonly bytes: Uint8Array<ArrayBuffer>;
}

function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

function pieceHashes(bytes: Uint8Array): string[] {
  const list: unknown = JSON.parse(decode(bytes));
  return Array.isArray(list) ? list.map(String) : [];
}

/** SQLite returns unshared buffers, which its types do not show. */
function owned(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer ? bytes as Uint8Array<ArrayBuffer> : new Uint8Array(bytes);
}

export interface ValueCheck {
  readonly crc?: number;
}

export function compareValue(bytes: Uint8Array, { crc }: ValueCheck, what: string): void {
  if (crc !== undefined && crc32(bytes) !== crc) throw new Damage(`${what} has changed since Vis stored it`);
}

type PieceRow = Pick<DatabaseSchema["content"], "hash" | "encoding" | "bytes">;

/** With `claimedAt`, a claim protects the text from erasure for a day, or until `releaseClaim`. */
export async function putLarge(
  db: Database,
  pieces: AsyncIterable<Uint8Array>,
  { claimedAt }: { readonly claimedAt?: number | undefined } = {},
): Promise<string> {
  const whole = createHash("sha256");
  const hashes: string[] = [];
  const put = newId();
  // Another row may have the same bytes in an encoding that lists do not support.
  const insert = async (row: PieceRow, others: readonly DatabaseSchema["content"]["encoding"][]) => {
    if (claimedAt === undefined) return await insertPiece(db, row, others).execute();
    const claim = { put, reference: PREFIX + row.hash, claimedAt };
    await db.dialect.storeBoth(
      db,
      (db) => insertPiece(db, row, others),
      (db) => db.insertInto("claim").values(claim).onConflict((on) => on.columns(["put", "reference"]).doNothing()),
    );
  };
  const unclaim = async (kept: string | null) => {
    if (claimedAt === undefined) return;
    const claims = db.deleteFrom("claim").where("put", "=", put);
    await (kept === null ? claims : claims.where("reference", "<>", kept)).execute();
  };
  try {
    for await (const bytes of pieces) {
      whole.update(bytes);
      const hash = createHash("sha256").update(bytes).digest("hex");
      hashes.push(hash);
      await insert({ hash, encoding: "raw", bytes }, ["chunks", "delta"]);
    }
    const hash = whole.digest("hex");
    const list = new TextEncoder().encode(JSON.stringify(hashes));
    await insert({ hash, encoding: "chunks", bytes: list }, ["delta"]);
    await unclaim(PREFIX + hash);
    return PREFIX + hash;
  } catch (error) {
    await unclaim(null).catch(() => {});
    throw error;
  }
}

function insertPiece(
  db: QueryCreator<DatabaseSchema>,
  given: PieceRow,
  others: readonly DatabaseSchema["content"]["encoding"][],
) {
  const row = { ...given, base: null, steps: null, spent: null };
  return db.insertInto("content").values(row).onConflict((on) =>
    on.column("hash").doUpdateSet(row).where("content.encoding", "in", others)
  );
}

interface Named {
  readonly name: string;
  readonly large: string;
}

/** The caller must run this function in the transaction that stores a reference to the text. Rejects with `BusyError`
 * if Vis has erased the text. */
export async function releaseClaim(tx: Database, { name, large }: Named): Promise<void> {
  const hash = large.slice(PREFIX.length);
  const stored = await tx.selectFrom("content").select("hash").where("hash", "=", hash).executeTakeFirst();
  if (!stored) {
    throw new BusyError(
      `Cannot store ${name}: Vis has erased its text; send the request with the text again`,
    );
  }
  const oldest = tx.selectFrom("claim").select("put").where("reference", "=", large).orderBy("put").limit(1);
  await tx.deleteFrom("claim").where("reference", "=", large).where("put", "=", oldest).execute();
}

/** Throws `Damage` instead of a missing or changed piece, and after the last piece if the hash of the whole text
 * differs. */
export async function* largePieces(db: Database, large: string): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const expected = large.slice(PREFIX.length);
  const { encoding, bytes } = await read(db, expected);
  const whole = createHash("sha256");
  for (const hash of encoding === "raw" ? [expected] : listOf(bytes)) {
    const piece = encoding === "raw" ? bytes : (await read(db, hash)).bytes;
    if (createHash("sha256").update(piece).digest("hex") !== hash) throw changed(hash);
    whole.update(piece);
    yield piece;
  }
  if (whole.digest("hex") !== expected) throw changed(expected);
}

async function read(db: Database, hash: string) {
  const row = await db.selectFrom("content").select(["encoding", "bytes"]).where("hash", "=", hash).executeTakeFirst();
  if (!row) throw new Damage(`content ${PREFIX}${hash} is missing`);
  return { encoding: row.encoding, bytes: new Uint8Array(row.bytes) };
}

function listOf(bytes: Uint8Array): readonly string[] {
  const list = jsonOrUndefined(new TextDecoder().decode(bytes));
  return Array.isArray(list) ? list.map(String) : [];
}

function changed(hash: string): Damage {
  return new Damage(`content ${PREFIX}${hash} has changed since Vis stored it`);
}

export async function encodingOf(db: Database, reference: string): Promise<"raw" | "chunks" | "delta" | null> {
  const row = await db.selectFrom("content").select("encoding").where("hash", "=", reference.slice(PREFIX.length))
    .executeTakeFirst();
  return row?.encoding ?? null;
}

export async function* contentPieces(db: Database, reference: string): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const encoding = await encodingOf(db, reference);
  if (encoding === "delta" || encoding === null) {
    // PostgreSQL keeps long values in other tables than `content`.
    const content = new Content(db);
    await content.load([reference]);
    yield content.bytes(reference);
  } else yield* largePieces(db, reference);
}

type Step = readonly [from: number, length: number, literal: number];

interface Delta {
  readonly steps: readonly Step[];
  readonly literals: Uint8Array<ArrayBuffer>;
}

const ANCHOR = 16;
const SKIPS = [0, 1, 2, 3, 4, 8, 16, 32, 64, 128, 256];
const MAX_STEPS = 24;

export function deltaOf(base: Uint8Array, value: Uint8Array): Delta | null {
  const from = view(base), to = view(value);
  const most = value.length >> 2;
  const steps: Step[] = [];
  const literals: Uint8Array[] = [];
  let spent = 0, i = 0, j = 0;
  while (j < to.length) {
    const equal = equalBytes(from, to, { i, j });
    i += equal, j += equal;
    const next = j < to.length ? anchorAfter(from, to, { i, j, within: most - spent }) : { i, j };
    const literal = next === null ? to.length - j : next.j - j;
    spent += literal;
    if (spent > most || steps.length === MAX_STEPS) return null;
    steps.push([i - equal, equal, literal]);
    literals.push(to.subarray(j, j + literal));
    j += literal;
    if (next) i = next.i;
  }
  return { steps, literals: new Uint8Array(Buffer.concat(literals)) };
}

export function applyDelta(base: Uint8Array, { steps, literals }: Delta): Uint8Array<ArrayBuffer> {
  const value = new Uint8Array(steps.reduce((sum, [, length, literal]) => sum + length + literal, 0));
  let end = 0, at = 0;
  for (const [from, length, literal] of steps) {
    if (from + length > base.length || at + literal > literals.length) {
      throw new RangeError("Cannot apply a difference: it names bytes outside the base or the new bytes");
    }
    value.set(base.subarray(from, from + length), end);
    value.set(literals.subarray(at, at + literal), end + length);
    end += length + literal;
    at += literal;
  }
  return value;
}

function equalBytes(from: Buffer, to: Buffer, { i, j }: { readonly i: number; readonly j: number }): number {
  const most = Math.min(from.length - i, to.length - j);
  let equal = 0;
  for (let step = 4096; step >= 64; step >>= 2) {
    while (equal + step <= most && same(from, to, { i: i + equal, j: j + equal, step })) equal += step;
  }
  while (equal < most && from[i + equal] === to[j + equal]) equal++;
  return equal;
}

function same(
  from: Buffer,
  to: Buffer,
  { i, j, step }: { readonly i: number; readonly j: number; readonly step: number },
): boolean {
  return from.subarray(i, i + step).equals(to.subarray(j, j + step));
}

function anchorAfter(
  from: Buffer,
  to: Buffer,
  { i, j, within }: { readonly i: number; readonly j: number; readonly within: number },
): { readonly i: number; readonly j: number } | null {
  const window = to.subarray(j, j + within + ANCHOR);
  for (const skip of SKIPS) {
    const start = i + skip;
    if (start + ANCHOR > from.length) {
      // If the rest of the base is shorter than an anchor, the rest can match only at the end of the value.
      const tail = from.subarray(start);
      const at = to.length - tail.length;
      if (tail.length > 0 && at >= j && to.subarray(at).equals(tail)) return { i: start, j: at };
      continue;
    }
    const found = window.indexOf(from.subarray(start, start + ANCHOR));
    if (found >= 0) return { i: start, j: j + found };
  }
  return null;
}

function view(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export function stepsOf(steps: string | null): Delta["steps"] {
  const list: unknown = JSON.parse(steps ?? "[]");
  if (!Array.isArray(list)) return [];
  return list.map((step: unknown) => {
    const [from, length, literal] = Array.isArray(step) ? step.map(Number) : [];
    return [from ?? 0, length ?? 0, literal ?? 0] as const;
  });
}

const MIN = 4 * 1024;
const MAX = 64 * 1024;
const MASK = 0xfffc0000;
const GEAR = gearTable();

/** A hash of the nearby bytes selects the boundaries, so that an insertion changes few pieces. Pieces are views of
 * `bytes`. */
export function chunks(bytes: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let start = 0;
  while (start < bytes.length) {
    const end = boundary(bytes, start);
    pieces.push(bytes.subarray(start, end));
    start = end;
  }
  return pieces;
}

function boundary(bytes: Uint8Array, start: number): number {
  const limit = Math.min(start + MAX, bytes.length);
  let hash = 0;
  // The hash depends only on the last 32 bytes.
  for (let i = start + MIN - 32; i < limit; i++) {
    hash = ((hash << 1) + (GEAR[bytes[i] ?? 0] ?? 0)) >>> 0;
    if (i >= start + MIN && (hash & MASK) === 0) return i + 1;
  }
  return limit;
}

/** If the random words changed, pieces of new values would not match stored pieces. */
function gearTable(): Uint32Array {
  const table = new Uint32Array(256);
  let word = 0x9e3779b9;
  for (let i = 0; i < table.length; i++) {
    word ^= word << 13;
    word ^= word >>> 17;
    word ^= word << 5;
    table[i] = word >>> 0;
  }
  return table;
}
