/** Below this a copy is cheaper than handing the buffer over. */
const COPIED_BYTES = 16 << 10;

/** The transfer list of a message between the child's threads. */
export function transferable(message: object): ArrayBuffer[] {
  const payload: unknown = "payload" in message ? message.payload : null;
  if (!(payload instanceof Uint8Array) || !(payload.buffer instanceof ArrayBuffer)) return [];
  return payload.buffer.byteLength > COPIED_BYTES ? [payload.buffer] : [];
}
