import { createHash } from "node:crypto";
import type { ConversationArchive } from "../../domain/records/conversation_archive.ts";

/** The `sha256` of an archive: the hash of its rows, each as JSON after the name of its table, and of the hashes of its
 * contents. White space and the style of escapes do not matter. */
export class ArchiveDigest {
  /** That of a whole archive. */
  static of({ tables, contents }: Pick<ConversationArchive, "tables" | "contents">): string {
    const digest = new ArchiveDigest();
    for (const [name, rows] of Object.entries(tables)) for (const row of rows) digest.row(name, row);
    for (const { sha256 } of contents) digest.content(sha256);
    return digest.end();
  }

  readonly #hash = createHash("sha256");

  row(table: string, row: unknown): void {
    this.#hash.update(`${table} ${JSON.stringify(row)}\n`);
  }

  content(sha256: string): void {
    this.#hash.update(`${sha256}\n`);
  }

  end(): string {
    return this.#hash.digest("hex");
  }
}
