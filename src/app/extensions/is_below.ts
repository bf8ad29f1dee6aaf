import { isAbsolute, relative } from "node:path";

/** Whether a path is inside a folder, on every system; both must be absolute. */
export function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== "" && way !== ".." && !/^\.\.[\\/]/.test(way) && !isAbsolute(way);
}
