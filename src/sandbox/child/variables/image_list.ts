import type { VariableImage, VariableKind, VariableSummary } from "../../../domain/query/variable.ts";
import { FrameFields } from "../../protocol.ts";

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
