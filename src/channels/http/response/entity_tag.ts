import { createHash } from "node:crypto";

/** The strong entity tag of a representation. */
export function entityTag(text: string): string {
  return `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`;
}

/** Whether a header such as If-Match contains the tag. `weak`: weak tags match as well (If-None-Match). */
export function namesTag(header: string, tag: string, { weak }: { readonly weak: boolean }): boolean {
  const named = header.split(",").map((one) => one.trim());
  return named.some((one) => one === "*" || one === tag || weak && one === `W/${tag}`);
}
