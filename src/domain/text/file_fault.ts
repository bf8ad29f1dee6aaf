import { messageOf } from "../kit/message_of.ts";

/** Why a file could not be read or written, in words; `otherwise`, or the system's own, where there are none. */
export function fileFault(error: unknown, otherwise = messageOf(error)): string {
  return WORDS[fileCode(error)] ?? otherwise;
}

/** The system's code for it, such as ENOENT; the name of the error where there is none. */
export function fileCode(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if ("code" in error) return String(error.code);
  // A file that gets too large has no code; neither has what Deno itself keeps from programs, such as /proc.
  // deno-lint-ignore vis/no-message-parsing -- Deno gives this error no code
  return /^File too large \(/.test(error.message) ? "EFBIG" : error.name;
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
