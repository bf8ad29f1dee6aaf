import type { OwnNamespaces, ProgramNetwork } from "../sandbox/exec/exec_policy.ts";
import { PROC } from "./proc_files.ts";

const UNSHARE = "/usr/bin/unshare", NSENTER = "/usr/bin/nsenter", SETPRIV = "/usr/bin/setpriv";
const NEW_USER = ["--user", "--map-current-user", "--keep-caps"];
/** The process between Vis and the first process of the namespace ends with Vis. A namespace of users clears that, and so
 * it comes after one. */
const ENDS_WITH_VIS = [SETPRIV, "--pdeathsig", "KILL", "--"];
const OWN_PROCESSES = ["--pid", "--fork", "--kill-child", "--"];
const CAP_SYS_ADMIN = 21n;

interface Plan {
  /** What starts the launcher. */
  readonly launcher: readonly string[];
  readonly outside: OwnNamespaces["outside"];
  readonly startLoopback: boolean;
}

/** Namespaces of programs: their own processes, files, queues and network. Programs with the same name have the same
 * network, with nothing but a loopback, as long as one of them runs. */
export class Namespaces {
  readonly #running = new Map<string, Set<number>>();
  #outside = "";
  #fault: string | undefined;

  /** Why programs get none, as far as Vis knows without a trial; "" if they may get them. */
  get fault(): string {
    return this.#fault ??= faultOf();
  }

  /** They cannot, although it seemed so. */
  failed(why: string): void {
    this.#fault = why;
  }

  plan(network: ProgramNetwork, name: string): Plan {
    this.#outside ||= PROC.link("/proc/self/ns/net");
    const isRoot = Deno.uid() === 0;
    const other = network === "private" ? this.#otherOf(name) : null;
    const ownNetwork = network === "tcp" || other !== null ? [] : ["--net"];
    const join = other === null ? [] : [
      NSENTER,
      ...(isRoot ? [] : [`--user=/proc/${other}/ns/user`, "--preserve-credentials"]),
      `--net=/proc/${other}/ns/net`,
      "--",
    ];
    return {
      launcher: isRoot
        ? [...join, ...ENDS_WITH_VIS, UNSHARE, ...ownNetwork, ...OWN_PROCESSES]
        : [...join, UNSHARE, ...NEW_USER, ...ownNetwork, "--", ...ENDS_WITH_VIS, UNSHARE, ...OWN_PROCESSES],
      outside: network === "tcp" ? null : this.#outside,
      startLoopback: network === "private" && other === null,
    };
  }

  /** Remembers a program until the returned function is called. */
  began(name: string, pid: number): () => void {
    const pids = this.#running.get(name) ?? new Set();
    this.#running.set(name, pids.add(pid));
    return () => {
      pids.delete(pid);
      if (pids.size === 0 && this.#running.get(name) === pids) this.#running.delete(name);
    };
  }

  /** A program of this name that is in its network already. */
  #otherOf(name: string): number | null {
    for (const pid of this.#running.get(name) ?? []) {
      try {
        if (PROC.link(`/proc/${pid}/ns/net`) !== this.#outside) return pid;
      } catch { /* it has ended */ }
    }
    return null;
  }
}

function faultOf(): string {
  const missing = [UNSHARE, NSENTER, SETPRIV].find((path) => !exists(path));
  if (missing !== undefined) return `${missing} of util-linux is missing`;
  if (Deno.uid() === 0) {
    const capabilities = /^CapEff:\s*([0-9a-f]+)$/m.exec(PROC.read("/proc/self/status"))?.[1] ?? "0";
    return (BigInt(`0x${capabilities}`) >> CAP_SYS_ADMIN & 1n) === 1n ? "" : "root has no CAP_SYS_ADMIN here";
  }
  const setting = (path: string): string => {
    try {
      return PROC.read(`/proc/sys/${path}`).trim();
    } catch {
      return "";
    }
  };
  if (Number(setting("user/max_user_namespaces")) === 0) return "user.max_user_namespaces is 0";
  if (setting("kernel/unprivileged_userns_clone") === "0") return "kernel.unprivileged_userns_clone is 0";
  return setting("kernel/apparmor_restrict_unprivileged_userns") === "1"
    ? "kernel.apparmor_restrict_unprivileged_userns is 1"
    : "";
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
