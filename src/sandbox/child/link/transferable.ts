import { look } from "../intrinsics/look.ts";

const { defineProperty } = Object, { iterator } = Symbol;
const Uint8 = Uint8Array, Buffer = ArrayBuffer;
/** Below this a copy is cheaper than handing the buffer over. */
const COPIED_BYTES = 16 << 10;

/**
 * The transfer list of a message between the child's threads, with what is worth handing over. Given also where that is
 * nothing: without a list some runtimes make one of their own and iterate that. Asks views and buffers by getters of
 * their own time: a block may have replaced those of the prototypes.
 */
export function transferable(message: object): Transferable[] {
  const payload: unknown = "payload" in message ? message.payload : null;
  if (!(payload instanceof Uint8)) return list(null);
  const buffer = look.viewBuffer(payload);
  return list(buffer instanceof Buffer && look.bufferBytes(buffer) > COPIED_BYTES ? buffer : null);
}

/** A list that the runtime can iterate although a block may have replaced the iterator of arrays. */
function list(item: Transferable | null): Transferable[] {
  let done = item === null;
  const next = (): object => {
    const result = { done, value: done ? undefined : item };
    done = true;
    return result;
  };
  return defineProperty(item === null ? [] : [item], iterator, { value: () => ({ next }) });
}
