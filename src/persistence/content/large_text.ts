import { createHash } from "node:crypto";
import { jsonOrUndefined } from "../../domain/text/json_or_undefined.ts";
import { Damage } from "../schema/damage.ts";
import type { Database } from "../database/database.ts";
import type { DatabaseSchema } from "../schema/schema.ts";

const PREFIX = "sha256:";

/** Stores a text in `content` piece by piece, so that memory holds one piece at a time. Returns the reference of the
 * whole. */
export async function putLarge(db: Database, pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const whole = createHash("sha256");
  const hashes: string[] = [];
  // The same bytes may be stored in another encoding, but readers of this one support only raw pieces in a list.
  const insert = async (
    { hash, encoding, bytes }: Pick<DatabaseSchema["content"], "hash" | "encoding" | "bytes">,
    others: readonly DatabaseSchema["content"]["encoding"][],
  ) => {
    const row = { encoding, bytes, base: null, steps: null, spent: null };
    await db.insertInto("content").values({ hash, ...row })
      .onConflict((on) => on.column("hash").doUpdateSet(row).where("content.encoding", "in", others)).execute();
  };
  for await (const bytes of pieces) {
    whole.update(bytes);
    const hash = createHash("sha256").update(bytes).digest("hex");
    hashes.push(hash);
    await insert({ hash, encoding: "raw", bytes }, ["chunks", "delta"]);
  }
  const hash = whole.digest("hex");
  const list = new TextEncoder().encode(JSON.stringify(hashes));
  await insert({ hash, encoding: "chunks", bytes: list }, ["delta"]);
  return PREFIX + hash;
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
