import type { GrantedPath, KernelAccess } from "./access.ts";

/** Access rights and scopes with the kernel's numbers: include/uapi/linux/landlock.h. The ABI that introduced each is
 * listed in https://docs.kernel.org/userspace-api/landlock.html ("Compatibility" and "Previous limitations"). */
const bit = (at: number): bigint => 1n << BigInt(at);
const WRITE_FILE = bit(1), READ_FILE = bit(2), READ_DIR = bit(3), MAKE_REG = bit(8), TRUNCATE = bit(14);
/** Number of rights per ABI: EXECUTE to MAKE_SYM (ABI 1), REFER (2), TRUNCATE (3), IOCTL_DEV (5). */
const FILE_RIGHTS = [0, 13, 14, 15, 15, 16];
const CONNECT_TCP = bit(1);
const NET_RIGHTS = bit(0) | CONNECT_TCP; // BIND_TCP too, ABI 4
const SCOPES = bit(0) | bit(1); // abstract unix sockets and signals, ABI 6
const ATTRIBUTE_BYTES = { files: 8, net: 16, scopes: 24 };

export interface PathRule {
  readonly path: string;
  readonly rights: bigint;
}

export interface LandlockRules {
  /** struct landlock_ruleset_attr; an older kernel accepts only the first fields. */
  readonly handledFiles: bigint;
  readonly handledNet: bigint;
  readonly scoped: bigint;
  readonly attributeBytes: number;
  readonly paths: readonly PathRule[];
  readonly ports: readonly { readonly port: number; readonly rights: bigint }[];
  /** What this kernel cannot restrict, in plain words. */
  readonly missing: readonly string[];
  /** Grants that this kernel cannot restrict to what they name; they must be refused. */
  readonly unsafe: readonly string[];
}

/** The rules for a kernel with this ABI: everything it knows is denied, except the grants. ABI 7 only adds logging
 * options, which keep the kernel's defaults; a newer ABI is used as 7. An unknown right would be EINVAL. */
export function rulesFor(abi: number, { read, write, ports }: KernelAccess): LandlockRules {
  const handledFiles = bit(FILE_RIGHTS[Math.min(abi, FILE_RIGHTS.length - 1)] ?? 0) - 1n;
  return {
    handledFiles,
    handledNet: abi >= 4 ? NET_RIGHTS : 0n,
    scoped: abi >= 6 ? SCOPES : 0n,
    attributeBytes: abi >= 6 ? ATTRIBUTE_BYTES.scopes : abi >= 4 ? ATTRIBUTE_BYTES.net : ATTRIBUTE_BYTES.files,
    paths: [
      ...read.map((granted) => pathRule(granted, { file: READ_FILE, folder: READ_DIR })),
      ...write.map((granted) => pathRule(granted, { file: WRITE_FILE | TRUNCATE & handledFiles, folder: MAKE_REG })),
    ],
    ports: abi >= 4 ? ports.map((port) => ({ port, rights: CONNECT_TCP })) : [],
    missing: missing(abi),
    unsafe: [
      // Without TRUNCATE, read access to a file would allow emptying it.
      ...(abi < 3 && read.length + write.length > 0 ? ["paths need Landlock ABI 3"] : []),
      ...(abi < 4 && ports.length > 0 ? ["net needs Landlock ABI 4"] : []),
    ],
  };
}

/** A file takes no folder rights: the kernel would refuse the rule. */
function pathRule(
  { path, folder }: GrantedPath,
  rights: { readonly file: bigint; readonly folder: bigint },
): PathRule {
  return { path, rights: folder ? rights.file | rights.folder : rights.file };
}

function missing(abi: number): string[] {
  const gaps: string[] = [];
  if (abi < 3) gaps.push("Landlock: emptying a file is not covered before ABI 3");
  if (abi < 4) gaps.push("Landlock: TCP is not covered before ABI 4");
  if (abi < 5) gaps.push("Landlock: control calls to devices are not covered before ABI 5");
  if (abi < 6) gaps.push("Landlock: signals and abstract sockets are not covered before ABI 6");
  return gaps;
}
