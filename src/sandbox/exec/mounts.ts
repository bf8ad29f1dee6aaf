import { dirname } from "node:path";
import { howReal } from "../confine/open_real.ts";
import { type ExecPolicy, type OwnNamespaces, SAID } from "./exec_policy.ts";
import type { Plan } from "./plan.ts";

const CLONE_NEWNS = 0x20000, CLONE_NEWIPC = 0x8000000;
const MS_NOSUID = 2, MS_NODEV = 4, MS_NOEXEC = 8, MS_REC = 0x4000, MS_PRIVATE = 0x40000;
const ATTR_RDONLY = 1, ATTR_NOSUID = 2, ATTR_NODEV = 4;
const AT_FDCWD = -100, AT_EMPTY_PATH = 0x1000, AT_RECURSIVE = 0x8000;
const CLONE_CLOEXEC = 1 | 0o2000000, FROM_DESCRIPTOR = 4, MNT_DETACH = 2;
const REGULAR_FILE = 0o100600;
const HOW_BYTES = 24, ATTRIBUTE_BYTES = 32;
const EEXIST = 17;
/** The largest share of memory that an empty file system takes. */
const EMPTY_OPTIONS = "mode=755,size=25%";
/** Covered while the new tree is built on it; any folder that every machine has. */
const BASE = "/usr";
const PROCESSES = "/proc";
const DEVICE_LINKS = [["fd", "/proc/self/fd"], ["stdin", "fd/0"], ["stdout", "fd/1"], ["stderr", "fd/2"]] as const;
/** Where programs share memory by name. */
export const SHARED_MEMORY = "/dev/shm";

const fault = (what: string): string => `${SAID.noNamespaces} Cannot make a private file system: ${what}`;

type Paths = Pick<ExecPolicy, "read" | "list" | "write" | "devices">;

interface Tree {
  readonly path: string;
  readonly folder: boolean;
  readonly writable: boolean;
}

/** Gives the process a file system that has only what the program may use, and queues and shared memory of its own. */
export function privateMounts(
  plan: Plan,
  policy: Paths & Pick<ExecPolicy, "cwd">,
  { links, layers, hidden }: Pick<OwnNamespaces, "links" | "layers" | "hidden">,
): void {
  plan.must(fault("unshare"), "unshare", [CLONE_NEWNS | CLONE_NEWIPC]);
  plan.must(fault("make mounts private"), "mount", [0, "/", 0, MS_REC | MS_PRIVATE, 0]);
  const trees = outermostTrees(policy).map((tree) => ({
    ...tree,
    copy: tree.path === PROCESSES ? null : copyOf(plan, tree.path),
  }));
  const covers = hidden.paths.map((path) => ({ path, copy: copyOf(plan, hidden.as) }));
  mountEmpty(plan, BASE);
  for (const [path, to] of links) makeLink(plan, `${BASE}${path}`, to);
  for (const { path, folder, writable, copy } of trees) {
    const at = `${BASE}${path}`;
    makePlace(plan, at, folder);
    if (copy === null) mountProcesses(plan, at);
    else place(plan, copy, { at, folder, writable });
  }
  for (const { path, folder, link, writable } of layers) {
    const at = `${BASE}${path}`;
    place(plan, copyOf(plan, at, { link }), { at, folder, writable });
  }
  for (const { path, copy } of covers) cover(plan, `${BASE}${path}`, copy);
  for (const [name, to] of DEVICE_LINKS) makeLink(plan, `${BASE}/dev/${name}`, to);
  makePlace(plan, `${BASE}${SHARED_MEMORY}`, true);
  mountEmpty(plan, `${BASE}${SHARED_MEMORY}`);
  enter(plan, policy.cwd);
}

/** Opens what is at a path, which is a link only where that is wanted. */
export function openGranted(plan: Plan, path: string, { link } = { link: false }): number {
  const cannot = `${SAID.failed} Cannot grant ${path} to the sandbox: it cannot be opened`;
  return plan.open(cannot, "openat2", [AT_FDCWD, path, howReal({ link }), HOW_BYTES]);
}

/** What may be changed, and what may be read outside of it, as the fewest folders and files; outer ones come first. */
function outermostTrees({ read, list, write, devices }: Paths): readonly Tree[] {
  const trees = new Map<string, Tree>();
  const add = (tree: Tree): void => {
    if (!trees.has(tree.path)) trees.set(tree.path, tree);
  };
  for (const one of write) add({ ...one, writable: true });
  for (const one of read) add({ ...one, writable: false });
  for (const path of list) add({ path, folder: true, writable: false });
  for (const path of devices) add({ path, folder: false, writable: false });
  // A folder that may be changed is needed in one that may only be read.
  const isNeeded = ({ path, writable }: Tree): boolean => {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const outer = trees.get(path.slice(0, end));
      if (outer && (outer.writable || !writable)) return false;
    }
    return true;
  };
  return [...trees.values()].filter(isNeeded).sort((a, b) => a.path.length - b.path.length);
}

function copyOf(plan: Plan, path: string, { link } = { link: false }): number {
  const real = openGranted(plan, path, { link });
  const copy = plan.open(fault(`place ${path}`), "open_tree", [real, "", CLONE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE]);
  plan.close(real);
  return copy;
}

/** An empty file system in memory. */
function mountEmpty(plan: Plan, at: string): void {
  plan.must(fault("an empty one"), "mount", ["tmpfs", at, "tmpfs", MS_NOSUID | MS_NODEV, EMPTY_OPTIONS]);
}

/** The processes of the program. */
function mountProcesses(plan: Plan, at: string): void {
  const flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  plan.must(fault("mount its processes"), "mount", ["proc", at, "proc", flags, "hidepid=ptraceable"]);
}

/** A folder or file that something can be placed on. */
function makePlace(plan: Plan, path: string, folder: boolean): void {
  const made = (at: string, call: "mkdirat" | "mknodat", mode: number): void =>
    plan.must(fault(`make ${at}`), call, [AT_FDCWD, at, mode, 0], { or: -EEXIST });
  for (let end = path.indexOf("/", 1); end > 0; end = path.indexOf("/", end + 1)) {
    if (end > BASE.length) made(path.slice(0, end), "mkdirat", 0o755);
  }
  if (folder) made(path, "mkdirat", 0o755);
  else made(path, "mknodat", REGULAR_FILE);
}

function place(
  plan: Plan,
  copy: number,
  { at, folder, writable }: { readonly at: string; readonly folder: boolean; readonly writable: boolean },
): void {
  const attributes = ATTR_NOSUID | (folder ? ATTR_NODEV : 0) | (writable ? 0 : ATTR_RDONLY);
  setAttributes(plan, copy, { attributes, flags: AT_RECURSIVE });
  if (writable) plan.may("mount_setattr", [copy, "", AT_EMPTY_PATH, [0, ATTR_RDONLY, 0, 0], ATTRIBUTE_BYTES]);
  plan.must(fault(`place ${at}`), "move_mount", [copy, "", AT_FDCWD, at, FROM_DESCRIPTOR]);
  plan.close(copy);
}

/** Places a file over another one. If that has gone, it may be elsewhere, so that nothing may run. */
function cover(plan: Plan, at: string, copy: number): void {
  setAttributes(plan, copy, { attributes: ATTR_NOSUID | ATTR_RDONLY, flags: 0 });
  plan.must(fault(`hide ${at}`), "move_mount", [copy, "", AT_FDCWD, at, FROM_DESCRIPTOR]);
  plan.close(copy);
}

function makeLink(plan: Plan, path: string, to: string): void {
  makePlace(plan, dirname(path), true);
  plan.must(fault(`link ${path}`), "symlinkat", [to, AT_FDCWD, path], { or: -EEXIST });
}

/** Makes the new tree the root of all files, keeps it as it is, and gives up everything else. */
function enter(plan: Plan, folder: string): void {
  const root = openGranted(plan, BASE);
  setAttributes(plan, root, { attributes: ATTR_RDONLY, flags: 0 });
  plan.close(root);
  plan.must(fault("go to the root"), "chdir", [BASE]);
  plan.must(fault("change the root"), "pivot_root", [".", "."]);
  plan.must(fault("leave the old root"), "umount2", [".", MNT_DETACH]);
  plan.must(fault("go to the folder"), "chdir", [folder]);
}

function setAttributes(
  plan: Plan,
  descriptor: number,
  { attributes, flags }: { readonly attributes: number; readonly flags: number },
): void {
  const args = [descriptor, "", AT_EMPTY_PATH | flags, [attributes, 0, 0, 0], ATTRIBUTE_BYTES];
  plan.must(fault("set attributes"), "mount_setattr", args);
}
