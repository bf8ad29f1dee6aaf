import { dirname, join, resolve } from "node:path";
import type { GrantedPath } from "../sandbox/confine/access.ts";

/** The system folders that programs need. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt"];
/** Never a link; the runtime looks at nothing there unless every permission was given. */
const PROCESSES: GrantedPath = { path: "/proc", folder: true };
/** `resolv.conf` is often a link to another location. */
const LINKED = ["/etc/resolv.conf"];
const DEVICES = ["null", "zero", "full", "random", "urandom"].map((name) => `/dev/${name}`);
const ETC_DEPTH = 4;

/** Folders of the machine with programs that every program may read and run: real paths, and only those that exist. */
export function systemPaths(): readonly GrantedPath[] {
  const found = [...SYSTEM, ...LINKED].map(machinePath);
  return distinct([PROCESSES, ...found.filter((one) => one !== null)]);
}

/** The settings of the machine that every program may read. Root may read all its own files, keys of the machine
 * included, whatever rights it has dropped: for it, only what everybody may read, which takes a while to find. */
export async function settingsPaths(): Promise<readonly GrantedPath[]> {
  return Deno.uid() === 0 ? distinct(await readable("/etc", ETC_DEPTH)) : [{ path: "/etc", folder: true }];
}

export async function deviceNodes(): Promise<readonly string[]> {
  const there = await Promise.all(DEVICES.map((path) => Deno.lstat(path).then((it) => it.isCharDevice, () => false)));
  return DEVICES.filter((_, at) => there[at]);
}

/** The links that lead from these paths and the system's to real ones, where they are and where they lead. */
export async function linksOf(paths: readonly string[]): Promise<readonly (readonly [path: string, to: string])[]> {
  const found = new Map<string, string>();
  for (const path of [...SYSTEM, ...LINKED, ...paths]) await followLinks(path, found);
  return [...found];
}

async function followLinks(path: string, found: Map<string, string>): Promise<void> {
  const [, ...names] = path.split("/");
  let at = "";
  for (const [index, name] of names.entries()) {
    at = `${at}/${name}`;
    const to = found.get(at) ?? await Deno.readLink(at).catch(() => null);
    if (to === null) continue;
    const isNew = !found.has(at);
    found.set(at, to);
    // A link that was followed before may be one in a circle.
    if (isNew) await followLinks(resolve(dirname(at), to, ...names.slice(index + 1)), found);
    return;
  }
}

/** Null if nothing exists. */
export async function realPath(path: string): Promise<GrantedPath | null> {
  try {
    const real = await Deno.realPath(path);
    return { path: real, folder: (await Deno.stat(real)).isDirectory };
  } catch {
    return null;
  }
}

/** `realPath` for folders of the machine: the runtime would start a thread for each of them, which takes longer. */
export function machinePath(path: string): GrantedPath | null {
  try {
    const real = Deno.realPathSync(path);
    return { path: real, folder: Deno.statSync(real).isDirectory };
  } catch {
    return null;
  }
}

/** What everybody may read below a folder, as the smallest list of paths. */
async function readable(folder: string, depth: number): Promise<readonly GrantedPath[]> {
  const parts: GrantedPath[] = [];
  let whole = true;
  for await (const { name } of Deno.readDir(folder)) {
    const path = join(folder, name);
    const info = await Deno.lstat(path).catch(() => null);
    if (!info || info.isSymlink) continue;
    const open = ((info.mode ?? 0) & (info.isDirectory ? 0o5 : 0o4)) !== 0;
    if (!open || (info.isDirectory && depth === 0)) whole = false;
    else if (info.isDirectory) {
      const inner = await readable(path, depth - 1);
      if (inner.length !== 1 || inner[0]?.path !== path) whole = false;
      parts.push(...inner);
    } else parts.push({ path, folder: false });
  }
  return whole ? [{ path: folder, folder: true }] : parts;
}

function distinct(paths: readonly GrantedPath[]): readonly GrantedPath[] {
  return [...new Map(paths.map((one) => [one.path, one])).values()];
}
