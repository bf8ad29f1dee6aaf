import type { Libc } from "../confine/libc.ts";
import type { ExecPolicy, OwnNamespaces } from "./exec_policy.ts";
import { MountFault, Mounts } from "./mounts.ts";

/** Covered while the new tree is built on it; any folder that every machine has. */
const BASE = "/usr";
const PROCESSES = "/proc";
const DEVICE_LINKS = [["fd", "/proc/self/fd"], ["stdin", "fd/0"], ["stdout", "fd/1"], ["stderr", "fd/2"]] as const;
/** Where programs share memory by name. */
export const SHARED_MEMORY = "/dev/shm";

type Paths = Pick<ExecPolicy, "read" | "list" | "write" | "devices">;

interface Tree {
  readonly path: string;
  readonly folder: boolean;
  readonly writable: boolean;
}

/** Gives this thread a file system that has only what the program may use, and queues and shared memory of its own.
 * Returns what failed, "" if nothing did; the process must then end. Throws Error for a path that cannot be opened. */
export function enterPrivateMounts(
  libc: Libc,
  { paths, namespaces: { links, layers, hidden } }: { readonly paths: Paths; readonly namespaces: OwnNamespaces },
): string {
  const mounts = new Mounts(libc);
  const folder = Deno.cwd();
  try {
    mounts.separate();
    const trees = outermostTrees(paths).map((tree) => ({ ...tree, copy: mounts.copy(tree.path) }));
    const covers = hidden.paths.map((path) => ({ path, copy: mounts.copy(hidden.as) }));
    mounts.empty(BASE);
    for (const [path, to] of links) mounts.link(`${BASE}${path}`, to);
    for (const { path, folder, writable, copy } of trees) {
      const at = `${BASE}${path}`;
      mounts.makePlace(at, folder);
      if (path === PROCESSES) mounts.processes(at);
      else mounts.place(copy, { at, folder, writable });
    }
    for (const { path, folder, link, writable } of layers) {
      const at = `${BASE}${path}`;
      mounts.place(mounts.copy(at, { link }), { at, folder, writable });
    }
    for (const { path, copy } of covers) mounts.cover(`${BASE}${path}`, copy);
    for (const [name, to] of DEVICE_LINKS) mounts.link(`${BASE}/dev/${name}`, to);
    mounts.makePlace(`${BASE}${SHARED_MEMORY}`, true);
    mounts.empty(`${BASE}${SHARED_MEMORY}`);
    mounts.enter(BASE, folder);
    return "";
  } catch (error) {
    if (error instanceof MountFault) return `Cannot make a private file system: ${error.message}`;
    throw error;
  }
}

/** What may be changed, and what may be read outside of it, as the fewest folders and files; outer ones come first. */
function outermostTrees({ read, list, write, devices }: Paths): readonly Tree[] {
  const all: Tree[] = [
    ...write.map((one) => ({ ...one, writable: true })),
    ...read.map((one) => ({ ...one, writable: false })),
    ...list.map((path) => ({ path, folder: true, writable: false })),
    ...devices.map((path) => ({ path, folder: false, writable: false })),
  ];
  // A folder that may be changed is needed in one that may only be read.
  const isNeeded = ({ path, writable }: Tree, at: number): boolean =>
    !all.some((other, otherAt) =>
      (other.writable || !writable) && (other.path === path ? otherAt < at : path.startsWith(`${other.path}/`))
    );
  return all.filter(isNeeded).sort((a, b) => a.path.length - b.path.length);
}
