import { Buffer } from "node:buffer";

const NEWLINE = 10;

/** Passes bytes on in pieces that end with a line. Whoever reads them need not join a long line from its pieces again
 * with each that comes. */
export function joinLines(): TransformStream<Uint8Array, Uint8Array> {
  let begun: Uint8Array[] = [];
  return new TransformStream({
    transform: (bytes, controller) => {
      const end = bytes.lastIndexOf(NEWLINE) + 1;
      if (end > 0) {
        controller.enqueue(Buffer.concat([...begun, bytes.subarray(0, end)]));
        begun = [];
      }
      if (end < bytes.length) begun.push(bytes.slice(end));
    },
  });
}
