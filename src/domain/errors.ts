export class UsageError extends Error {
  override readonly name = "UsageError";
}

export class WorkspaceError extends UsageError {
  constructor(path: string, readonly why: string) {
    super(`Cannot use workspace ${path}: ${why}; name another folder with --cwd`);
  }
}

type ConfigErrorCode =
  | "unknown"
  | "value"
  | "untrusted"
  | "syntax"
  | "access"
  | "no_provider"
  | "unserved"
  | "no_model"
  | "other";

export class ConfigError extends Error {
  override readonly name: string = "ConfigError";
  readonly code: ConfigErrorCode;
  readonly advice: string;
  constructor(
    readonly problem: string,
    { code = "other", advice = "", cause }: {
      readonly code?: ConfigErrorCode;
      readonly advice?: string;
      readonly cause?: unknown;
    } = {},
  ) {
    super(advice === "" ? problem : `${problem}; ${advice}`, { cause });
    this.code = code;
    this.advice = advice;
  }
}

export class SettingError extends ConfigError {
  override readonly name = "SettingError";
  readonly key: string;
  readonly why: string;
  readonly project: boolean;
  constructor(
    { source, key, why, project = false, ...facts }: {
      readonly source: string;
      readonly key: string;
      readonly why: string;
      readonly project?: boolean;
      readonly code: "unknown" | "value" | "untrusted";
      readonly advice?: string;
    },
  ) {
    super(`Cannot use ${source}: ${key} ${why}`, facts);
    this.key = key;
    this.why = why;
    this.project = project;
  }
}

export type ProviderErrorCode = "auth" | "rate" | "context" | "refused" | "reply" | "network" | "server" | "stall";

/** `message` must not contain keys or headers. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  readonly code: ProviderErrorCode;
  readonly retryable: boolean;
  readonly status: number | null;
  readonly retryAfterMs: number | null;
  /** The message in a few words, with its address last, for a line that a narrow screen cuts. */
  readonly brief: string;
  constructor(
    message: string,
    facts: {
      readonly code: ProviderErrorCode;
      readonly retryable: boolean;
      readonly status?: number | null;
      readonly retryAfterMs?: number | null;
      readonly brief?: string;
      readonly cause?: unknown;
    },
  ) {
    super(message, { cause: facts.cause });
    this.code = facts.code;
    this.retryable = facts.retryable;
    this.status = facts.status ?? null;
    this.retryAfterMs = facts.retryAfterMs ?? null;
    this.brief = facts.brief ?? message;
  }
}

export type StoreErrorCode = "busy" | "full" | "readonly" | "moved" | "corrupt" | "newer" | "unavailable";

export class StoreError extends Error {
  override readonly name = "StoreError";
  constructor(message: string, readonly code: StoreErrorCode, options?: ErrorOptions) {
    super(message, options);
  }
}

export class SandboxEnded extends Error {
  override readonly name = "SandboxEnded";
  constructor(readonly why: string) {
    super(`Sandbox ended: ${why}`);
  }
}

/** The model can read `message` and `hint`. `advice` is the end of `message`, after a semicolon. */
export class HostCallError extends Error {
  override readonly name = "HostCallError";
  constructor(
    message: string,
    readonly facts: {
      readonly namespace: string;
      readonly symbol: string;
      readonly hint?: string;
      readonly advice?: string;
    },
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Advice may name functions and options of the model, so the step line of a failed block leaves it out. */
export function advised<E extends Error>(error: E, advice: string): E & { readonly advice: string } {
  return Object.assign(error, { message: `${error.message}; ${advice}`, advice });
}

export function withoutAdvice(error: Error): string {
  const advice = adviceOf(error);
  return advice === "" ? error.message : error.message.slice(0, -`; ${advice}`.length);
}

/** `tell` gets the reason without its advice. */
export function retold(error: unknown, tell: (reason: string) => string): Error {
  if (!(error instanceof Error)) return new Error(tell(String(error)));
  const advice = adviceOf(error), told = new Error(tell(lowered(withoutAdvice(error))));
  return advice === "" ? told : advised(told, advice);
}

function adviceOf(error: Error): string {
  return "advice" in error && typeof error.advice === "string" ? error.advice : "";
}

export class BusyError extends Error {
  override readonly name: string = "BusyError";
}

/** Another process may have continued the conversation, so this process must store no more of the query. */
export class TakenOverError extends BusyError {
  override readonly name = "TakenOverError";
  constructor(queryId: string) {
    super(
      `Cannot continue request ${queryId}: another process ended it or took it over; open the conversation again to ` +
        "see the stored steps",
    );
  }
}

export class HandedOver extends Error {
  override readonly name = "HandedOver";
  constructor(queryId: string) {
    super(`Request ${queryId} continues on another node`);
  }
}

export class Cancelled extends Error {
  override readonly name = "Cancelled";
}

export const SHUTDOWN = new DOMException("The server shuts down", "AbortError");

export class OutputError extends Error {
  override readonly name = "OutputError";
}

const KINDS = {
  usage: UsageError,
  config: ConfigError,
  store: StoreError,
  provider: ProviderError,
  busy: BusyError,
  cancelled: Cancelled,
  output: OutputError,
} as const;

export type FaultKind = keyof typeof KINDS;

interface Fault {
  readonly kind: FaultKind;
  readonly message: string;
}

export function faultOf(error: unknown): Fault | null {
  for (const kind of Object.keys(KINDS) as FaultKind[]) {
    if (error instanceof KINDS[kind]) return { kind, message: kind === "cancelled" ? "Cancelled" : error.message };
  }
  return null;
}

/** Signals of finished work abort with this reason, because a default reason has a stack trace, which is slow to
 * make. */
export const ENDED: Cancelled = new Cancelled("Ended");

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the message for use after a colon: its first word begins in lower case, except "Vis" and words such as
 * "JSON". */
export function reasonOf(error: unknown): string {
  return lowered(messageOf(error));
}

function lowered(message: string): string {
  // deno-lint-ignore vis/no-message-parsing -- only its first letter
  return message.replace(/^(?!Vis )[A-Z](?=[a-z]* )/, (first) => first.toLowerCase());
}

export function fileFault(error: unknown, otherwise = messageOf(error)): string {
  return WORDS[fileCode(error)] ?? otherwise;
}

export function fileCode(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if ("code" in error) return String(error.code);
  // deno-lint-ignore vis/no-message-parsing -- Deno gives this error no code
  return /^File too large \(/.test(error.message) ? "EFBIG" : error.name;
}

export function isDenied(error: unknown): boolean {
  return ["EACCES", "EPERM"].includes(fileCode(error));
}

export const DISK_FULL = "the disk is full or has no inodes left (df -h and df -i show which)";

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  EEXIST: "a file or folder already exists there",
  ENOTDIR: "a part of its path is not a folder",
  EACCES: "access is denied",
  EPERM: "access is denied",
  NotCapable: "access is denied",
  EISDIR: "it is a folder",
  ENOSPC: DISK_FULL,
  EDQUOT: "the quota of the disk is used up",
  EFBIG: "the file would exceed a size limit, of the process (ulimit -f) or of the file system",
  EMFILE: "too many files are open (ulimit -n)",
  ENFILE: "too many files are open on this machine",
  ELOOP: "its links lead in a circle, or they are too many",
  ENAMETOOLONG: "its path, or a name in it, is too long",
  EIO: "the disk failed to read or write",
  EROFS: "the disk is read-only",
};

/** These numbers of Linux are equal on x86-64 and ARM. The runtime of the executable has no texts for them. */
const ERRNO_TEXTS: Readonly<Record<number, string>> = {
  1: "EPERM: operation not permitted",
  2: "ENOENT: no such file or folder",
  3: "ESRCH: no such process",
  4: "EINTR: interrupted by a signal",
  5: "EIO: input/output error",
  6: "ENXIO: no such device or address",
  7: "E2BIG: argument list too long",
  8: "ENOEXEC: not a program of this system",
  9: "EBADF: bad file descriptor",
  11: "EAGAIN: a limit is reached, such as the number of processes (ulimit -a)",
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

export function errnoText(errno: number): string {
  return ERRNO_TEXTS[errno] ?? `errno ${errno}`;
}
