import { dirname } from "node:path";

/** A new path in the same folder, so that a rename from it stays within one file system. */
export function temporaryOf(path: string): string {
  const folder = dirname(path);
  return `${folder === "." ? "" : `${folder}/`}.vis-${crypto.randomUUID()}.tmp`;
}
