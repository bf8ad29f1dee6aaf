import { look } from "./preview_intrinsics.ts";

const { defineProperty } = Object;
const Uint8 = Uint8Array, Buffer = ArrayBuffer;
/** Below this a copy is cheaper than handing the buffer over. */
const COPIED_BYTES = 16 << 10;

/** The transfer list of a message between the child's threads; null where there is nothing to hand over. Asks views and
 * buffers by getters of their own time: a block may have replaced those of the prototypes. */
export function transferable(message: object): Transferable[] | null {
  const payload: unknown = "payload" in message ? message.payload : null;
  if (!(payload instanceof Uint8)) return null;
  const buffer = look.viewBuffer(payload);
  return buffer instanceof Buffer && look.bufferBytes(buffer) > COPIED_BYTES ? only(buffer) : null;
}

/** A list that the runtime can iterate although a block may have replaced the iterator of arrays. */
function only(item: Transferable): Transferable[] {
  let done = false;
  const next = (): object => {
    const result = { done, value: done ? undefined : item };
    done = true;
    return result;
  };
  return defineProperty([item], Symbol.iterator, { value: () => ({ next }) });
}
