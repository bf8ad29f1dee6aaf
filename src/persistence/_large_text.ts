import { createHash } from "node:crypto";
import type { Database } from "./_database.ts";
import type { Schema } from "./_schema.ts";

const PREFIX = "sha256:";

/** Puts a text into `content` piece by piece, so that memory holds one of them; gives the reference of the whole. */
export async function putLarge(db: Database, pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const whole = createHash("sha256");
  const hashes: string[] = [];
  // The same bytes may stand there in another encoding: readers of this one know raw pieces in a list only.
  const insert = async (
    { hash, encoding, bytes }: Pick<Schema["content"], "hash" | "encoding" | "bytes">,
    others: readonly Schema["content"]["encoding"][],
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

/** The pieces of such a text in order, each read when it is asked for. */
export async function* largePieces(db: Database, large: string): AsyncGenerator<Uint8Array<ArrayBuffer>> {
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
