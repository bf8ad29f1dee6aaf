import type { GrantedPath, KernelAccess } from "../confine/access.ts";
import { type Bytes, type Frame, FrameFields, PROTOCOL_VERSION, ProtocolError } from "../protocol.ts";

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

export type Misnamed = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface Setup {
  readonly version: typeof PROTOCOL_VERSION;
  readonly walls: WallSwitches;
  /** The child ends when this process ends. Behind a launcher, the value is 0 and the child ends when its input
   * ends. */
  readonly parentPid: number;
  readonly memoryBytes: number;
  readonly outputBytes: number;
  readonly previewChars: number;
  readonly functions: readonly string[];
  readonly untimed: readonly string[];
  readonly misnamed: Misnamed;
  readonly access: ChildAccess;
}

export function readSetup({ header, payload }: Frame): { readonly setup: Setup; readonly constants: Bytes } {
  if (header.t !== "setup") {
    throw new ProtocolError(`Cannot begin the sandbox: the first frame has the type "${header.t}", not "setup"`);
  }
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
    misnamed: readMisnamed(fields.value["misnamed"]),
    access: readAccess(fields.value["access"]),
  };
  return { setup, constants: payload };
}

function readMisnamed(value: unknown): Misnamed {
  const { value: byFunction } = new FrameFields(value, "misnamed");
  for (const name of Object.keys(byFunction)) {
    const names = new FrameFields(byFunction[name], "misnamed");
    for (const key of Object.keys(names.value)) names.text(key, 200);
  }
  return byFunction as Misnamed;
}

export interface ChildAccess extends KernelAccess {
  readonly net: readonly string[];
  /** The realm may read these variables, which the child's environment does not contain. */
  readonly env: readonly { readonly name: string; readonly value: string | null }[];
  readonly globals: readonly string[];
  readonly workspace: string;
}

const MAX_ITEMS = 1000, MAX_TEXT = 64 << 10;

function readAccess(value: unknown): ChildAccess {
  const fields = new FrameFields(value, "access");
  const texts = (name: string): readonly string[] => fields.texts(name, { items: MAX_ITEMS, length: MAX_TEXT });
  const each = (name: string): readonly FrameFields[] =>
    fields.list(name, MAX_ITEMS).map((it) => new FrameFields(it, name));
  const paths = (name: string): readonly GrantedPath[] =>
    each(name).map((it) => ({ path: it.text("path", MAX_TEXT), folder: it.flag("folder") }));
  return {
    read: paths("read"),
    write: paths("write"),
    ports: fields.list("ports", MAX_ITEMS).map((port) => new FrameFields({ port }, "ports").amount("port")),
    net: texts("net"),
    env: each("env").map((it) => ({
      name: it.text("name", MAX_TEXT),
      value: it.nullable("value", (key) => it.text(key, MAX_TEXT)),
    })),
    globals: texts("globals"),
    workspace: fields.text("workspace", MAX_TEXT),
  };
}

export function workerPermissions({ net, read, write }: ChildAccess): Deno.PermissionOptionsObject | null {
  if (net.length + read.length + write.length === 0) return null;
  const some = (names: readonly string[]): string[] | false => names.length > 0 ? [...names] : false;
  return {
    net: some(net),
    read: some(read.map(({ path }) => path)),
    write: some(write.map(({ path }) => path)),
    env: false,
    sys: false,
    run: false,
    ffi: false,
    import: false,
  };
}
