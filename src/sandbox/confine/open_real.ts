import type { Libc } from "./libc.ts";

const AT_FDCWD = BigInt.asUintN(64, -100n), O_PATH_CLOEXEC = 0o12000000n, RESOLVE_NO_SYMLINKS = 4n;
const O_NOFOLLOW = Deno.build.arch === "aarch64" ? 0o100000n : 0o400000n;

/** struct open_how for openat2, in words. No link is followed; with `link`, the end may be one. */
export function howReal({ link }: { readonly link: boolean }): readonly bigint[] {
  return [O_PATH_CLOEXEC | (link ? O_NOFOLLOW : 0n), 0n, RESOLVE_NO_SYMLINKS];
}

/** A descriptor that stands for a path. The path had no link in it when it was resolved; a link created since is
 * refused, not followed. Throws Error if it cannot be opened. */
export function openReal(libc: Libc, path: string): number {
  const name = new TextEncoder().encode(`${path}\0`);
  const how = new Uint8Array(new BigUint64Array(howReal({ link: false })).buffer);
  const descriptor = libc.call("openat2", [AT_FDCWD, libc.address(name), libc.address(how), BigInt(how.length)]);
  if (descriptor < 0) {
    throw new Error(`Cannot grant ${path} to the sandbox: it cannot be opened (errno ${libc.errno()})`);
  }
  return descriptor;
}
