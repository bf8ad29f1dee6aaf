import type { VariableImage } from "../../../domain/query/variable.ts";
import { MAX_PAYLOAD_BYTES } from "../../protocol.ts";
import { look } from "../intrinsics/look.ts";

const { defineProperty } = Object;
/** The rest is for names, sources and summaries beside the values of a part. */
const PART_BYTES = MAX_PAYLOAD_BYTES / 2;
const OVERHEAD_BYTES = 500;

/** Splits variables into parts that fit one frame each. Those that share a table stay together, since it is sent once. */
export function imageParts(images: readonly VariableImage[]): VariableImage[][] {
  const parts: VariableImage[][] = [];
  let part: VariableImage[] = [], size = 0, last: VariableImage | null = null;
  for (let i = 0; i < images.length; i++) {
    const image = images[i];
    if (!image) continue;
    const length = look.viewLength(image.bytes); // a block may have replaced the getter of all views
    const shared = last !== null && length > 0 && image.bytes === last.bytes;
    const bytes = (shared ? 0 : length) + 2 * image.source.length + OVERHEAD_BYTES;
    if (part.length > 0 && size + bytes > PART_BYTES && !shared) {
      add(parts, part);
      part = [];
      size = 0;
    }
    add(part, image);
    size += bytes;
    last = image;
  }
  if (part.length > 0 || parts.length === 0) add(parts, part);
  return parts;
}

/** Not `push`: in the child, a block may have replaced it or put a setter on the prototype of arrays. */
function add<T>(list: T[], item: T): void {
  defineProperty(list, list.length, { value: item, writable: true, enumerable: true, configurable: true });
}
