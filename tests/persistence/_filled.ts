import { createHash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { openStore } from "../../src/persistence/open_store.ts";
import { SqliteMaintenance } from "../../src/persistence/sqlite/maintenance.ts";
import type { Store } from "../../src/persistence/store.ts";
import { begun, block, image, iterate, queryEnd, utf8 } from "../conformance/store/fixtures.ts";

export const DAY = 86_400_000;
export const NOW = 1_800_000_000_000;

/** Returns bytes that differences cannot compress, the same for the same seed. */
export function noise(seed: string, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += 32) {
    const hash = createHash("sha256").update(`${seed} ${at}`).digest();
    bytes.set(hash.subarray(0, length - at), at);
  }
  return bytes;
}

/** Stores a finished query with raw, chunked and delta content. Its variables begin with `name`. */
export async function filled(store: Store, name: string): Promise<Awaited<ReturnType<typeof begun>>> {
  const ids = await begun(store, { text: `find ${name}` });
  const list = "entry of a list, ".repeat(900);
  for (let position = 0; position < 3; position++) {
    const saved = [
      image(`${name}Big`, { bytes: noise(`${name} ${position}`, 200_000) }),
      image(`${name}List`, { bytes: utf8(list + `${name} ${position}`) }),
    ];
    const made = block(`const ${name}${position} = ${position}`, {
      saved,
      result: { stdout: `${name} out `.repeat(500) },
    });
    await iterate(store, { queryId: ids.queryId, position, blocks: [made] });
  }
  await store.endQuery(ids.queryId, queryEnd({ answer: `answer of ${name} `.repeat(200) }));
  return ids;
}

export async function opened(
  path: string,
  now: () => number = () => NOW,
): Promise<{ store: Store; care: SqliteMaintenance }> {
  return { store: await openStore({ path, now }), care: new SqliteMaintenance({ path, now }) };
}

export function encodings(path: string): Record<string, number> {
  using db = new DatabaseSync(path);
  const rows = db.prepare("SELECT encoding, count(*) AS n FROM content GROUP BY 1").all();
  return Object.fromEntries(rows.map(({ encoding, n }) => [String(encoding), Number(n)]));
}
