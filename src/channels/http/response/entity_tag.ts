import { createHash } from "node:crypto";

/** The strong entity tag of a representation. */
export function entityTag(text: string): string {
  return `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`;
}
