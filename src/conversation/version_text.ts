import { readable } from "../domain/text/readable.ts";
import type { ShownVersion } from "./records.ts";

/** The value of a version as readable text; if it has none, the reason. */
export function versionText({ shown, shape, kind, reason }: ShownVersion): string {
  if (kind === "lost" || kind === "pending") return `${kind}${reason === "" ? "" : `: ${reason}`}`;
  return shown === null ? `${shape} (too large to be shown)` : readable(shown.value);
}
