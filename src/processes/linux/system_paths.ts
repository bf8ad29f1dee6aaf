import { dirname, join, resolve } from "node:path";
import { Pace } from "../../domain/kit/concurrency.ts";
import type { GrantedPath } from "../../sandbox/confine/access.ts";
import { realEntry } from "../_paths.ts";

const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt"];
/** `/proc` is never a link, and the runtime needs every permission to inspect the folder. */
const PROCESSES: GrantedPath = { path: "/proc", folder: true };
/** `resolv.conf` may be a link to another location. */
const LINKED = ["/etc/resolv.conf"];
const ETC_DEPTH = 4;

export function systemPaths(): readonly GrantedPath[] {
  const found = [...SYSTEM, ...LINKED].map(realEntry);
  return distinct([PROCESSES, ...found.filter((one) => one !== null)]);
}

/** Root may read all its own files, even keys of the machine, whatever rights it has dropped. Root therefore gets only
 * files that all users may read, which takes a while to find. */
export async function settingsPaths(): Promise<readonly GrantedPath[]> {
  return Deno.uid() === 0 ? distinct(await readable("/etc", ETC_DEPTH)) : [{ path: "/etc", folder: true }];
}

export function linksOf(paths: readonly string[]): readonly (readonly [path: string, to: string])[] {
  const found = new Map<string, string>();
  for (const path of [...SYSTEM, ...LINKED, ...paths]) followLinks(path, found);
  return [...found];
}

function followLinks(path: string, found: Map<string, string>): void {
  const [, ...names] = path.split("/");
  let at = "";
  for (const [index, name] of names.entries()) {
    at = `${at}/${name}`;
    const to = found.get(at) ?? linkAt(at);
    if (to === null) continue;
    const isNew = !found.has(at);
    found.set(at, to);
    if (isNew) followLinks(resolve(dirname(at), to, ...names.slice(index + 1)), found);
    return;
  }
}

function linkAt(path: string): string | null {
  try {
    return Deno.readLinkSync(path);
  } catch {
    return null;
  }
}

async function readable(folder: string, depth: number, pace = new Pace()): Promise<readonly GrantedPath[]> {
  const parts: GrantedPath[] = [];
  let whole = true;
  for (const { name } of Deno.readDirSync(folder)) {
    if (pace.due) await pace.rest();
    const path = join(folder, name), info = lstatOf(path);
    if (!info || info.isSymlink) continue;
    const open = ((info.mode ?? 0) & (info.isDirectory ? 0o5 : 0o4)) !== 0;
    if (!open || (info.isDirectory && depth === 0)) whole = false;
    else if (info.isDirectory) {
      const inner = await readable(path, depth - 1, pace);
      if (inner.length !== 1 || inner[0]?.path !== path) whole = false;
      parts.push(...inner);
    } else parts.push({ path, folder: false });
  }
  return whole ? [{ path: folder, folder: true }] : parts;
}

function lstatOf(path: string): Deno.FileInfo | null {
  try {
    return Deno.lstatSync(path);
  } catch {
    return null;
  }
}

function distinct(paths: readonly GrantedPath[]): readonly GrantedPath[] {
  return [...new Map(paths.map((one) => [one.path, one])).values()];
}
