/** These numbers of Linux are equal on x86-64 and ARM. The runtime of the executable has only the names. */
const ERRORS: Readonly<Record<number, string>> = {
  1: "EPERM: operation not permitted",
  2: "ENOENT: no such file or folder",
  3: "ESRCH: no such process",
  4: "EINTR: interrupted by a signal",
  5: "EIO: input/output error",
  6: "ENXIO: no such device or address",
  7: "E2BIG: argument list too long",
  8: "ENOEXEC: not a program of this system",
  9: "EBADF: bad file descriptor",
  11: "EAGAIN: a limit is reached, such as that of processes (ulimit -a)",
  12: "ENOMEM: out of memory",
  13: "EACCES: permission denied",
  14: "EFAULT: bad address",
  16: "EBUSY: in use",
  17: "EEXIST: exists already",
  18: "EXDEV: on another file system",
  19: "ENODEV: no such device",
  20: "ENOTDIR: not a folder",
  21: "EISDIR: is a folder",
  22: "EINVAL: invalid argument",
  23: "ENFILE: too many open files on this machine",
  24: "EMFILE: too many open files in this process (ulimit -n)",
  26: "ETXTBSY: a process has the program open for writing",
  27: "EFBIG: file too large",
  28: "ENOSPC: the disk is full, or a limit of the kernel is reached (sysctl user)",
  30: "EROFS: read-only file system",
  31: "EMLINK: too many links",
  36: "ENAMETOOLONG: name too long",
  38: "ENOSYS: this kernel lacks the call",
  39: "ENOTEMPTY: folder not empty",
  40: "ELOOP: too many symbolic links",
  75: "EOVERFLOW: value too large",
  87: "EUSERS: namespaces are nested too deeply",
  95: "EOPNOTSUPP: not supported",
  116: "ESTALE: the file of a network disk is gone",
  122: "EDQUOT: disk quota used up",
};

/** Returns the name and the meaning of an error number of Linux, such as "EPERM: operation not permitted". */
export function errnoText(errno: number): string {
  return ERRORS[errno] ?? `errno ${errno}`;
}
