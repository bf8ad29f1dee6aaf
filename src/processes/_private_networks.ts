import type { PrivateNetwork, ProgramNetwork } from "../sandbox/exec/exec_policy.ts";
import { PROC } from "./proc_files.ts";

const UNSHARE = "/usr/bin/unshare", NSENTER = "/usr/bin/nsenter";
const NEW_USER = [UNSHARE, "--user", "--map-current-user", "--keep-caps"];
const CAP_SYS_ADMIN = 21n;

interface Plan {
  readonly network: ProgramNetwork;
  /** What starts the launcher: a user without privileges needs a user namespace, which a process with several threads
   * cannot make. */
  readonly launcher: readonly string[];
}

/** Networks with nothing but a loopback. Programs of the same name are in the same one as long as one of them runs. */
export class PrivateNetworks {
  readonly #running = new Map<string, Set<number>>();
  #outside = "";
  #works: boolean | null = null;
  #mounts = true;

  /** Whether they can be had, as far as it can be told without trying. */
  get possible(): boolean {
    return this.#works ??= mayMake();
  }

  /** They cannot, although it seemed so. */
  failed(): void {
    this.#works = false;
  }

  /** Whether their programs can have a file system of their own, in which unix sockets are safe. */
  get mounts(): boolean {
    return this.possible && this.#mounts;
  }

  /** They cannot, although it seemed so. */
  mountsFailed(): void {
    this.#mounts = false;
  }

  /** With the links of the machine that lead to the program's files. */
  plan(name: string, links: NonNullable<PrivateNetwork["mounts"]>): Plan {
    this.#outside ||= PROC.link("/proc/self/ns/net");
    const isRoot = Deno.uid() === 0;
    const mounts = this.mounts ? links : null;
    const network = (to: PrivateNetwork["to"]): PrivateNetwork => ({
      kind: "private",
      outside: this.#outside,
      to,
      mounts,
    });
    const other = this.#otherOf(name);
    if (isRoot) return { network: network(other === null ? "make" : { join: other }), launcher: [] };
    if (other === null) return { network: network("start"), launcher: [...NEW_USER, "--net", "--"] };
    const namespaces = [`--user=/proc/${other}/ns/user`, `--net=/proc/${other}/ns/net`];
    const join = [NSENTER, ...namespaces, "--preserve-credentials", "--"];
    // Joining gives no right to mount anything.
    return { network: network("nothing"), launcher: mounts === null ? join : [...join, ...NEW_USER, "--"] };
  }

  /** For a program with TCP that gets a file system of its own. */
  planTcp(links: NonNullable<PrivateNetwork["mounts"]>): Plan {
    return { network: { kind: "tcp", mounts: links }, launcher: Deno.uid() === 0 ? [] : [...NEW_USER, "--"] };
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

function mayMake(): boolean {
  if (Deno.uid() === 0) {
    const capabilities = /^CapEff:\s*([0-9a-f]+)$/m.exec(PROC.read("/proc/self/status"))?.[1] ?? "0";
    return (BigInt(`0x${capabilities}`) >> CAP_SYS_ADMIN & 1n) === 1n;
  }
  const setting = (path: string): string => {
    try {
      return PROC.read(`/proc/sys/${path}`).trim();
    } catch {
      return "";
    }
  };
  return exists(UNSHARE) && exists(NSENTER) && Number(setting("user/max_user_namespaces")) > 0 &&
    setting("kernel/unprivileged_userns_clone") !== "0" &&
    setting("kernel/apparmor_restrict_unprivileged_userns") !== "1";
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
