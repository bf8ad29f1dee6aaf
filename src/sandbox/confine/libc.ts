import { errnoText } from "../../domain/errors.ts";

/** The runtime compiles code for each function at every start, so `syscall` replaces the other functions. */
const SYMBOLS = {
  // Some options of prctl require zero for unused arguments, so `syscall` always passes five arguments after the number.
  syscall: { parameters: ["i64", "u64", "u64", "u64", "u64", "u64"], result: "i64" },
  __errno_location: { parameters: [], result: "pointer" },
} as const;

const AT_FDCWD = BigInt.asUintN(64, -100n);
const O_CLOEXEC = 0o2000000n;

type Address = bigint;

export class Libc {
  readonly #library: Deno.DynamicLibrary<typeof SYMBOLS>;

  constructor() {
    this.#library = Deno.dlopen("libc.so.6", SYMBOLS);
  }

  prctl(option: number, value: bigint): number {
    return this.call("prctl", [BigInt(option), value]);
  }

  setrlimit(resource: number, value: number): number {
    const pair = new BigUint64Array([BigInt(value), BigInt(value)]);
    const limit = this.address(new Uint8Array(pair.buffer));
    return this.call("prlimit64", [0n, BigInt(resource), limit]);
  }

  hardLimit(resource: number): number {
    const found = new BigUint64Array(2);
    if (this.call("prlimit64", [0n, BigInt(resource), 0n, this.address(new Uint8Array(found.buffer))]) < 0) {
      throw new Error(`Cannot read a limit of this process: the kernel refused it (${this.reason()})`);
    }
    return Number(found[1]);
  }

  call(name: CommonCall, args: readonly [bigint?, bigint?, bigint?, bigint?, bigint?]): number {
    const [a = 0n, b = 0n, c = 0n, d = 0n, e = 0n] = args;
    return Number(this.#library.symbols.syscall(BigInt(numberOf(name)), a, b, c, d, e));
  }

  open(path: string): number {
    const name = new TextEncoder().encode(`${path}\0`);
    return this.call("openat", [AT_FDCWD, this.address(name), O_CLOEXEC]);
  }

  fcntl(descriptor: number, command: number): number {
    return this.call("fcntl", [BigInt(descriptor), BigInt(command)]);
  }

  readStart(descriptor: number, maxBytes: number): string {
    return new TextDecoder().decode(this.readAt(descriptor, { maxBytes, offset: 0 }));
  }

  readAt(
    descriptor: number,
    { maxBytes, offset }: { readonly maxBytes: number; readonly offset: number },
  ): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(maxBytes);
    const from = [
      BigInt.asUintN(64, BigInt(descriptor)),
      this.address(bytes),
      BigInt(maxBytes),
      BigInt(offset),
    ] as const;
    return bytes.subarray(0, Math.max(this.call("pread64", [...from]), 0));
  }

  closeDescriptor(descriptor: number): void {
    this.call("close", [BigInt.asUintN(64, BigInt(descriptor))]);
  }

  /** Use the number only in messages: the runtime may have made its own calls since. */
  errno(): number {
    const at = this.#library.symbols.__errno_location();
    return at ? new Deno.UnsafePointerView(at).getInt32() : 0;
  }

  reason(): string {
    return errnoText(this.errno());
  }

  /** Keep a reference to the bytes until the call that receives the address has returned. */
  address(bytes: Uint8Array<ArrayBuffer>): Address {
    return Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes));
  }

  close(): void {
    this.#library.close();
  }
}

/** The numbers are from the kernel's headers for x86-64 (`asm/unistd_64.h`) and arm64 (`asm-generic/unistd.h`). Null
 * means that the architecture lacks the call. */
export const SYSTEM_CALLS = {
  read: [0, 63],
  write: [1, 64],
  open: [2, null],
  close: [3, 57],
  fstat: [5, 80],
  poll: [7, null],
  lseek: [8, 62],
  mmap: [9, 222],
  mprotect: [10, 226],
  munmap: [11, 215],
  brk: [12, 214],
  rt_sigaction: [13, 134],
  rt_sigprocmask: [14, 135],
  rt_sigreturn: [15, 139],
  ioctl: [16, 29],
  pread64: [17, 67],
  readv: [19, 65],
  writev: [20, 66],
  sched_yield: [24, 124],
  mremap: [25, 216],
  mincore: [27, 232],
  madvise: [28, 233],
  shmget: [29, 194],
  shmat: [30, 196],
  shmctl: [31, 195],
  nanosleep: [35, 101],
  getpid: [39, 172],
  socket: [41, 198],
  connect: [42, 203],
  sendto: [44, 206],
  recvfrom: [45, 207],
  shutdown: [48, 210],
  getsockname: [51, 204],
  getpeername: [52, 205],
  socketpair: [53, 199],
  setsockopt: [54, 208],
  getsockopt: [55, 209],
  clone: [56, 220],
  execve: [59, 221],
  exit: [60, 93],
  wait4: [61, 260],
  kill: [62, 129],
  uname: [63, 160],
  semget: [64, 190],
  semop: [65, 193],
  semctl: [66, 191],
  msgget: [68, 186],
  msgsnd: [69, 189],
  msgrcv: [70, 188],
  msgctl: [71, 187],
  fcntl: [72, 25],
  flock: [73, 32],
  truncate: [76, 45],
  getcwd: [79, 17],
  chdir: [80, 49],
  creat: [85, null],
  readlink: [89, null],
  chmod: [90, null],
  fchmod: [91, 52],
  gettimeofday: [96, 169],
  getrusage: [98, 165],
  sysinfo: [99, 179],
  ptrace: [101, 117],
  syslog: [103, 116],
  setsid: [112, 157],
  capset: [126, 91],
  setgroups: [116, 159],
  setresgid: [119, 149],
  setresuid: [117, 147],
  rt_sigqueueinfo: [129, 138],
  sigaltstack: [131, 132],
  mknod: [133, null],
  setpriority: [141, 140],
  sched_setparam: [142, 118],
  sched_getparam: [143, 121],
  sched_setscheduler: [144, 119],
  sched_getscheduler: [145, 120],
  sched_get_priority_max: [146, 125],
  vhangup: [153, 58],
  modify_ldt: [154, null],
  pivot_root: [155, 41],
  prctl: [157, 167],
  chroot: [161, 51],
  acct: [163, 89],
  settimeofday: [164, 170],
  mount: [165, 40],
  umount2: [166, 39],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  iopl: [172, null],
  ioperm: [173, null],
  init_module: [175, 105],
  delete_module: [176, 106],
  quotactl: [179, 60],
  gettid: [186, 178],
  tkill: [200, 130],
  futex: [202, 98],
  sched_setaffinity: [203, 122],
  sched_getaffinity: [204, 123],
  getdents64: [217, 61],
  set_tid_address: [218, 96],
  restart_syscall: [219, 128],
  semtimedop: [220, 192],
  clock_settime: [227, 112],
  clock_gettime: [228, 113],
  clock_getres: [229, 114],
  clock_nanosleep: [230, 115],
  exit_group: [231, 94],
  epoll_wait: [232, null],
  epoll_ctl: [233, 21],
  tgkill: [234, 131],
  mq_open: [240, 180],
  mq_unlink: [241, 181],
  kexec_load: [246, 104],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  ioprio_set: [251, 30],
  openat: [257, 56],
  mkdirat: [258, 34],
  mknodat: [259, 33],
  newfstatat: [262, 79],
  unlinkat: [263, 35],
  symlinkat: [266, 36],
  readlinkat: [267, 78],
  fchmodat: [268, 53],
  faccessat: [269, 48],
  ppoll: [271, 73],
  unshare: [272, 97],
  set_robust_list: [273, 99],
  epoll_pwait: [281, 22],
  timerfd_create: [283, 85],
  timerfd_settime: [286, 86],
  eventfd2: [290, 19],
  epoll_create1: [291, 20],
  dup3: [292, 24],
  rt_tgsigqueueinfo: [297, 240],
  perf_event_open: [298, 241],
  fanotify_init: [300, 262],
  fanotify_mark: [301, 263],
  prlimit64: [302, 261],
  open_by_handle_at: [304, 265],
  clock_adjtime: [305, 266],
  setns: [308, 268],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  finit_module: [313, 273],
  sched_setattr: [314, 274],
  renameat2: [316, 276],
  seccomp: [317, 277],
  getrandom: [318, 278],
  memfd_create: [319, 279],
  kexec_file_load: [320, 294],
  bpf: [321, 280],
  execveat: [322, 281],
  userfaultfd: [323, 282],
  membarrier: [324, 283],
  pkey_mprotect: [329, 288],
  pkey_alloc: [330, 289],
  pkey_free: [331, 290],
  statx: [332, 291],
  rseq: [334, 293],
  pidfd_send_signal: [424, 424],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  clone3: [435, 435],
  close_range: [436, 436],
  openat2: [437, 437],
  pidfd_getfd: [438, 438],
  faccessat2: [439, 439],
  process_madvise: [440, 440],
  mount_setattr: [442, 442],
  landlock_create_ruleset: [444, 444],
  landlock_add_rule: [445, 445],
  landlock_restrict_self: [446, 446],
  fchmodat2: [452, 452],
  open_tree_attr: [467, 467],
} as const satisfies Readonly<Record<string, readonly [x86: number, arm: number | null]>>;

export type CallName = keyof typeof SYSTEM_CALLS;
export type CommonCall = { [Name in CallName]: null extends typeof SYSTEM_CALLS[Name][1] ? never : Name }[CallName];
export type Architecture = typeof Deno.build.arch;

const COLUMNS: Readonly<Record<Architecture, 0 | 1>> = { x86_64: 0, aarch64: 1 };

export const hasCallNumbers = Deno.build.os === "linux" && Deno.build.arch in COLUMNS;

export function numberOf(name: CallName, architecture: Architecture = Deno.build.arch): number {
  const number = SYSTEM_CALLS[name][COLUMNS[architecture]];
  if (number === null) throw new Error(`Cannot find the system call ${name}: ${architecture} has none`);
  return number;
}

export function numbersOf(names: readonly CallName[], architecture: Architecture = Deno.build.arch): readonly number[] {
  return names.flatMap((name) => SYSTEM_CALLS[name][COLUMNS[architecture]] ?? []);
}
