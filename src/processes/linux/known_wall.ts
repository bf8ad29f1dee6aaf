import type { OwnNamespaces } from "../../sandbox/exec/confinement_plan.ts";
import type { ProgramNetwork } from "../../sandbox/exec/refused_calls.ts";
import type { ProgramWalls } from "../../extension/spawn_types.ts";
import { hasCallNumbers } from "../../sandbox/confine/libc.ts";
import { type OpenFolders, openFolders, type WallOptions } from "../_granted_paths.ts";
import { PROC } from "../proc_files.ts";
import { systemPaths } from "./system_paths.ts";

const CAP_SYS_ADMIN = 21n;

/** The program did not run. */
export class NotStarted extends Error {}

/** Programs of the network "private" with the same name share one loopback, as long as a program with the name runs. */
export class Namespaces {
  readonly #running = new Map<string, Set<number>>();
  #outside = "";
  #fault: string | undefined;

  /** The value is "" if Vis knows no reason why programs get no namespaces; a trial may still fail. */
  get fault(): string {
    return this.#fault ??= faultOf();
  }

  failed(why: string): void {
    this.#fault = why;
  }

  next(network: ProgramNetwork, name: string): Pick<OwnNamespaces, "outside" | "other" | "user"> {
    this.#outside ||= PROC.link("/proc/self/ns/net");
    const uid = Deno.uid() ?? 0, gid = Deno.gid() ?? 0;
    return {
      outside: network === "internet" ? null : this.#outside,
      other: network === "private" ? this.#otherOf(name) : null,
      user: uid === 0 ? null : { uid, gid },
    };
  }

  began(name: string, pid: number): () => void {
    const pids = this.#running.get(name) ?? new Set();
    this.#running.set(name, pids.add(pid));
    return () => {
      pids.delete(pid);
      if (pids.size === 0 && this.#running.get(name) === pids) this.#running.delete(name);
    };
  }

  #otherOf(name: string): number | null {
    for (const pid of this.#running.get(name) ?? []) {
      try {
        if (PROC.link(`/proc/${pid}/ns/net`) !== this.#outside) return pid;
      } catch { /* The program has ended. */ }
    }
    return null;
  }
}

function faultOf(): string {
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
  if (Number(setting("user/max_user_namespaces")) === 0) return "user.max_user_namespaces is 0 or missing";
  if (setting("kernel/unprivileged_userns_clone") === "0") return "kernel.unprivileged_userns_clone is 0";
  return setting("kernel/apparmor_restrict_unprivileged_userns") === "1"
    ? "kernel.apparmor_restrict_unprivileged_userns is 1"
    : "";
}

const LEAST = [5, 13] as const;
const ACTIVE_MODULES = "/sys/kernel/security/lsm";

export async function wallFault(): Promise<string | null> {
  if (!hasCallNumbers) return `Vis has no wall for programs on ${Deno.build.target}`;
  const missing = await landlockFault();
  return missing === null ? null : `the wall requires Landlock, ${missing}`;
}

/** The result is only a first check, because the process that becomes a program also tries Landlock. */
export async function landlockFault(): Promise<string | null> {
  const release = Deno.osRelease();
  const [major = 0, minor = 0] = release.split(".").map((part) => parseInt(part, 10));
  if (major < LEAST[0] || major === LEAST[0] && minor < LEAST[1]) {
    return `which Linux has from ${LEAST.join(".")} on, and this is ${release}`;
  }
  const active = await Deno.readTextFile(ACTIVE_MODULES).catch(() => null); // Containers can lack the file.
  return active === null || active.split(",").includes("landlock") ? null : "which this kernel was booted without";
}

export const PROGRAM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export class KnownWall {
  readonly namespaces = new Namespaces();
  readonly #options: WallOptions;
  #folders: OpenFolders | null = null;

  constructor({ namespaces = true, ...options }: WallOptions & { readonly namespaces?: boolean }) {
    this.#options = options;
    if (!namespaces) this.namespaces.failed("the settings turn them off");
  }

  walls(): ProgramWalls {
    const { leftOut } = this.folders(), { network } = this.#options;
    const reason = this.namespaces.fault;
    const whole = reason === "", isAlone = whole && !network;
    return { network, whole, reason, loopback: isAlone, unix: isAlone, hides: whole, leftOut };
  }

  folders(): OpenFolders {
    return this.#folders ??= openFolders(this.#options, { read: systemPaths(), usual: PROGRAM_PATH });
  }
}
