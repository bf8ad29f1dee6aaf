import { accessSync, closeSync, constants, openSync, rmSync, statSync, writeSync } from "node:fs";

/** The space that SQLite may need at once in addition to what exists: for the file, its log, and the log's index. */
const WRITTEN_BYTES = 256 * 1024;
/** The number of files that it keeps open. */
const OPEN_FILES = 4;
/** Some disks do not support sparse files: there, writing at a later offset fills everything before it. */
const FURTHEST_BYTES = 64 * 1024 * 1024;

/** The system's message for what prevents writing next to a database, "" if nothing does. SQLite reports only that it
 * could not open, read or write, so the same operations are tried on another file: closing a second descriptor of the
 * database itself would release the locks that the process holds on it. */
export function systemFault(path: string): string {
  const probe = `${path}.probe-${crypto.randomUUID().slice(0, 8)}`;
  const open: number[] = [];
  try {
    open.push(openSync(probe, "wx", 0o600));
    while (open.length < OPEN_FILES) open.push(openSync(probe, "r+"));
    const place = Math.min(FURTHEST_BYTES, Math.max(sizeOf(path), sizeOf(`${path}-wal`)));
    for (let at = 0; at < WRITTEN_BYTES;) { // a disk that is nearly full writes only part of it
      at += writeSync(open[0] ?? -1, new Uint8Array(WRITTEN_BYTES - at), 0, WRITTEN_BYTES - at, place + at);
    }
    accessSync(path, constants.W_OK);
    return "";
  } catch (error) {
    const { code = "", message = "" }: { readonly code?: unknown; readonly message?: string } = Object(error);
    return `${code} ${message}`;
  } finally {
    for (const descriptor of open) closeSync(descriptor);
    rmSync(probe, { force: true });
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
