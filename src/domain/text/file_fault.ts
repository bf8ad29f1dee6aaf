import { messageOf } from "../kit/message_of.ts";

/** Why a file could not be read or written, as text; for other errors `otherwise`, by default the system's message. */
export function fileFault(error: unknown, otherwise = messageOf(error)): string {
  return WORDS[fileCode(error)] ?? otherwise;
}

/** The system's error code, such as ENOENT; the name of the error if it has none. */
export function fileCode(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if ("code" in error) return String(error.code);
  // These errors have no code: a file that grows too large, and paths that Deno itself blocks, such as /proc.
  // deno-lint-ignore vis/no-message-parsing -- Deno gives this error no code
  return /^File too large \(/.test(error.message) ? "EFBIG" : error.name;
}

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  EEXIST: "a file or folder is in the way",
  ENOTDIR: "a part of its path is not a folder",
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
  EROFS: "the disk is read-only",
};
