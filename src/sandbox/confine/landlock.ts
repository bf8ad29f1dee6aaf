import type { GrantedPath, KernelAccess } from "./access.ts";
import type { Libc } from "./libc.ts";

const VERSION = 1n, NET_PORT = 2n;
export const PATH_BENEATH = 1n;

interface Landlock {
  readonly abi: number;
  readonly failed: readonly string[];
}

/** Landlock covers this thread and its later threads, but not existing threads, so the caller must call this function
 * as early as possible. The system call filter must cover calls that Landlock does not, such as stat, chmod and UDP. */
export function landlock(libc: Libc, access: KernelAccess): Landlock {
  const abi = landlockAbi(libc);
  const rules = rulesFor(abi, access);
  if (rules.unsafe.length > 0) {
    throw new Error(
      `Cannot apply the grants of the sandbox: ${rules.unsafe.join(", ")}, and this kernel ${
        abi < 1 ? "does not offer Landlock" : `has ABI ${abi}`
      }`,
    );
  }
  if (abi < 1) return { abi: 0, failed: ["Landlock: this kernel does not offer it"] };
  const attributes = words(rules.handledFiles, rules.handledNet, rules.scoped);
  const ruleset = libc.call("landlock_create_ruleset", [libc.address(attributes), BigInt(rules.attributeBytes)]);
  if (ruleset < 0) return { abi: 0, failed: [`Landlock: the kernel made no ruleset (${libc.reason()})`] };
  try {
    addRules(libc, { ruleset: BigInt(ruleset), rules });
    const result = libc.call("landlock_restrict_self", [BigInt(ruleset)]);
    if (result !== 0) return { abi: 0, failed: [`Landlock: the kernel did not enforce it (${libc.reason()})`] };
  } finally {
    libc.closeDescriptor(ruleset);
  }
  return { abi, failed: rules.missing };
}

export function landlockAbi(libc: Libc): number {
  return Math.max(libc.call("landlock_create_ruleset", [0n, 0n, VERSION]), 0);
}

function addRules(libc: Libc, { ruleset, rules }: { readonly ruleset: bigint; readonly rules: LandlockRules }): void {
  for (const { path, rights } of rules.paths) {
    const folder = openReal(libc, path);
    const rule = new Uint8Array(12); // The record is packed: rights, then descriptor.
    const view = new DataView(rule.buffer);
    view.setBigUint64(0, rights, true);
    view.setInt32(8, folder, true);
    const result = libc.call("landlock_add_rule", [ruleset, PATH_BENEATH, libc.address(rule)]);
    const reason = libc.reason();
    libc.closeDescriptor(folder);
    if (result !== 0) throw new Error(`Cannot give the sandbox access to ${path}: the kernel refused it (${reason})`);
  }
  for (const { port, rights } of rules.ports) {
    const rule = words(rights, BigInt(port));
    const result = libc.call("landlock_add_rule", [ruleset, NET_PORT, libc.address(rule)]);
    if (result !== 0) {
      throw new Error(`Cannot give the sandbox access to port ${port}: the kernel refused it (${libc.reason()})`);
    }
  }
}

function words(...values: readonly bigint[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new BigUint64Array(values).buffer);
}

const bit = (at: number): bigint => 1n << BigInt(at);
/** The numbers are from include/uapi/linux/landlock.h; https://docs.kernel.org/userspace-api/landlock.html lists the
 * ABI of each right. */
export const RIGHTS = {
  EXECUTE: bit(0),
  WRITE_FILE: bit(1),
  READ_FILE: bit(2),
  READ_DIR: bit(3),
  MAKE_CHAR: bit(6),
  MAKE_REG: bit(8),
  MAKE_BLOCK: bit(11),
  TRUNCATE: bit(14),
  IOCTL_DEV: bit(15),
};
const { WRITE_FILE, READ_FILE, READ_DIR, MAKE_REG, TRUNCATE } = RIGHTS;
/** The index is the ABI: EXECUTE to MAKE_SYM are of ABI 1, REFER of 2, TRUNCATE of 3 and IOCTL_DEV of 5. */
const FILE_RIGHTS = [0, 13, 14, 15, 15, 16];
const CONNECT_TCP = bit(1);
const NET_RIGHTS = bit(0) | CONNECT_TCP; // Bit 0 is BIND_TCP; both bits are of ABI 4.
const SCOPES = bit(0) | bit(1); // Abstract unix sockets and signals belong to ABI 6.
const ATTRIBUTE_BYTES = { files: 8, net: 16, scopes: 24 };

export interface PathRule {
  readonly path: string;
  readonly rights: bigint;
}

export interface LandlockRules {
  /** The fields belong to struct landlock_ruleset_attr; an older kernel accepts only the first fields. */
  readonly handledFiles: bigint;
  readonly handledNet: bigint;
  readonly scoped: bigint;
  readonly attributeBytes: number;
  readonly paths: readonly PathRule[];
  readonly ports: readonly { readonly port: number; readonly rights: bigint }[];
  readonly missing: readonly string[];
  /** The caller must refuse these grants, because this kernel cannot restrict them exactly. */
  readonly unsafe: readonly string[];
}

/** ABI 7 only adds logging options, which keep the kernel's defaults, so a newer ABI counts as 7. An unknown right
 * would cause EINVAL. */
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

/** The kernel would refuse folder rights in a rule for a file. */
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

const AT_FDCWD = BigInt.asUintN(64, -100n), O_PATH_CLOEXEC = 0o12000000n, RESOLVE_NO_SYMLINKS = 4n;
const O_NOFOLLOW = Deno.build.arch === "aarch64" ? 0o100000n : 0o400000n;

/** The fields belong to struct open_how of openat2. The kernel follows no link; with `link`, the last part may be a
 * link. */
export function howReal({ link }: { readonly link: boolean }): readonly bigint[] {
  return [O_PATH_CLOEXEC | (link ? O_NOFOLLOW : 0n), 0n, RESOLVE_NO_SYMLINKS];
}

/** The path had no link when Vis resolved it, and the kernel refuses a link that appeared since. */
function openReal(libc: Libc, path: string): number {
  const name = new TextEncoder().encode(`${path}\0`);
  const how = new Uint8Array(new BigUint64Array(howReal({ link: false })).buffer);
  const descriptor = libc.call("openat2", [AT_FDCWD, libc.address(name), libc.address(how), BigInt(how.length)]);
  if (descriptor < 0) {
    throw new Error(`Cannot give the sandbox access to ${path}: Vis cannot open it (${libc.reason()})`);
  }
  return descriptor;
}
