import { readable } from "../domain/text/readable.ts";
import type { ShownVersion } from "./records.ts";

/** The value of a version for a reader; for one that has none, why. */
export function versionText({ shown, shape, kind, reason }: ShownVersion): string {
  if (kind === "lost" || kind === "pending") return `${kind}${reason === "" ? "" : `: ${reason}`}`;
  return shown === null ? `${shape} (too large to be shown)` : readable(shown.value);
}
