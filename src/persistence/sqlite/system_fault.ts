import { accessSync, closeSync, constants, openSync, rmSync, statSync, writeSync } from "node:fs";

/** What SQLite may want to write at once beside what there is: the file, its log, and the index of that. */
const WRITTEN_BYTES = 256 * 1024;
/** It holds so many files open. */
const OPEN_FILES = 4;
/** Some disks have no holes in files: there a place further back would be filled up to it. */
const FURTHEST_BYTES = 64 * 1024 * 1024;

/** The system's words for what stands in the way of writing beside a database, "" where nothing does. SQLite says no more
 * than that it could not open, read or write, so the same is tried with another file: closing a second descriptor of
 * the database itself would end the locks that the process has on it. */
export function systemFault(path: string): string {
  const probe = `${path}.probe-${crypto.randomUUID().slice(0, 8)}`;
  const open: number[] = [];
  try {
    open.push(openSync(probe, "wx", 0o600));
    while (open.length < OPEN_FILES) open.push(openSync(probe, "r+"));
    const place = Math.min(FURTHEST_BYTES, Math.max(sizeOf(path), sizeOf(`${path}-wal`)));
    for (let at = 0; at < WRITTEN_BYTES;) { // a disk that gets full takes a part first
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
