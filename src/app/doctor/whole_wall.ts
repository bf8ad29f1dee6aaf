import type { UnwalledMode } from "../../extension/spawned.ts";

/** What decides whether programs get a whole wall on this machine. */
export interface MachineFacts {
  readonly os: typeof Deno.build.os;
  /** Whose programs get the wall: the executable of Vis. */
  readonly executable: string;
  readonly isRoot: boolean;
  /** Text of a file without blanks around it; "" if it cannot be read. */
  readonly read: (path: string) => string;
  readonly exists: (path: string) => boolean;
}

const MARKS_OF_CONTAINERS = ["/.dockerenv", "/run/.containerenv"];
const SYSCTL = "/proc/sys";
/** The least capable number that desktop systems use. */
const NAMESPACES = 15_000;

/** Facts of this machine. */
export function machineFacts(): MachineFacts {
  return {
    os: Deno.build.os,
    executable: Deno.execPath(),
    isRoot: Deno.uid() === 0,
    read: (path) => {
      try {
        return Deno.readTextFileSync(path).trim();
      } catch {
        return "";
      }
    },
    exists: (path) => {
      try {
        Deno.statSync(path);
        return true;
      } catch {
        return false;
      }
    },
  };
}

/** What makes the wall whole, as a sentence with a command; the first that is missing counts. */
export function wholeWallFix(
  facts: MachineFacts,
  { landlock, mode }: {
    /** Why the kernel lacks Landlock; null if it has it. */
    readonly landlock: string | null;
    readonly mode: UnwalledMode;
  },
): string {
  const { os, read, exists, isRoot } = facts;
  if (os === "windows") return "Run Vis in WSL 2, where the wall can be whole";
  if (os !== "linux") return "Run Vis in a Linux virtual machine or container, where the wall can be whole";
  if (/gvisor/i.test(read("/proc/version"))) {
    return "gVisor has no Landlock: run the container by runc (--runtime=runc)";
  }
  if (landlock !== null) {
    const modules = read("/sys/kernel/security/lsm");
    return modules === "" || modules.split(",").includes("landlock")
      ? "Use Linux 6.2 or later"
      : `Boot with the kernel parameter lsm=landlock,${modules}`;
  }
  const isContainer = MARKS_OF_CONTAINERS.some(exists) || /docker|containerd|kubepods|lxc/.test(read("/proc/1/cgroup"));
  if (isContainer) {
    const flags = isRoot
      ? "--cap-add SYS_ADMIN --security-opt apparmor=unconfined"
      : "--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined";
    const unasked = "; if it is thrown away afterwards, vis config set shell.unwalled run asks nothing";
    return `Start the container with ${flags}${mode === "ask" ? unasked : ""}`;
  }
  if (isRoot) return "Give Vis the capability CAP_SYS_ADMIN, or run it as an ordinary user";
  if (read(`${SYSCTL}/user/max_user_namespaces`) === "0") return lasting("user.max_user_namespaces", `${NAMESPACES}`);
  if (read(`${SYSCTL}/kernel/unprivileged_userns_clone`) === "0") {
    return lasting("kernel.unprivileged_userns_clone", "1");
  }
  if (read(`${SYSCTL}/kernel/apparmor_restrict_unprivileged_userns`) === "1") {
    const lines = apparmorProfile(facts.executable).trimEnd().split("\n").map((line) => `'${line}'`).join(" ");
    const file = "/etc/apparmor.d/vis-agent";
    return `Give Vis an AppArmor profile: printf '%s\\n' ${lines} | sudo tee ${file} && sudo apparmor_parser -r ${file}`;
  }
  return "vis logs says what the kernel refused (namespaces_given_up)";
}

/** Lets this executable make user namespaces, and changes nothing else. */
export function apparmorProfile(executable: string): string {
  return `abi <abi/4.0>,
include <tunables/global>
profile vis-agent ${/\s/.test(executable) ? `"${executable}"` : executable} flags=(unconfined) {
  userns,
}
`;
}

function lasting(name: string, value: string): string {
  return `Allow user namespaces: echo ${name}=${value} | sudo tee /etc/sysctl.d/60-vis.conf && sudo sysctl --system`;
}
