import type { GrantedPath, KernelAccess } from "../../confine/access.ts";
import { FrameFields } from "../../protocol.ts";

/** The grants of a child as all walls receive them: resolved by the main process (resolve_grants.ts). */
export interface ChildAccess extends KernelAccess {
  /** "127.0.0.1:8080" or "[::1]:8080". */
  readonly net: readonly string[];
  /** Values that the realm may read; null if a variable is not set. They are never in the child's environment. */
  readonly env: readonly { readonly name: string; readonly value: string | null }[];
  readonly globals: readonly string[];
  /** Base of relative paths. */
  readonly workspace: string;
}

const MAX_ITEMS = 1000, MAX_TEXT = 64 << 10;

/** Reads the field "access" of a setup. Throws ProtocolError. */
export function readAccess(value: unknown): ChildAccess {
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

/** The Deno permissions of a worker that opens what is granted; null if nothing is to be opened. Values of the
 * environment need none. */
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
