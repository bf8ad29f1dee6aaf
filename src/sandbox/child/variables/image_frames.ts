import type { VariableImage, VariableKind, VariableSummary } from "../../../domain/query/variable.ts";
import { FrameFields, MAX_PAYLOAD_BYTES } from "../../protocol.ts";
import { look } from "../realm/captured.ts";

const { defineProperty } = Object;
/** The rest of a frame is for names, sources and summaries beside the values. */
const PART_BYTES = MAX_PAYLOAD_BYTES / 2;
const OVERHEAD_BYTES = 500;

/** Splits variables into parts that fit one frame each. Variables that share a table stay together, since it is sent
 * once. */
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

/** Appends without `push`, because a block may have replaced it or put a setter on the prototype of arrays. */
function add<T>(list: T[], item: T): void {
  defineProperty(list, list.length, { value: item, writable: true, enumerable: true, configurable: true });
}

const KINDS: readonly VariableKind[] = ["data", "function", "class", "instance", "pending", "lost"];
const MAX_IMAGES = 100_000, MAX_NAME = 1000, MAX_SOURCE = 16 << 20, MAX_REASON = 2000;

/** Checks decoded variables that came over the wire. Throws ProtocolError. */
export function imageList(value: unknown): VariableImage[] {
  return new FrameFields({ images: value }, "variables").list("images", MAX_IMAGES).map(image);
}

function image(value: unknown): VariableImage {
  const fields = new FrameFields(value, "variable");
  return {
    name: fields.text("name", MAX_NAME),
    kind: fields.oneOf("kind", KINDS),
    bytes: fields.bytes("bytes"),
    root: fields.nullable("root", (name) => fields.text(name, MAX_NAME)),
    source: fields.text("source", MAX_SOURCE),
    requires: fields.texts("requires", { items: MAX_IMAGES, length: MAX_NAME }),
    reason: fields.text("reason", MAX_REASON),
    summary: summary(fields.value["summary"]),
  };
}

function summary(value: unknown): VariableSummary {
  const fields = new FrameFields(value, "summary");
  return {
    declaration: fields.text("declaration", 20),
    type: fields.text("type", MAX_NAME),
    size: fields.nullable("size", (name) => fields.amount(name)),
    shape: fields.text("shape", MAX_NAME),
    inline: fields.nullable("inline", (name) => fields.text(name, MAX_NAME)),
    doc: fields.text("doc", MAX_NAME),
  };
}
