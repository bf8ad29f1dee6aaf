import { cleanText } from "./clean_text.ts";
import { FrameFields, type Header, PROTOCOL_VERSION } from "../protocol.ts";
import type { Walls } from "../sandbox.ts";

/** The walls that a child reports. Throws ProtocolError. */
export function readReady(header: Header): Walls {
  const fields = new FrameFields(header, "ready");
  fields.oneOf("version", [PROTOCOL_VERSION]);
  const walls = new FrameFields(fields.value["walls"], "walls");
  const kernel = new FrameFields(walls.value["kernel"], "kernel wall");
  return {
    realm: walls.flag("realm"),
    permissions: walls.flag("permissions"),
    process: walls.flag("process"),
    kernel: { landlock: kernel.amount("landlock"), seccomp: kernel.flag("seccomp") },
    failed: walls.texts("failed", { items: 1000, length: 1000 }).map(cleanText),
  };
}
