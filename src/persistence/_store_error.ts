import { BusyError, StoreError, type StoreErrorKind, UsageError } from "../domain/errors.ts";
import { isBusy } from "./_is_busy.ts";

/** What went wrong and what mends it, by the first pattern that fits the text of an SQLite or system error. */
const RULES: readonly (readonly [RegExp, StoreErrorKind, string])[] = [
  [/disk is full|ENOSPC|EDQUOT|no space left/i, "full", "the disk is full, make room and try again"],
  [
    /readonly database|EROFS|read-only file system/i,
    "readonly",
    "it is read-only, make the file and its folder writable or give another file with --db",
  ],
  [/is not a database/, "corrupt", "the file is not a database, give another file with --db"],
  [
    // The SyntaxError is that of JSON in a metadata cell.
    /malformed|corrupt|SyntaxError/,
    "corrupt",
    "the file is damaged, put a copy of it in its place or give another file with --db",
  ],
  [
    /EACCES|EPERM|permission denied|access to .* denied|NotCapable|access permission/i,
    "unavailable",
    "access is denied, change the permissions of the file and its folder or give another file with --db",
  ],
  [/EISDIR|is a directory/i, "unavailable", "it is a folder, give the path of a file with --db"],
  [/ENOTDIR|EEXIST|not a directory/i, "unavailable", "a part of its path is not a folder, give another file with --db"],
  [/constraint failed/, "unavailable", "a row would break a rule of the schema"],
  [/not open|already been destroyed/, "unavailable", "it was closed"],
  [/unable to open/, "unavailable", "it cannot be opened, give another file with --db"],
  [/disk I\/O error|EIO/, "unavailable", "the disk failed to read or write, check it and try again"],
];

/** What they say may repeat what a user gave. */
const OURS = [StoreError, UsageError, BusyError] as const;

/** The error as `StoreError` with path and mend, or unchanged when the database did not cause it. */
export function toStoreError(error: unknown, location: string): unknown {
  if (!(error instanceof Error) || OURS.some((ours) => error instanceof ours)) return error;
  const say = (kind: StoreErrorKind, mend: string): StoreError =>
    new StoreError(`Cannot use database ${location}: ${mend}`, kind, { cause: error });
  if (isBusy(error)) return say("busy", "another process is writing to it, try again when that has finished");
  const code = "code" in error ? String(error.code) : "";
  const text = `${code} ${error.name} ${error.message}`;
  const rule = RULES.find(([pattern]) => pattern.test(text));
  if (rule) return say(rule[1], rule[2]);
  if (code === "ERR_SQLITE_ERROR") return say("unavailable", "it refused an operation, the log has the reason");
  return /^E[A-Z]+$/.test(code) ? say("unavailable", "it cannot be opened, give another file with --db") : error;
}
