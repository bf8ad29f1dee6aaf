import { createHash } from "node:crypto";
import { Pace } from "@vis/extension";

const SLICE = 1024 * 1024;

/** In slices: a megabyte takes less than a millisecond, and another thread would take longer. */
export async function sha256Of(bytes: Uint8Array): Promise<string> {
  const hash = createHash("sha256");
  const pace = new Pace();
  for (let at = 0; at < bytes.length; at += SLICE) {
    if (pace.due) await pace.rest();
    hash.update(bytes.subarray(at, at + SLICE));
  }
  return hash.digest("hex");
}
