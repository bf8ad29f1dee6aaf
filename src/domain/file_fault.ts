/** Why a file could not be read or written, in words; `otherwise`, or the system's own, where there are none. */
export function fileFault(error: unknown, otherwise = error instanceof Error ? error.message : String(error)): string {
  // What Deno keeps from programs by itself, such as /proc, has no code; neither has a file that gets too large.
  const code = error instanceof Error ? "code" in error ? String(error.code) : error.name : "";
  const isTooLarge = error instanceof Error && /^File too large \(/.test(error.message);
  return WORDS[isTooLarge ? "EFBIG" : code] ?? otherwise;
}

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "a part of its path is no folder",
  EACCES: "access is denied",
  EPERM: "access is denied",
  NotCapable: "access is denied",
  EISDIR: "it is a folder",
  ENOSPC: "the disk is full, or has no inodes left (df -h and df -i show which)",
  EDQUOT: "the quota of the disk is used up",
  EFBIG: "the limit on the size of files is reached (ulimit -f)",
  EMFILE: "too many files are open (ulimit -n)",
  ENFILE: "too many files are open on this machine",
  EIO: "the disk failed to read or write",
  EROFS: "the disk is for reading only",
};
