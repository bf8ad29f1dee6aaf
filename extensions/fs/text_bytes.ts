import { createHash } from "node:crypto";

const PROBE = 8_000;
/** Asking another thread takes longer than this much takes here. */
const AT_ONCE = 128 * 1024;

/** A NUL among the first bytes, as git decides. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, PROBE).includes(0);
}

/** Text exactly as it stands, a byte order mark included; `lossy` where it is not UTF-8. */
export function decodeText(bytes: Uint8Array): { readonly text: string; readonly lossy: boolean } {
  try {
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), lossy: false };
  } catch {
    return { text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes), lossy: true };
  }
}

export async function hashOf(bytes: Uint8Array): Promise<string> {
  if (bytes.length <= AT_ONCE) return createHash("sha256").update(bytes).digest("hex");
  const digest = await crypto.subtle.digest("SHA-256", new Uint8Array(bytes));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
