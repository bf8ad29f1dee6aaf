/** Calls of x86-64 Linux that a child may still make: those that Deno 2.6 to 2.9, V8 and tokio were observed to make
 * after their start (strace -f), and a few that other kernels and libcs use instead. None of them reaches a file, a
 * socket or a process by name. A new Deno version needs a new trace. */
export const ALLOWED = {
  // Existing descriptors: the protocol's pipes and the event loop's own.
  read: 0,
  write: 1,
  readv: 19,
  writev: 20,
  pread64: 17,
  close: 3,
  fstat: 5,
  lseek: 8,
  recvfrom: 45,
  // Memory. mmap can map executable pages: code in them can only do what this list allows.
  mmap: 9,
  munmap: 11,
  mprotect: 10,
  mremap: 25,
  madvise: 28,
  mincore: 27,
  brk: 12,
  pkey_mprotect: 329, // V8 protects its code range with a protection key
  pkey_alloc: 330,
  pkey_free: 331,
  membarrier: 324,
  // Threads: each script with a time limit starts a watchdog, and the blocking pool starts its own.
  futex: 202,
  set_robust_list: 273,
  rseq: 334,
  set_tid_address: 218,
  sched_yield: 24,
  sched_getaffinity: 204,
  sched_getscheduler: 145,
  sched_getparam: 143,
  sched_get_priority_max: 146,
  gettid: 186,
  getpid: 39,
  exit: 60,
  exit_group: 231,
  // Waiting.
  epoll_wait: 232,
  epoll_pwait: 281,
  epoll_ctl: 233,
  epoll_create1: 291,
  eventfd2: 290,
  poll: 7,
  ppoll: 271,
  timerfd_create: 283,
  timerfd_settime: 286,
  nanosleep: 35,
  clock_nanosleep: 230,
  restart_syscall: 219,
  // Clocks and random numbers.
  clock_gettime: 228,
  clock_getres: 229,
  gettimeofday: 96,
  getrandom: 318,
  // Signal handling of the process itself.
  rt_sigaction: 13,
  rt_sigprocmask: 14,
  rt_sigreturn: 15,
  sigaltstack: 131,
  // Facts about the machine that memoryUsage and the garbage collector need.
  getcwd: 79,
  getrusage: 98,
  sysinfo: 99,
  uname: 63,
} as const;

export const CLONE3 = 435;
export const SECCOMP = 317;
