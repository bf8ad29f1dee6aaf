import type { Libc } from "./libc.ts";

const F_GETFD = 1, FD_CLOEXEC = 1;
const LAST_OF_PROTOCOL = 2;
const FOLDER = "/proc/self/fd";
const BATCH_BYTES = 32 << 10;
// Offsets in struct linux_dirent64.
const LENGTH = 16, NAME = 19;

/** Closes inherited descriptors except the protocol's three. exec leaves open only what is not marked close-on-exec,
 * and the runtime marks everything that it opens itself. Returns what failed. */
export function closeInherited(libc: Libc): string[] {
  const folder = libc.open(FOLDER);
  if (folder < 0) return [`inherited descriptors: ${FOLDER} cannot be read`];
  const open: number[] = [];
  const batch = new Uint8Array(BATCH_BYTES);
  for (;;) {
    const got = libc.call("getdents64", [BigInt(folder), libc.address(batch), BigInt(BATCH_BYTES)]);
    if (got <= 0) break;
    open.push(...entries(batch.subarray(0, got)));
  }
  for (const descriptor of open) {
    if (descriptor > LAST_OF_PROTOCOL && descriptor !== folder && isInherited(libc, descriptor)) {
      libc.closeDescriptor(descriptor);
    }
  }
  libc.closeDescriptor(folder);
  return [];
}

function isInherited(libc: Libc, descriptor: number): boolean {
  const flags = libc.fcntl(descriptor, F_GETFD);
  return flags >= 0 && (flags & FD_CLOEXEC) === 0;
}

/** Descriptors named by the entries, without "." and "..". */
function entries(batch: Uint8Array): number[] {
  const view = new DataView(batch.buffer, batch.byteOffset, batch.byteLength);
  const found: number[] = [];
  for (let at = 0; at < batch.length; at += view.getUint16(at + LENGTH, true)) {
    const end = batch.indexOf(0, at + NAME);
    const name = new TextDecoder().decode(batch.subarray(at + NAME, end));
    if (/^\d+$/.test(name)) found.push(Number(name));
  }
  return found;
}
