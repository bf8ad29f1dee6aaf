import { accessSync, closeSync, constants, openSync, rmSync, statSync, writeSync } from "node:fs";
import { BusyError, DISK_FULL, StoreError, type StoreErrorCode, UsageError } from "../../domain/errors.ts";
import { Damage } from "../database.ts";

type Rule = readonly [pattern: RegExp, kind: StoreErrorCode, words: string];

const SYSTEM: readonly Rule[] = [
  [
    /disk is full|ENOSPC|no space left/i,
    "full",
    `${DISK_FULL}; free space and try again`,
  ],
  [/EDQUOT|quota/i, "full", "the quota of the disk is used up; free space and try again"],
  [
    /EFBIG|file too large/i,
    "full",
    "a file would exceed the limit on its size (ulimit -f, or the file system's); raise the limit and try again",
  ],
  [
    /EROFS|read-only file system/i,
    "readonly",
    "its disk is mounted read-only; mount it for writing, or choose another file with --db",
  ],
  [
    /EMFILE|ENFILE|too many open files/i,
    "unavailable",
    "too many files are open; raise the limit (ulimit -n) or close programs, and try again",
  ],
  [
    /EACCES|EPERM|permission denied|access to .* denied|NotCapable|access permission/i,
    "unavailable",
    "access is denied; change the permissions of the file and its folder, or choose another file with --db",
  ],
];

const READONLY: Rule = [
  /readonly database/,
  "readonly",
  "it is read-only; make the file and its folder writable, or choose another file with --db",
];

/** SQLite reports these failures without a cause, so an error of the system is more useful. */
const VAGUE: readonly Rule[] = [
  READONLY,
  [/unable to open/, "unavailable", "the file does not open; choose another file with --db"],
  [
    /disk I\/O error|EIO/,
    "unavailable",
    "the disk failed to read or write; check the disk and the limit on the size of files (ulimit -f), " +
    "and try again",
  ],
];

const RULES: readonly Rule[] = [
  [/is not a database/, "corrupt", "the file is not a database; choose another file with --db"],
  [/EISDIR|is a directory/i, "unavailable", "it is a folder; choose a file with --db"],
  [
    /ENOTDIR|EEXIST|not a directory/i,
    "unavailable",
    "a part of its path is not a folder; choose another file with --db",
  ],
  [
    /constraint failed/,
    "unavailable",
    "a row would break a rule of the schema; vis db check shows whether the file is damaged",
  ],
  [/not open|already been destroyed/, "unavailable", "this process has already closed it"],
];

/** Damage can cause these errors in SQLite, in the JSON of metadata, and in Kysely. */
const DAMAGED =
  /malformed|corrupt|fts5: |SyntaxError|NoResultError|ERR_OUT_OF_RANGE|no such (table|column|index|function)|foreign key mismatch/;

/** The message of such an error may repeat user input, which must not match a pattern. */
const OURS = [StoreError, UsageError, BusyError] as const;

export function toStoreError(error: unknown, location: string): unknown {
  if (!(error instanceof Error) || OURS.some((ours) => error instanceof ours)) return error;
  const say = sayer(error, location);
  if (isBusy(error)) return say("busy", "another process has locked it; try again when that process has finished");
  if (error instanceof Damage) return damaged(location, { what: error.what, cause: error });
  const system = systemError(error, location);
  if (system) return system;
  const text = textOf(error);
  if (DAMAGED.test(text) || isCorrupt(error)) {
    // Messages of other errors may repeat stored data.
    const what = codeOf(error) === "ERR_SQLITE_ERROR" ? error.message : "Vis cannot read a row";
    return damaged(location, { what, cause: error });
  }
  const rule = find(RULES, text);
  if (rule) return say(rule[1], rule[2]);
  const code = codeOf(error);
  if (code === "ERR_SQLITE_ERROR") {
    const number = numberOf(error);
    return say(
      "unavailable",
      `an operation failed in SQLite${number === null ? "" : ` (error ${number})`}; report the failure`,
    );
  }
  if (!/^E[A-Z]+$/.test(code)) return error;
  return say("unavailable", `the system reported ${code}; choose another file with --db`);
}

/** A virtual table reports damage in other words, so the message is not enough. */
function isCorrupt(error: Error): boolean {
  const CORRUPT = 11;
  return ((numberOf(error) ?? 0) & 0xff) === CORRUPT;
}

function numberOf(error: Error): number | null {
  return "errcode" in error && typeof error.errcode === "number" ? error.errcode : null;
}

export function damaged(
  location: string,
  { what, cause }: { readonly what: string; readonly cause?: unknown },
): StoreError {
  const advice = "vis db check may list more damage, and vis db restore COPY restores a backup";
  return new StoreError(`Cannot use database ${location}: it is damaged (${what}); ${advice}`, "corrupt", { cause });
}

/** With `isBackup`, `location` is the path of a new backup. */
export function systemError(error: Error, location: string, { isBackup = false } = {}): StoreError | null {
  const text = textOf(error);
  const vague = find(VAGUE, text);
  const fault = vague && location !== ":memory:" ? systemFault(location) : "";
  const found = find(SYSTEM, fault || text);
  const rule = vague === READONLY && found?.[1] !== "readonly" ? vague : found ?? vague;
  if (!rule) return null;
  const [, kind, words] = rule;
  if (!isBackup) return sayer(error, location)(kind, words);
  const why = words.replace("choose another file with --db", "choose another path");
  return new StoreError(`Cannot back up to ${location}: ${why}`, kind, { cause: error });
}

function sayer(cause: Error, location: string) {
  return (kind: StoreErrorCode, words: string): StoreError =>
    new StoreError(`Cannot use database ${location}: ${words}`, kind, { cause });
}

function find(rules: readonly Rule[], text: string): Rule | null {
  return rules.find(([pattern]) => pattern.test(text)) ?? null;
}

function textOf(error: Error): string {
  return `${codeOf(error)} ${error.name} ${error.message}`;
}

function codeOf(error: Error): string {
  return "code" in error ? String(error.code) : "";
}

export function isBusy(error: unknown): boolean {
  return says(error, /^database (table |schema )?is locked/);
}

export function isDamaged(error: unknown): boolean {
  return says(error, /not a database|malformed|corrupt|disk I\/O/);
}

export function isNoDatabase(error: unknown): boolean {
  return says(error, /is not a database/);
}

/** The messages of triggers begin with the table. */
export function breaksRule(error: unknown): error is Error {
  return says(error, /constraint failed|^expression_(state|dependency|soul):/);
}

function says(error: unknown, words: RegExp): boolean {
  // deno-lint-ignore vis/no-message-parsing -- errors of exec and of opening have no number
  return error instanceof Error && words.test(error.message);
}

/** SQLite may need this space at once for the file, its log, and the index of the log. */
const WRITTEN_BYTES = 256 * 1024;
const OPEN_FILES = 4;
/** On a disk without sparse files, a write at a later offset also fills the space before it. */
const FURTHEST_BYTES = 64 * 1024 * 1024;

/** SQLite does not report the cause, so Vis tries the same on another file of the folder. Vis must not open the
 * database here: closing the file would release the locks of the process. */
export function systemFault(path: string): string {
  const probe = `${path}.probe-${crypto.randomUUID().slice(0, 8)}`;
  const open: number[] = [];
  try {
    open.push(openSync(probe, "wx", 0o600));
    while (open.length < OPEN_FILES) open.push(openSync(probe, "r+"));
    const place = Math.min(FURTHEST_BYTES, Math.max(sizeOf(path), sizeOf(`${path}-wal`)));
    for (let at = 0; at < WRITTEN_BYTES;) { // A disk that is nearly full may write only a part of the bytes.
      at += writeSync(open[0] ?? -1, new Uint8Array(WRITTEN_BYTES - at), 0, WRITTEN_BYTES - at, place + at);
    }
    accessSync(path, constants.W_OK);
    return "";
  } catch (error) {
    const { code = "", message = "" }: { readonly code?: unknown; readonly message?: string } = Object(error);
    return `${code} ${message}`;
  } finally {
    for (const descriptor of open) closeSync(descriptor);
    rmSync(probe, { force: true });
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
