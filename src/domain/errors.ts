/** Errors that a layer above catches by class. Any other error is a defect and is not caught. A class with several
 * cases distinguishes them by `code`, never by message. */

/** An unusable flag, argument or input; the CLI exits with 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** `value`: a key or value of a settings file. `untrusted`: a key that a project's file must not set. `syntax`: a file
 * is not JSON with comments. `access`: a file cannot be read. `no_provider`: none is configured. `unserved`: the
 * named provider or model cannot be used here, for lack of a key or a server. `other`: see the message. */
export type ConfigErrorCode = "value" | "untrusted" | "syntax" | "access" | "no_provider" | "unserved" | "other";

/** A setting is missing or wrong; the CLI exits with 3. The message is the problem, a semicolon, and the advice. */
export class ConfigError extends Error {
  override readonly name: string = "ConfigError";
  readonly code: ConfigErrorCode;
  /** What to do about it; "" if the problem makes it clear. */
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

/** A key of a settings file is unusable. */
export class SettingError extends ConfigError {
  override readonly name = "SettingError";
  readonly key: string;
  /** The message without the file and the key. */
  readonly why: string;
  /** Whether the file belongs to a project. */
  readonly project: boolean;
  constructor(
    { source, key, why, project = false, ...facts }: {
      /** The settings file, or whose settings they are. */
      readonly source: string;
      readonly key: string;
      readonly why: string;
      readonly project?: boolean;
      readonly code: "value" | "untrusted";
      readonly advice?: string;
    },
  ) {
    super(`Cannot use ${source}: ${key}: ${why}`, facts);
    this.key = key;
    this.why = why;
    this.project = project;
  }
}

export type ProviderErrorCode = "auth" | "rate" | "context" | "refused" | "reply" | "network" | "server" | "stall";

/** A model call failed. `message` contains no keys and no headers. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  readonly code: ProviderErrorCode;
  readonly retryable: boolean;
  readonly status: number | null;
  /** How many milliseconds the server asked to wait, or null. */
  readonly retryAfterMs: number | null;
  constructor(
    message: string,
    facts: {
      readonly code: ProviderErrorCode;
      readonly retryable: boolean;
      readonly status?: number | null;
      readonly retryAfterMs?: number | null;
      readonly cause?: unknown;
    },
  ) {
    super(message, { cause: facts.cause });
    this.code = facts.code;
    this.retryable = facts.retryable;
    this.status = facts.status ?? null;
    this.retryAfterMs = facts.retryAfterMs ?? null;
  }
}

export type StoreErrorCode = "busy" | "full" | "readonly" | "moved" | "corrupt" | "newer" | "unavailable";

/** The database cannot be used; `message` names the path and what to do. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  constructor(message: string, readonly code: StoreErrorCode, options?: ErrorOptions) {
    super(message, options);
  }
}

/** The sandbox's child process ended or was killed; `why` is fit for the model. */
export class SandboxEnded extends Error {
  override readonly name = "SandboxEnded";
  constructor(readonly why: string) {
    super(`Sandbox ended: ${why}`);
  }
}

/** A host function refused or failed; `message` and `hint` are fit for the model. */
export class HostCallError extends Error {
  override readonly name = "HostCallError";
  constructor(
    message: string,
    readonly facts: { readonly namespace: string; readonly symbol: string; readonly hint?: string },
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The conversation is already running a query. */
export class BusyError extends Error {
  override readonly name: string = "BusyError";
}

/** Another process ended this process's query, because it had not responded for long, and may have continued the
 * conversation. Nothing more of that query is stored. */
export class TakenOverError extends BusyError {
  override readonly name = "TakenOverError";
  constructor(queryId: string) {
    super(
      `Cannot continue query ${queryId}: another process took over its conversation while this one did not respond; ` +
        "what was stored until then is kept",
    );
  }
}

/** The query is left to another node between two of its iterations. */
export class HandedOver extends Error {
  override readonly name = "HandedOver";
  constructor(queryId: string) {
    super(`Query ${queryId} is left to another node`);
  }
}

/** The caller's signal was aborted. */
export class Cancelled extends Error {
  override readonly name = "Cancelled";
}

/** The program's output cannot be written; the CLI exits with 1. */
export class OutputError extends Error {
  override readonly name = "OutputError";
}
