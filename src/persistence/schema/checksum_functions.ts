import type { DatabaseSync } from "node:sqlite";
import { rowChecksum } from "./checksum.ts";
import { Damage } from "./damage.ts";
import { snakeCase } from "./snake_case.ts";

/** The SQL functions that compute and compare checksums of rows, on one connection. If an SQL function throws, its
 * statement may never end, so what they find is kept until it is done. They take integers as `bigint`: one of a damaged
 * row may be too large for a number, which would throw before the function is called. */
export class ChecksumFunctions {
  #found: Damage | null = null;

  constructor(db: DatabaseSync) {
    const options = { varargs: true, deterministic: true, directOnly: true, useBigIntArguments: true };
    db.function("row_checksum", options, (table, ...cells) => rowChecksum(String(table), cells));
    db.function("intact", options, (table, checksum, ...cells) => {
      this.#compare(String(table), checksum, cells);
      return 1;
    });
    db.function("changed_checksum", options, (table, checksum, ...cells) => {
      const before = cells.slice(0, cells.length / 2);
      this.#compare(String(table), checksum, before);
      return rowChecksum(String(table), cells.slice(before.length));
    });
  }

  /** Throws `Damage` if a statement met a row that differs from what was stored. */
  throwFound(): void {
    const found = this.#found;
    if (found === null) return;
    this.#found = null;
    throw found;
  }

  #compare(table: string, checksum: unknown, cells: readonly unknown[]): void {
    const absent = checksum === null && cells.every((cell) => cell === null);
    if (absent || BigInt(rowChecksum(table, cells)) === checksum) return;
    const [id] = cells;
    this.#found ??= new Damage(`row ${String(id)} of ${snakeCase(table)} is not what was stored`);
  }
}
