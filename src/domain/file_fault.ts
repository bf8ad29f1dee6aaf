/** Why a file could not be read or written, in words; `otherwise`, or the system's own, where there are none. */
export function fileFault(error: unknown, otherwise = error instanceof Error ? error.message : String(error)): string {
  // What Deno keeps from programs by itself, such as /proc, has no code.
  const code = error instanceof Error ? "code" in error ? String(error.code) : error.name : "";
  return WORDS[code] ?? otherwise;
}

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "a part of its path is no folder",
  EACCES: "access is denied",
  EPERM: "access is denied",
  NotCapable: "access is denied",
  EISDIR: "it is a folder",
  ENOSPC: "the disk is full",
  EROFS: "the disk is for reading only",
};
