import { createHash } from "node:crypto";

/** The `sha256` of an archive: the hash of its rows, each as JSON after the name of its table, and of the hashes of its
 * contents. White space and the style of escapes do not matter. */
export function archiveDigest(
  { tables, contents }: {
    readonly tables: Readonly<Record<string, readonly unknown[]>>;
    readonly contents: readonly { readonly sha256: string }[];
  },
): string {
  const hash = createHash("sha256");
  for (const [name, rows] of Object.entries(tables)) {
    for (const row of rows) hash.update(`${name} ${JSON.stringify(row)}\n`);
  }
  for (const { sha256 } of contents) hash.update(`${sha256}\n`);
  return hash.digest("hex");
}
