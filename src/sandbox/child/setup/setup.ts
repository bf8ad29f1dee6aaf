import { type ChildAccess, readAccess } from "./child_access.ts";
import { type Bytes, type Frame, FrameFields, PROTOCOL_VERSION, ProtocolError } from "../../protocol.ts";

/** Which walls to set: all of them, except in tests that show what each one blocks alone. */
export interface WallSwitches {
  readonly realm: boolean;
  readonly permissions: boolean;
  readonly limits: boolean;
  readonly landlock: boolean;
  readonly seccomp: boolean;
}

export const ALL_WALLS: WallSwitches = {
  realm: true,
  permissions: true,
  limits: true,
  landlock: true,
  seccomp: true,
};

/** The first frame of a connection. */
export interface Setup {
  readonly version: typeof PROTOCOL_VERSION;
  readonly walls: WallSwitches;
  /** The main process: the child ends with it. 0 behind a launcher; the child then ends when its input does. */
  readonly parentPid: number;
  readonly memoryBytes: number;
  readonly outputBytes: number;
  readonly previewChars: number;
  readonly functions: readonly string[];
  /** Functions whose time does not count against a deadline. */
  readonly untimed: readonly string[];
  readonly access: ChildAccess;
}

/** Reads the fields of a `setup` frame; its payload is the codec bytes of the constants. Throws ProtocolError. */
export function readSetup({ header, payload }: Frame): { readonly setup: Setup; readonly constants: Bytes } {
  if (header.t !== "setup") throw new ProtocolError(`Cannot begin with a frame "${header.t}"`);
  const fields = new FrameFields(header, "setup");
  const walls = new FrameFields(fields.value["walls"], "walls");
  const setup: Setup = {
    version: fields.oneOf("version", [PROTOCOL_VERSION]),
    walls: {
      realm: walls.flag("realm"),
      permissions: walls.flag("permissions"),
      limits: walls.flag("limits"),
      landlock: walls.flag("landlock"),
      seccomp: walls.flag("seccomp"),
    },
    parentPid: fields.amount("parentPid"),
    memoryBytes: fields.amount("memoryBytes"),
    outputBytes: fields.amount("outputBytes"),
    previewChars: fields.amount("previewChars"),
    functions: fields.texts("functions", { items: 10_000, length: 200 }),
    untimed: fields.texts("untimed", { items: 10_000, length: 200 }),
    access: readAccess(fields.value["access"]),
  };
  return { setup, constants: payload };
}
