import { type GrantedPath, NO_ACCESS } from "../confine/access.ts";
import { type LandlockRules, type PathRule, rulesFor } from "../confine/landlock_rules.ts";
import type { ExecPolicy } from "./exec_policy.ts";
import { SHARED_MEMORY } from "./mounts.ts";

const bit = (at: number): bigint => 1n << BigInt(at);
const EXECUTE = bit(0), WRITE_FILE = bit(1), READ_FILE = bit(2), READ_DIR = bit(3);
const MAKE_CHAR = bit(6), MAKE_BLOCK = bit(11), TRUNCATE = bit(14), IOCTL_DEV = bit(15);
/** Rights that a rule about a file may contain; the others are for folders. */
const OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;
const READ = EXECUTE | READ_FILE | READ_DIR;
const DEVICE = READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV;

/** The Landlock rules for a program on a kernel with this ABI. Everything the kernel knows is denied, except these. */
export function execRules(
  abi: number,
  { read, list, write, devices, network, namespaces }: Pick<
    ExecPolicy,
    "read" | "list" | "write" | "devices" | "network" | "namespaces"
  >,
): LandlockRules {
  const base = rulesFor(abi, NO_ACCESS);
  const change = base.handledFiles & ~(MAKE_CHAR | MAKE_BLOCK | IOCTL_DEV);
  const rule = ({ path, folder }: GrantedPath, rights: bigint): PathRule => ({
    path,
    rights: rights & base.handledFiles & (folder ? base.handledFiles : OF_FILES),
  });
  return {
    ...base,
    handledNet: network === "none" ? base.handledNet : 0n,
    paths: [
      ...read.map((one) => rule(one, READ)),
      ...list.map((path) => rule({ path, folder: true }, READ_DIR)),
      ...write.map((one) => rule(one, change)),
      ...(namespaces ? [rule({ path: SHARED_MEMORY, folder: true }, change)] : []),
      ...devices.map((path) => rule({ path, folder: false }, DEVICE)),
    ],
  };
}
