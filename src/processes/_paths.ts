import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { GrantedPath } from "../sandbox/confine/access.ts";

/** The call is synchronous, because an asynchronous call takes longer. */
export function realPathOf(path: string): string | null {
  try {
    if (!existsSync(path)) return null; // An error takes longer than this check.
    return Deno.realPathSync(path);
  } catch {
    return null; // The check throws for a path that the permissions of the runtime exclude, such as /dev/shm.
  }
}

export function realEntry(path: string): GrantedPath | null {
  const real = realPathOf(path), kind = real === null ? null : entryKind(real);
  return real === null || kind === null ? null : { path: real, folder: kind === "folder" };
}

export function isFile(path: string): boolean {
  return realEntry(path)?.folder === false;
}

export function isFolder(path: string): boolean {
  return realEntry(path)?.folder === true;
}

/** The kind of a link is "link", whatever its target is. */
export function entryKind(path: string): "folder" | "file" | "link" | null {
  try {
    const { isDirectory, isSymlink } = Deno.lstatSync(path);
    return isDirectory ? "folder" : isSymlink ? "link" : "file";
  } catch {
    return null;
  }
}

/** Some file systems ignore case and forms of Unicode, so names need one spelling for a comparison. */
export function plainName(name: string): string {
  return name.normalize("NFKC").toLowerCase();
}

/** Linux follows at most this many links on the way to a path. */
const MOST_FOLLOWED = 40;

interface PathStep {
  readonly path: string;
  readonly is: "folder" | "file" | "link" | null;
  readonly isLast: boolean;
  readonly to?: string;
}

export function* stepsTo(
  path: string,
  { from = "/", kindOf = entryKind }: { readonly from?: string; readonly kindOf?: typeof entryKind } = {},
): Generator<PathStep> {
  const names = path.slice(from.length).split("/").filter((name) => name !== "" && name !== ".");
  let at = from, links = 0;
  while (names.length > 0) {
    const name = names.shift() ?? "";
    if (name === "..") {
      at = dirname(at);
      if (names.length === 0) yield { path: at, is: kindOf(at), isLast: true };
      continue;
    }
    const here = join(at, name), is = kindOf(here);
    if (is !== "link") {
      yield { path: here, is, isLast: names.length === 0 };
      at = here;
      continue;
    }
    const to = linkAt(here);
    yield { path: here, is, isLast: false, to };
    if (++links > MOST_FOLLOWED) return;
    if (to.startsWith("/")) at = "/";
    names.unshift(...to.split("/").filter((one) => one !== "" && one !== "."));
  }
}

function linkAt(path: string): string {
  try {
    return Deno.readLinkSync(path);
  } catch {
    return ".";
  }
}
