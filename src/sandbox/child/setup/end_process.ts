import { intrinsics } from "../../codec/intrinsics.ts";

const MAX_CHARS = 500;
const BytesOf = Uint8Array;
const { exit } = Deno, writeSync = Deno.stderr.writeSync.bind(Deno.stderr);
/** Without it, the runtime would dispatch an event in a global that has been emptied. */
const DISPATCHED = Symbol.for("Deno.isUnloadDispatched");
const { viewBuffer, defineProperty, encodeInto, slice } = intrinsics;

/** Ends the process; the reason of a fault reaches the main process through stderr. */
export function endProcess(why: string | null): never {
  try {
    if (why !== null) writeFault(why);
  } catch { /* the main process is gone */ }
  defineProperty(globalThis, DISPATCHED, { value: true });
  return exit(why === null ? 0 : 1);
}

function writeFault(why: string): void {
  const bytes = new BytesOf(3 * MAX_CHARS + 1);
  const { written } = encodeInto(`${slice(why, 0, MAX_CHARS)}\n`, bytes);
  writeSync(new BytesOf(viewBuffer(bytes) as ArrayBuffer, 0, written));
}
