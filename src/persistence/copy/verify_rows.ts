import { Buffer } from "node:buffer";
import { StoreError } from "../../domain/errors.ts";
import type { Database } from "../database/database.ts";
import { Damage } from "../schema/damage.ts";
import { snakeCase } from "../schema/snake_case.ts";
import { contentPieces, encodingOf } from "../content/content_pieces.ts";
import { referencesOf } from "./contents.ts";
import { type CopiedRow, type PlainRow, readRows } from "./read_rows.ts";

/** Compares the next rows of a table with those of the other database, with their texts and values, each of which is
 * read and compared with its hash. Returns them. Throws `StoreError` where they differ. */
export async function verifyRows(
  { from, to }: { readonly from: Database; readonly to: Database },
  page: Parameters<typeof readRows>[1],
): Promise<readonly CopiedRow[]> {
  const rows = await readRows(from, page);
  const copies = await ofCopy(() => readRows(to, page));
  for (const [at, { place, plain }] of rows.entries()) {
    const copied = copies[at];
    const row = await plain();
    const copy = copied?.place.every((part, at) => part === place[at]) ? await ofCopy(copied.plain) : null;
    if (copy === null || !isSame(row, copy)) {
      throw unlike(`row ${place.join(" ")} of ${snakeCase(page.table)}`);
    }
    for (const reference of [...referencesOf(row), ...(row.large === null ? [] : [row.large])]) {
      if (await encodingOf(from, reference) === null) continue;
      await ofCopy(async () => {
        // Reading it compares it with its hash.
        for await (const _piece of contentPieces(to, reference));
      });
    }
  }
  return rows;
}

/** The error for a copy that differs from its source. */
export function unlike(what: string): StoreError {
  return new StoreError(
    `Cannot finish the copy: ${what} is another one in the source, which was changed since the copy began; ` +
      "end what uses it, remove the unfinished copy and begin again",
    "unavailable",
  );
}

/** Reads the copy. Throws `StoreError` if it is damaged: all other damage is that of the source. */
export async function ofCopy<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof Damage)) throw error;
    throw new StoreError(
      `Cannot finish the copy: it is damaged (${error.what}), remove the unfinished copy and begin again`,
      "corrupt",
      { cause: error },
    );
  }
}

function isSame(one: PlainRow, other: PlainRow): boolean {
  const names = Object.keys(one.cells).filter((name) => name !== "rowid");
  if (one.large !== other.large) return false;
  return names.every((name) => {
    const [a, b] = [one.cells[name], other.cells[name]];
    return a instanceof Uint8Array && b instanceof Uint8Array ? Buffer.from(a).equals(b) : a === b;
  });
}
