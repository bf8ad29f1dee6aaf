import { look } from "../intrinsics/look.ts";

const { defineProperty } = Object, { iterator } = Symbol;
const Uint8 = Uint8Array, Buffer = ArrayBuffer;
/** Below this size, a copy is cheaper than a transfer. */
const COPIED_BYTES = 16 << 10;

/** The transfer list of a message between the child's threads, with the buffers worth transferring. Pass it even if it
 * is empty: without a list, some runtimes create one and iterate it. It reads views and buffers with captured getters,
 * since a block may have replaced those of the prototypes. */
export function transferable(message: object): Transferable[] {
  const payload: unknown = "payload" in message ? message.payload : null;
  if (!(payload instanceof Uint8)) return list(null);
  const buffer = look.viewBuffer(payload);
  return list(buffer instanceof Buffer && look.bufferBytes(buffer) > COPIED_BYTES ? buffer : null);
}

/** A list that the runtime can iterate even if a block has replaced the iterator of arrays. */
function list(item: Transferable | null): Transferable[] {
  let done = item === null;
  const next = (): object => {
    const result = { done, value: done ? undefined : item };
    done = true;
    return result;
  };
  return defineProperty(item === null ? [] : [item], iterator, { value: () => ({ next }) });
}
