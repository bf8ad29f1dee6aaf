import type { KernelAccess } from "./access.ts";
import { type LandlockRules, rulesFor } from "./landlock_rules.ts";
import type { Libc } from "./libc.ts";
import { openReal } from "./open_real.ts";

const VERSION = 1n, NET_PORT = 2n;
export const PATH_BENEATH = 1n;

export interface Landlock {
  /** The kernel's ABI; 0 if the wall is not in place. */
  readonly abi: number;
  readonly failed: readonly string[];
}

/** Denies this thread, and every thread and process that it starts from now on, all paths and TCP ports that `access`
 * does not name, abstract sockets, and signals to others. Existing threads are never covered, so call it before
 * any is started. It does not cover stat, readlink, chmod, unix path sockets, UDP, io_uring and memfd; the system
 * call filter does. Throws Error for an access that this kernel cannot restrict to what it names. */
export function landlock(libc: Libc, access: KernelAccess): Landlock {
  const abi = landlockAbi(libc);
  const rules = rulesFor(abi, access);
  if (rules.unsafe.length > 0) throw new Error(`Cannot grant to the sandbox: ${rules.unsafe.join(", ")}`);
  if (abi < 1) return { abi: 0, failed: ["Landlock: not in this kernel"] };
  const attributes = words(rules.handledFiles, rules.handledNet, rules.scoped);
  const ruleset = libc.call("landlock_create_ruleset", [libc.address(attributes), BigInt(rules.attributeBytes)]);
  if (ruleset < 0) return { abi: 0, failed: [`Landlock: no ruleset (errno ${libc.errno()})`] };
  try {
    addRules(libc, { ruleset: BigInt(ruleset), rules });
    const result = libc.call("landlock_restrict_self", [BigInt(ruleset)]);
    if (result !== 0) return { abi: 0, failed: [`Landlock: not enforced (errno ${libc.errno()})`] };
  } finally {
    libc.closeDescriptor(ruleset);
  }
  return { abi, failed: rules.missing };
}

/** What this kernel has of Landlock; 0 if nothing. */
export function landlockAbi(libc: Libc): number {
  return Math.max(libc.call("landlock_create_ruleset", [0n, 0n, VERSION]), 0);
}

function addRules(libc: Libc, { ruleset, rules }: { readonly ruleset: bigint; readonly rules: LandlockRules }): void {
  for (const { path, rights } of rules.paths) {
    const folder = openReal(libc, path);
    const rule = new Uint8Array(12); // packed: rights, descriptor
    const view = new DataView(rule.buffer);
    view.setBigUint64(0, rights, true);
    view.setInt32(8, folder, true);
    const result = libc.call("landlock_add_rule", [ruleset, PATH_BENEATH, libc.address(rule)]);
    const errno = libc.errno();
    libc.closeDescriptor(folder);
    if (result !== 0) throw new Error(`Cannot grant ${path} to the sandbox: errno ${errno}`);
  }
  for (const { port, rights } of rules.ports) {
    const rule = words(rights, BigInt(port));
    const result = libc.call("landlock_add_rule", [ruleset, NET_PORT, libc.address(rule)]);
    if (result !== 0) throw new Error(`Cannot grant port ${port} to the sandbox: errno ${libc.errno()}`);
  }
}

function words(...values: readonly bigint[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new BigUint64Array(values).buffer);
}
