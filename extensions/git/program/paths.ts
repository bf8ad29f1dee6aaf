import { isPrinted } from "../output/quoted_name.ts";

/** Paths as arguments after `--`, which is added even without paths, so that nothing before it is read as one. Throws
 * TypeError for an invalid path. */
export function pathArguments(paths: string | readonly string[] | undefined): readonly string[] {
  const list = paths === undefined ? [] : typeof paths === "string" ? [paths] : paths;
  for (const path of list) {
    if (path === "" || path.includes("\0")) throw new TypeError(`Cannot use ${JSON.stringify(path)}: it is not a path`);
    if (isPrinted(path)) throw new TypeError(`Cannot use ${path}: its name is not UTF-8; name its folder`);
  }
  return ["--", ...list];
}
