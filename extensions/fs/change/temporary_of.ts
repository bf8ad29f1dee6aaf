import { dirname } from "node:path";

/** A new path beside another one, so that a rename from here to there stays within one file system. */
export function temporaryOf(path: string): string {
  const folder = dirname(path);
  return `${folder === "." ? "" : `${folder}/`}.vis-${crypto.randomUUID()}.tmp`;
}
