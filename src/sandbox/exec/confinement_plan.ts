import { dirname } from "node:path";
import { type GrantedPath, NO_ACCESS } from "../confine/access.ts";
import { filterBytes, SET_MODE_FILTER } from "../confine/install_filter.ts";
import { howReal, type LandlockRules, PATH_BENEATH, type PathRule, RIGHTS, rulesFor } from "../confine/landlock.ts";
import { Plan } from "./plan_format.ts";
import { type ProgramNetwork, refusedCalls } from "./refused_calls.ts";

export const SAID = {
  failed: "failed",
  noNamespaces: "no-namespaces",
  begun: "begun",
  cannot: "cannot",
  signal: "signal",
  left: "left",
} as const;

export interface Layer extends GrantedPath {
  readonly link: boolean;
  readonly writable: boolean;
}

export interface HiddenFile {
  readonly path: string;
  readonly inode: bigint;
}

export interface OwnNamespaces {
  /** The program must not be in the network of this name, which is the machine's own; null means that the program uses
   * the machine's network. */
  readonly outside: string | null;
  /** The program joins the network of this process; null means that it joins no network of another program. */
  readonly other: number | null;
  readonly user: { readonly uid: number; readonly gid: number } | null;
  readonly links: readonly (readonly [path: string, to: string])[];
  readonly layers: readonly Layer[];
  readonly hidden: { readonly files: readonly HiddenFile[]; readonly as: string };
}

export interface ExecPolicy {
  readonly cwd: string;
  readonly input: boolean;
  readonly read: readonly GrantedPath[];
  /** The program may list these folders recursively; this right does not include reading files. */
  readonly list: readonly string[];
  readonly write: readonly GrantedPath[];
  readonly devices: readonly string[];
  readonly network: ProgramNetwork;
  readonly namespaces: OwnNamespaces | null;
  readonly owner?: { readonly uid: number; readonly gid: number } | null;
  readonly limits: {
    readonly openFiles: number;
    readonly fileBytes: number;
    readonly cpuSeconds: number;
    /** The kernel counts processes per user and user namespace, not per program, and does not limit root. */
    readonly processes: number;
  };
}

const AT_FDCWD = -100, O_CLOEXEC = 0o2000000;
const RLIMIT_CPU = 0, RLIMIT_FSIZE = 1, RLIMIT_CORE = 4, RLIMIT_NPROC = 6, RLIMIT_NOFILE = 7;
const PR_CAPBSET_DROP = 24, PR_SET_NO_NEW_PRIVS = 38, PR_CAP_AMBIENT = 47, CLEAR_ALL = 4;
const LAST_CAPABILITY = 63;
const CAPABILITY_VERSION_3 = 0x20080522;
const SIGNAL_BYTES = 8, UNCATCHABLE = [9, 19], LAST_SIGNAL = 64;
const NOTHING = new Uint8Array(32);

const fault = (what: string): string =>
  `${SAID.failed} Cannot confine a program: the kernel refused a system call (${what})`;

export interface ExecMachine {
  readonly abi: number;
  hardLimit(resource: number): number;
}

export function execPlan(policy: ExecPolicy, machine: ExecMachine): Plan {
  const { network, namespaces, input } = policy;
  const { abi } = machine;
  if (abi === 0) throw new Error("Cannot confine a program: this kernel does not offer Landlock");
  const plan = new Plan(fault("inherited descriptors"));
  if (!input) readNothing(plan);
  if (namespaces === null) endWithParent(plan);
  else enterNamespaces(plan, policy, namespaces);
  dropPrivileges(plan, policy, machine);
  restrictPaths(plan, execRules(abi, policy));
  const filter = refusedCalls({ network, own: namespaces !== null, abi });
  const program = [filter.length, filterBytes(filter)]; // The bytes are a struct sock_fprog.
  plan.must(fault("system call filter"), "seccomp", [SET_MODE_FILTER, 0, program]);
  return plan;
}

function readNothing(plan: Plan): void {
  const cannot = `${SAID.failed} Cannot start a program: the kernel refused /dev/null as its input`;
  const nothing = plan.open(cannot, "openat", [AT_FDCWD, "/dev/null", O_CLOEXEC]);
  plan.must(cannot, "dup3", [nothing, 0, 0]);
  plan.close(nothing);
}

/** A program of root can regain no capability, and set-id files give no new privileges. A lower limit stays, because
 * only a privileged process can raise a limit. */
function dropPrivileges(
  plan: Plan,
  { limits, owner = null }: Pick<ExecPolicy, "limits" | "owner">,
  { hardLimit }: ExecMachine,
): void {
  // An ordinary user has no capability to drop, so this call may fail.
  for (let one = 0; one <= LAST_CAPABILITY; one++) plan.may("prctl", [PR_CAPBSET_DROP, one]);
  if (owner !== null) {
    // Root may lack CAP_SETUID or CAP_SETGID. Then these calls fail, and the program keeps the ids of root.
    plan.may("setgroups", [0, 0]);
    plan.may("setresgid", [owner.gid, owner.gid, owner.gid]);
    plan.may("setresuid", [owner.uid, owner.uid, owner.uid]);
    endWithParent(plan); // Other ids clear the setting.
  }
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
  // Signals that this process ignores (SIGPIPE) would stay ignored in the program.
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
    const rule = [rights, granted]; // The record is packed: it has 12 bytes.
    plan.must(`${SAID.failed} Cannot give the command access to ${path}: the kernel refused it`, "landlock_add_rule", [
      ...[ruleset, PATH_BENEATH, rule, 0],
    ]);
    plan.close(granted);
  }
  plan.must(fault("Landlock: not enforced"), "landlock_restrict_self", [ruleset, 0]);
  plan.close(ruleset);
}

const CLONE_NEWUSER = 0x10000000, CLONE_NEWPID = 0x20000000, CLONE_NEWNET = 0x40000000, SIGCHLD = 17;
const PR_SET_PDEATHSIG = 1, SIGKILL = 9;
const O_WRONLY_CLOEXEC = 0o2000001;
const AF_INET = 2, SOCK_DGRAM_CLOEXEC = 0o2000002;
const SIOCSIFFLAGS = 0x8914, IFF_UP = 1, IFF_RUNNING = 0x40;
const IFREQ_BYTES = 40, FLAGS_AT = 16;

const noNamespaces = (what: string): string => `${SAID.noNamespaces} ${what}`;
const USERS = noNamespaces("the kernel refused a namespace of users"),
  NETWORK = noNamespaces("the kernel refused a private network");

/** The process that makes the process namespace ends with Vis, and the namespace ends with that process. A user
 * namespace clears the parent death signals, so the plan sets them again. */
function enterNamespaces(plan: Plan, policy: ExecPolicy, own: OwnNamespaces): void {
  if (own.other !== null) joinNetwork(plan, own.other, own);
  else {
    if (own.user !== null) enterUsers(plan, own.user);
    if (own.outside !== null) plan.must(NETWORK, "unshare", [CLONE_NEWNET]);
  }
  endWithParent(plan);
  plan.must(noNamespaces("the kernel refused a namespace of processes"), "clone", [CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0]);
  endWithParent(plan);
  if (own.outside !== null) checkNetwork(plan, own.outside);
  if (["private", "alone"].includes(policy.network) && own.other === null) startLoopback(plan);
  privateMounts(plan, policy, own);
}

function endWithParent(plan: Plan): void {
  plan.must(
    `${SAID.failed} Cannot confine a program: the kernel refused a system call (parent death signal)`,
    "prctl",
    [
      PR_SET_PDEATHSIG,
      SIGKILL,
    ],
  );
}

function enterUsers(plan: Plan, { uid, gid }: NonNullable<OwnNamespaces["user"]>): void {
  plan.must(USERS, "unshare", [CLONE_NEWUSER]);
  for (const [name, text] of [["setgroups", "deny"], ["gid_map", `${gid} ${gid} 1`], ["uid_map", `${uid} ${uid} 1`]]) {
    const file = plan.open(USERS, "openat", [AT_FDCWD, `/proc/self/${name}`, O_WRONLY_CLOEXEC]);
    plan.must(USERS, "write", [file, text ?? "", text?.length ?? 0], { gives: text?.length ?? 0 });
    plan.close(file);
  }
}

/** An ordinary user has rights in a network only through the user namespace that contains the network. */
function joinNetwork(plan: Plan, other: number, { user }: OwnNamespaces): void {
  const cannot = noNamespaces("the kernel refused to join the private network");
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

/** The other process may have ended, and a process in the machine's network may have its id. */
function checkNetwork(plan: Plan, outside: string): void {
  const own = new TextEncoder().encode(outside);
  plan.may("readlinkat", [AT_FDCWD, "/proc/thread-self/ns/net", own, own.length]);
  plan.must(noNamespaces("the private network would be the machine's own"), "sameBytes", [
    own,
    outside,
    own.length,
  ]);
}

function startLoopback(plan: Plan): void {
  const request = new Uint8Array(IFREQ_BYTES);
  request.set(new TextEncoder().encode("lo"));
  new DataView(request.buffer).setUint16(FLAGS_AT, IFF_UP | IFF_RUNNING, true);
  const cannot = noNamespaces("the kernel did not start the loopback of a private network");
  const socket = plan.open(cannot, "socket", [AF_INET, SOCK_DGRAM_CLOEXEC, 0]);
  plan.must(cannot, "ioctl", [socket, SIOCSIFFLAGS, request]);
  plan.close(socket);
}

const CLONE_NEWNS = 0x20000, CLONE_NEWIPC = 0x8000000;
const MS_NOSUID = 2, MS_NODEV = 4, MS_NOEXEC = 8, MS_REC = 0x4000, MS_PRIVATE = 0x40000;
const ATTR_RDONLY = 1, ATTR_NOSUID = 2, ATTR_NODEV = 4;
const AT_EMPTY_PATH = 0x1000, AT_RECURSIVE = 0x8000;
const CLONE_CLOEXEC = 1 | 0o2000000, FROM_DESCRIPTOR = 4, TO_DESCRIPTOR = 0x40, MNT_DETACH = 2;
const SAME = 1;
const STATX_INO = 0x100, STATX_BYTES = 256, INODE_AT = 32, INODE_BYTES = 8;
const REGULAR_FILE = 0o100600;
const HOW_BYTES = 24, ATTRIBUTE_BYTES = 32;
const EEXIST = 17;
const EMPTY_OPTIONS = "mode=755,size=25%";
/** Vis builds the new tree in this folder, because Linux machines have it. The tree covers the folder meanwhile. */
const BASE = "/usr";
const PROCESSES = "/proc";
const DEVICE_LINKS = [["fd", "/proc/self/fd"], ["stdin", "fd/0"], ["stdout", "fd/1"], ["stderr", "fd/2"]] as const;
const SHARED_MEMORY = "/dev/shm";

const noMounts = (what: string): string => noNamespaces(`the kernel refused to ${what} for a private file system`);

function shown(path: string): string {
  return path.startsWith(`${BASE}/`) ? path.slice(BASE.length) : path;
}

type Paths = Pick<ExecPolicy, "read" | "list" | "write" | "devices">;

interface Tree {
  readonly path: string;
  readonly folder: boolean;
  readonly writable: boolean;
}

function privateMounts(
  plan: Plan,
  policy: Paths & Pick<ExecPolicy, "cwd">,
  { links, layers, hidden }: Pick<OwnNamespaces, "links" | "layers" | "hidden">,
): void {
  plan.must(noMounts("unshare"), "unshare", [CLONE_NEWNS | CLONE_NEWIPC]);
  plan.must(noMounts("make mounts private"), "mount", [0, "/", 0, MS_REC | MS_PRIVATE, 0]);
  const trees = outermostTrees(policy).map((tree) => ({
    ...tree,
    copy: tree.path === PROCESSES ? null : copyOf(plan, tree.path),
  }));
  const covers = hidden.files.map((file) => ({ ...file, copy: copyOf(plan, hidden.as) }));
  mountEmpty(plan, BASE);
  for (const [path, to] of links) makeLink(plan, `${BASE}${path}`, to);
  for (const { path, folder, writable, copy } of trees) {
    const at = `${BASE}${path}`;
    makePlace(plan, at, folder);
    if (copy === null) mountProcesses(plan, at);
    else place(plan, copy, { at, folder, writable });
  }
  for (const { path, folder, link, writable } of layers) {
    const at = `${BASE}${path}`;
    place(plan, copyOf(plan, at, { link }), { at, folder, writable });
  }
  for (const { path, inode, copy } of covers) cover(plan, copy, { path: `${BASE}${path}`, inode });
  for (const [name, to] of DEVICE_LINKS) makeLink(plan, `${BASE}/dev/${name}`, to);
  makePlace(plan, `${BASE}${SHARED_MEMORY}`, true);
  mountEmpty(plan, `${BASE}${SHARED_MEMORY}`);
  enter(plan, policy.cwd);
}

function openGranted(plan: Plan, path: string, { link } = { link: false }): number {
  const cannot = `${SAID.failed} Cannot give the command access to ${path}: the kernel cannot open it`;
  return plan.open(cannot, "openat2", [AT_FDCWD, path, howReal({ link }), HOW_BYTES]);
}

function outermostTrees({ read, list, write, devices }: Paths): readonly Tree[] {
  const trees = new Map<string, Tree>();
  const add = (tree: Tree): void => {
    if (!trees.has(tree.path)) trees.set(tree.path, tree);
  };
  for (const one of write) add({ ...one, writable: true });
  for (const one of read) add({ ...one, writable: false });
  for (const path of list) add({ path, folder: true, writable: false });
  for (const path of devices) add({ path, folder: false, writable: false });
  // A writable folder inside a read-only folder needs its own tree.
  const isNeeded = ({ path, writable }: Tree): boolean => {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const outer = trees.get(path.slice(0, end));
      if (outer && (outer.writable || !writable)) return false;
    }
    return true;
  };
  return [...trees.values()].filter(isNeeded).sort((a, b) => a.path.length - b.path.length);
}

function copyOf(plan: Plan, path: string, { link } = { link: false }): number {
  const real = openGranted(plan, path, { link });
  const copy = plan.open(noMounts(`place ${path}`), "open_tree", [
    real,
    "",
    CLONE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE,
  ]);
  plan.close(real);
  return copy;
}

function mountEmpty(plan: Plan, at: string): void {
  plan.must(noMounts("mount an empty folder"), "mount", ["tmpfs", at, "tmpfs", MS_NOSUID | MS_NODEV, EMPTY_OPTIONS]);
}

function mountProcesses(plan: Plan, at: string): void {
  const flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  plan.must(noMounts("mount its processes"), "mount", ["proc", at, "proc", flags, "hidepid=ptraceable"]);
}

function makePlace(plan: Plan, path: string, folder: boolean): void {
  const made = (at: string, call: "mkdirat" | "mknodat", mode: number): void =>
    plan.must(noMounts(`make ${shown(at)}`), call, [AT_FDCWD, at, mode, 0], { or: -EEXIST });
  for (let end = path.indexOf("/", 1); end > 0; end = path.indexOf("/", end + 1)) {
    if (end > BASE.length) made(path.slice(0, end), "mkdirat", 0o755);
  }
  if (folder) made(path, "mkdirat", 0o755);
  else made(path, "mknodat", REGULAR_FILE);
}

function place(
  plan: Plan,
  copy: number,
  { at, folder, writable }: { readonly at: string; readonly folder: boolean; readonly writable: boolean },
): void {
  const attributes = ATTR_NOSUID | (folder ? ATTR_NODEV : 0) | (writable ? 0 : ATTR_RDONLY);
  setAttributes(plan, copy, { attributes, flags: AT_RECURSIVE });
  if (writable) plan.may("mount_setattr", [copy, "", AT_EMPTY_PATH, [0, ATTR_RDONLY, 0, 0], ATTRIBUTE_BYTES]);
  plan.must(noMounts(`place ${shown(at)}`), "move_mount", [copy, "", AT_FDCWD, at, FROM_DESCRIPTOR]);
  plan.close(copy);
}

const FOUND = new Uint8Array(STATX_BYTES);

/** If the file is gone or replaced, the secret may be elsewhere, so the program must not run. */
function cover(plan: Plan, copy: number, { path, inode }: HiddenFile): void {
  const cannot = noNamespaces(`the kernel refused to hide ${shown(path)}, or the file changed`);
  setAttributes(plan, copy, { attributes: ATTR_NOSUID | ATTR_RDONLY, flags: 0 });
  const file = plan.open(cannot, "openat2", [AT_FDCWD, path, howReal({ link: false }), HOW_BYTES]);
  plan.must(cannot, "statx", [file, "", AT_EMPTY_PATH, STATX_INO, FOUND]);
  plan.must(cannot, "sameBytes", [{ in: FOUND, at: INODE_AT }, [inode], INODE_BYTES], { gives: SAME });
  plan.must(cannot, "move_mount", [copy, "", file, "", FROM_DESCRIPTOR | TO_DESCRIPTOR]);
  plan.close(file);
  plan.close(copy);
}

function makeLink(plan: Plan, path: string, to: string): void {
  makePlace(plan, dirname(path), true);
  plan.must(noMounts(`link ${shown(path)}`), "symlinkat", [to, AT_FDCWD, path], { or: -EEXIST });
}

function enter(plan: Plan, folder: string): void {
  const root = openGranted(plan, BASE);
  setAttributes(plan, root, { attributes: ATTR_RDONLY, flags: 0 });
  plan.close(root);
  plan.must(noMounts("go to the root"), "chdir", [BASE]);
  plan.must(noMounts("change the root"), "pivot_root", [".", "."]);
  plan.must(noMounts("leave the old root"), "umount2", [".", MNT_DETACH]);
  plan.must(noMounts("go to the folder"), "chdir", [folder]);
}

function setAttributes(
  plan: Plan,
  descriptor: number,
  { attributes, flags }: { readonly attributes: number; readonly flags: number },
): void {
  const args = [descriptor, "", AT_EMPTY_PATH | flags, [attributes, 0, 0, 0], ATTRIBUTE_BYTES];
  plan.must(noMounts("set attributes"), "mount_setattr", args);
}

const { EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, MAKE_CHAR, MAKE_BLOCK, TRUNCATE, IOCTL_DEV } = RIGHTS;
/** The kernel refuses other rights in a rule about a file. */
const OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;
const READ = EXECUTE | READ_FILE | READ_DIR;
const DEVICE = READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV;

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
