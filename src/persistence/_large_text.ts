import { createHash } from "node:crypto";
import type { Kysely } from "kysely";
import type { Schema } from "./_schema.ts";

const PREFIX = "sha256:";

/** Puts a text into `content` piece by piece, so that memory holds one of them; gives the reference of the whole. */
export async function putLarge(db: Kysely<Schema>, pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const whole = createHash("sha256");
  const hashes: string[] = [];
  const insert = async (hash: string, { encoding, bytes }: Pick<Schema["content"], "encoding" | "bytes">) => {
    await db.insertInto("content").values({ hash, encoding, bytes, base: null, steps: null, spent: null })
      .onConflict((on) => on.doNothing()).execute();
  };
  for await (const bytes of pieces) {
    whole.update(bytes);
    const hash = createHash("sha256").update(bytes).digest("hex");
    hashes.push(hash);
    await insert(hash, { encoding: "raw", bytes });
  }
  const hash = whole.digest("hex");
  await insert(hash, { encoding: "chunks", bytes: new TextEncoder().encode(JSON.stringify(hashes)) });
  return PREFIX + hash;
}

/** The pieces of such a text in order, each read when it is asked for. */
export async function* largePieces(db: Kysely<Schema>, large: string): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const read = async (hash: string) => {
    const row = await db.selectFrom("content").select(["encoding", "bytes"]).where("hash", "=", hash)
      .executeTakeFirst();
    if (!row) throw new Error(`Database content is malformed: ${PREFIX}${hash} is missing`);
    return { encoding: row.encoding, bytes: new Uint8Array(row.bytes) };
  };
  const { encoding, bytes } = await read(large.slice(PREFIX.length));
  if (encoding === "raw") return yield bytes;
  const list: unknown = JSON.parse(new TextDecoder().decode(bytes));
  for (const hash of Array.isArray(list) ? list : []) yield (await read(String(hash))).bytes;
}
