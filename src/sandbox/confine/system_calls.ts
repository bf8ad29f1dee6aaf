import type { CallName } from "./call_numbers.ts";

/** Calls that a child may still make: those that Deno 2.6 to 2.9, V8 and tokio were observed to make after their start
 * on x86-64 (strace -f), and a few that other kernels and libcs use instead. None of them reaches a file, a socket or a
 * process by name. A new Deno version needs a new trace. */
export const ALLOWED: readonly CallName[] = [
  // Existing descriptors: the protocol's pipes and the event loop's own.
  "read",
  "write",
  "readv",
  "writev",
  "pread64",
  "close",
  "fstat",
  "lseek",
  "recvfrom",
  // Memory. mmap can map executable pages: code in them can only do what this list allows.
  "mmap",
  "munmap",
  "mprotect",
  "mremap",
  "madvise",
  "mincore",
  "brk",
  "pkey_mprotect", // V8 protects its code range with a protection key
  "pkey_alloc",
  "pkey_free",
  "membarrier",
  // Threads: each script with a time limit starts a watchdog, and the blocking pool starts its own.
  "futex",
  "set_robust_list",
  "rseq",
  "set_tid_address",
  "sched_yield",
  "sched_getaffinity",
  "sched_getscheduler",
  "sched_getparam",
  "sched_get_priority_max",
  "gettid",
  "getpid",
  "exit",
  "exit_group",
  // Waiting.
  "epoll_wait",
  "epoll_pwait",
  "epoll_ctl",
  "epoll_create1",
  "eventfd2",
  "poll",
  "ppoll",
  "timerfd_create",
  "timerfd_settime",
  "nanosleep",
  "clock_nanosleep",
  "restart_syscall",
  // Clocks and random numbers.
  "clock_gettime",
  "clock_getres",
  "gettimeofday",
  "getrandom",
  // Signal handling of the process itself.
  "rt_sigaction",
  "rt_sigprocmask",
  "rt_sigreturn",
  "sigaltstack",
  // Facts about the machine that memoryUsage and the garbage collector need.
  "getcwd",
  "getrusage",
  "sysinfo",
  "uname",
];
