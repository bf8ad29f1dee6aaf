import { type ExecPolicy, type OwnNamespaces, SAID } from "./exec_policy.ts";
import { privateMounts } from "./mounts.ts";
import type { Plan } from "./plan.ts";

const CLONE_NEWUSER = 0x10000000, CLONE_NEWPID = 0x20000000, CLONE_NEWNET = 0x40000000, SIGCHLD = 17;
const PR_SET_PDEATHSIG = 1, SIGKILL = 9;
const AT_FDCWD = -100, O_WRONLY_CLOEXEC = 0o2000001, O_CLOEXEC = 0o2000000;
const AF_INET = 2, SOCK_DGRAM_CLOEXEC = 0o2000002;
const SIOCSIFFLAGS = 0x8914, IFF_UP = 1, IFF_RUNNING = 0x40;
/** struct ifreq: the name of an interface, and its flags behind it. */
const IFREQ_BYTES = 40, FLAGS_AT = 16;

const fault = (what: string): string => `${SAID.noNamespaces} ${what}`;
const USERS = fault("Cannot make a namespace of users"), NETWORK = fault("Cannot make a private network");

/** Puts the program into namespaces of its own. The process that makes the one of processes stays between Vis and the
 * first process in it: each ends with the one before, and a namespace of users clears what arranges that. */
export function enterNamespaces(plan: Plan, policy: ExecPolicy, own: OwnNamespaces): void {
  if (own.other !== null) joinNetwork(plan, own.other, own);
  else {
    if (own.user !== null) enterUsers(plan, own.user);
    if (own.outside !== null) plan.must(NETWORK, "unshare", [CLONE_NEWNET]);
  }
  endWithParent(plan);
  plan.must(fault("Cannot make a namespace of processes"), "clone", [CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0]);
  endWithParent(plan);
  if (own.outside !== null) checkNetwork(plan, own.outside);
  if (policy.network === "private" && own.other === null) startLoopback(plan);
  privateMounts(plan, policy, own);
}

export function endWithParent(plan: Plan): void {
  plan.must(`${SAID.failed} Cannot confine a program: parent death signal`, "prctl", [PR_SET_PDEATHSIG, SIGKILL]);
}

/** The user keeps the ids and has every right in the new namespace. */
function enterUsers(plan: Plan, { uid, gid }: NonNullable<OwnNamespaces["user"]>): void {
  plan.must(USERS, "unshare", [CLONE_NEWUSER]);
  for (const [name, text] of [["setgroups", "deny"], ["gid_map", `${gid} ${gid} 1`], ["uid_map", `${uid} ${uid} 1`]]) {
    const file = plan.open(USERS, "openat", [AT_FDCWD, `/proc/self/${name}`, O_WRONLY_CLOEXEC]);
    plan.must(USERS, "write", [file, text ?? "", text?.length ?? 0], { gives: text?.length ?? 0 });
    plan.close(file);
  }
}

/** An ordinary user has rights in a network by the namespace of users that it was made in. */
function joinNetwork(plan: Plan, other: number, { user }: OwnNamespaces): void {
  const cannot = fault("Cannot join the private network");
  const kinds = [...user === null ? [] : [["user", CLONE_NEWUSER] as const], ["net", CLONE_NEWNET] as const];
  const opened = kinds.map(([name, kind]) => ({
    kind,
    file: plan.open(cannot, "openat", [AT_FDCWD, `/proc/${other}/ns/${name}`, O_CLOEXEC]),
  }));
  for (const { file, kind } of opened) {
    plan.must(cannot, "setns", [file, kind]);
    plan.close(file);
  }
}

/** The other process may have ended, and its id may be that of one in the machine's network. */
function checkNetwork(plan: Plan, outside: string): void {
  const own = new TextEncoder().encode(outside);
  plan.may("readlinkat", [AT_FDCWD, "/proc/thread-self/ns/net", own, own.length]);
  plan.must(fault("Cannot make a private network: it would be the machine's own"), "differ", [
    own,
    outside,
    own.length,
  ]);
}

function startLoopback(plan: Plan): void {
  const request = new Uint8Array(IFREQ_BYTES);
  request.set(new TextEncoder().encode("lo"));
  new DataView(request.buffer).setUint16(FLAGS_AT, IFF_UP | IFF_RUNNING, true);
  const cannot = fault("Cannot make a private network: start its loopback");
  const socket = plan.open(cannot, "socket", [AF_INET, SOCK_DGRAM_CLOEXEC, 0]);
  plan.must(cannot, "ioctl", [socket, SIOCSIFFLAGS, request]);
  plan.close(socket);
}
