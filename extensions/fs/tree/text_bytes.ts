import { createHash } from "node:crypto";
import { Pace } from "./pace.ts";

export const PROBE = 8_000;
const SLICE = 1024 * 1024;

/** Whether there is a NUL among the first bytes, which is git's rule. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, PROBE).includes(0);
}

/** The exact text, including a byte order mark; `lossy` if it is not UTF-8. */
export function decodeText(bytes: Uint8Array): { readonly text: string; readonly lossy: boolean } {
  try {
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), lossy: false };
  } catch {
    return { text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes), lossy: true };
  }
}

/** Synchronous: a megabyte takes less than a millisecond, and another thread would take longer. */
export async function sha256Of(bytes: Uint8Array): Promise<string> {
  const hash = createHash("sha256");
  const pace = new Pace(undefined);
  for (let at = 0; at < bytes.length; at += SLICE) {
    if (pace.due) await pace.rest();
    hash.update(bytes.subarray(at, at + SLICE));
  }
  return hash.digest("hex");
}
