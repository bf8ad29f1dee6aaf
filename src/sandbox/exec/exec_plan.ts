import { filterBytes, SET_MODE_FILTER } from "../confine/install_filter.ts";
import { PATH_BENEATH } from "../confine/landlock.ts";
import type { LandlockRules } from "../confine/landlock_rules.ts";
import { type ExecPolicy, SAID } from "./exec_policy.ts";
import { execRules } from "./exec_rules.ts";
import { openGranted } from "./mounts.ts";
import { endWithParent, enterNamespaces } from "./namespaces.ts";
import { Plan } from "./plan.ts";
import { refusedCalls } from "./refused_calls.ts";

const AT_FDCWD = -100, O_CLOEXEC = 0o2000000;
const RLIMIT_CPU = 0, RLIMIT_FSIZE = 1, RLIMIT_CORE = 4, RLIMIT_NPROC = 6, RLIMIT_NOFILE = 7;
const PR_CAPBSET_DROP = 24, PR_SET_NO_NEW_PRIVS = 38, PR_CAP_AMBIENT = 47, CLEAR_ALL = 4;
const LAST_CAPABILITY = 63;
const CAPABILITY_VERSION_3 = 0x20080522;
const SIGNAL_BYTES = 8, UNCATCHABLE = [9, 19], LAST_SIGNAL = 64;
/** struct sigaction: the default, no flags, no mask. */
const NOTHING = new Uint8Array(32);

const fault = (what: string): string => `${SAID.failed} Cannot confine a program: ${what}`;

/** What the plan depends on besides the policy. */
export interface ExecMachine {
  /** Of Landlock. */
  readonly abi: number;
  /** How far a limit of this process may be raised. */
  hardLimit(resource: number): number;
}

/** The way from a new process to a confined one, in which the program then starts. Throws Error without Landlock. */
export function execPlan(policy: ExecPolicy, machine: ExecMachine): Plan {
  const { network, namespaces, input } = policy;
  const { abi } = machine;
  if (abi === 0) throw new Error("Cannot confine a program: Landlock: not in this kernel");
  const plan = new Plan(fault("inherited descriptors"));
  if (!input) readNothing(plan);
  if (namespaces === null) endWithParent(plan);
  else enterNamespaces(plan, policy, namespaces);
  dropPrivileges(plan, policy.limits, machine);
  restrictPaths(plan, execRules(abi, policy));
  const filter = refusedCalls({ network, own: namespaces !== null, abi });
  const program = [filter.length, filterBytes(filter)]; // struct sock_fprog
  plan.must(fault("system call filter"), "seccomp", [SET_MODE_FILTER, 0, program]);
  return plan;
}

function readNothing(plan: Plan): void {
  const cannot = `${SAID.failed} Cannot start a program: its input`;
  const nothing = plan.open(cannot, "openat", [AT_FDCWD, "/dev/null", O_CLOEXEC]);
  plan.must(cannot, "dup3", [nothing, 0, 0]);
  plan.close(nothing);
}

/** Reduces the process to its uid: no capability that a program of root could regain, no new privileges from set-id
 * files, default signal handling, limits. A limit that is lower already stays: only a privileged process can raise
 * one. */
function dropPrivileges(plan: Plan, limits: ExecPolicy["limits"], { hardLimit }: ExecMachine): void {
  // Fails for a user without privileges, who has none to drop.
  for (let one = 0; one <= LAST_CAPABILITY; one++) plan.may("prctl", [PR_CAPBSET_DROP, one]);
  plan.may("prctl", [PR_CAP_AMBIENT, CLEAR_ALL]);
  plan.must(fault("no_new_privs"), "prctl", [PR_SET_NO_NEW_PRIVS, 1]);
  for (
    const [what, resource, most] of [
      ["processor time", RLIMIT_CPU, limits.cpuSeconds],
      ["size of files", RLIMIT_FSIZE, limits.fileBytes],
      ["core files", RLIMIT_CORE, 0],
      ["processes", RLIMIT_NPROC, limits.processes],
      ["open files", RLIMIT_NOFILE, limits.openFiles],
    ] as const
  ) {
    const limit = Math.min(most, hardLimit(resource));
    plan.must(fault(`limit of ${what}`), "prlimit64", [0, resource, [limit, limit], 0]);
  }
  plan.must(fault("capabilities"), "capset", [[CAPABILITY_VERSION_3], [0, 0, 0]]);
  // Signals that this process ignores (SIGPIPE) would stay so in the program.
  for (let signal = 1; signal <= LAST_SIGNAL; signal++) {
    if (!UNCATCHABLE.includes(signal)) plan.may("rt_sigaction", [signal, NOTHING, 0, SIGNAL_BYTES]);
  }
}

function restrictPaths(
  plan: Plan,
  { handledFiles, handledNet, scoped, attributeBytes, paths }: LandlockRules,
): void {
  const attributes = [handledFiles, handledNet, scoped];
  const ruleset = plan.open(fault("Landlock: no ruleset"), "landlock_create_ruleset", [attributes, attributeBytes, 0]);
  for (const { path, rights } of paths) {
    const granted = openGranted(plan, path);
    const rule = [rights, granted]; // packed: 12 bytes
    plan.must(`${SAID.failed} Cannot grant ${path} to the sandbox`, "landlock_add_rule", [
      ...[ruleset, PATH_BENEATH, rule, 0],
    ]);
    plan.close(granted);
  }
  plan.must(fault("Landlock: not enforced"), "landlock_restrict_self", [ruleset, 0]);
  plan.close(ruleset);
}
