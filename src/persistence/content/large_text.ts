import { createHash } from "node:crypto";
import type { QueryCreator } from "kysely";
import { BusyError } from "../../domain/errors.ts";
import { newId } from "../../domain/kit/ids.ts";
import { jsonOrUndefined } from "../../domain/kit/json.ts";
import type { Database } from "../database/database.ts";
import { Damage } from "../schema/damage.ts";
import type { DatabaseSchema } from "../schema/schema.ts";

const PREFIX = "sha256:";

type Row = Pick<DatabaseSchema["content"], "hash" | "encoding" | "bytes">;

/** Stores a text in `content` piece by piece, so that memory holds one piece at a time. Returns the reference of the
 * whole. With `claimedAt`, what is stored is claimed from the same moment on until `releaseClaim`: nothing that is
 * erased meanwhile has it. */
export async function putLarge(
  db: Database,
  pieces: AsyncIterable<Uint8Array>,
  { claimedAt }: { readonly claimedAt?: number | undefined } = {},
): Promise<string> {
  const whole = createHash("sha256");
  const hashes: string[] = [];
  const put = newId();
  // The same bytes may be stored in another encoding, but readers of this one support only raw pieces in a list.
  const insert = async (row: Row, others: readonly DatabaseSchema["content"]["encoding"][]) => {
    if (claimedAt === undefined) return await insertContent(db, row, others).execute();
    const claim = { put, reference: PREFIX + row.hash, claimedAt };
    const claims = (db: QueryCreator<DatabaseSchema>) =>
      db.insertInto("claim").values(claim).onConflict((on) => on.columns(["put", "reference"]).doNothing());
    // One statement, so that other writes need not wait for it.
    if (db.kind === "postgres") return await insertContent(db.with("claimed", claims), row, others).execute();
    await db.write(async (tx) => {
      await insertContent(tx, row, others).execute();
      await claims(tx).execute();
    });
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

function insertContent(
  db: QueryCreator<DatabaseSchema>,
  given: Row,
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

/** Ends one claim on a text, in the transaction that stores a row that refers to it. */
export async function releaseClaim(tx: Database, { name, large }: Named): Promise<void> {
  const hash = large.slice(PREFIX.length);
  // Claims end by themselves after a day.
  const stored = await tx.selectFrom("content").select("hash").where("hash", "=", hash).executeTakeFirst();
  if (!stored) throw new BusyError(`Cannot store ${name}: its text was erased meanwhile, send the request again`);
  const oldest = tx.selectFrom("claim").select("put").where("reference", "=", large).orderBy("put").limit(1);
  await tx.deleteFrom("claim").where("reference", "=", large).where("put", "=", oldest).execute();
}

/** The pieces of such a text in order, each read on demand. Throws `Damage` before it yields a piece whose hash is
 * wrong, and after the last piece if the hash of the whole is wrong. */
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
  return new Damage(`content ${PREFIX}${hash} is not what was stored`);
}
