import type { FoundState, StateEntry, StateVersion } from "../domain/records/extension_state.ts";
import type { JsonValue } from "../domain/text/json_value.ts";

type Scoped = Readonly<{ scope?: "conversation" | "global" }>;

/** `env.store`: JSON under keys of up to 200 characters. It belongs to this conversation unless `scope` is "global".
 * Each change creates a version, and the last 1000 versions of a key are kept; a value has at most 1 MiB of JSON, a
 * scope at most 10 000 keys. A fork sees the state at the time it was made. Rejects with TypeError if the value is not
 * JSON, and with the limit that was exceeded. */
export interface OwnStore {
  /** With `ifVersion` it rejects if another version is the newest; 0 means that the key must not exist. Writing the
   * same value creates no version. */
  put(key: string, value: JsonValue, options?: Scoped & { readonly ifVersion?: number }): Promise<{ version: number }>;
  /** Undefined if there is no such key. */
  get(key: string, options?: Scoped & { readonly version?: number }): Promise<JsonValue | undefined>;
  /** Newest first; a version without a value is a deletion. 100 by default. */
  history(key: string, options?: Scoped & { readonly limit?: number }): Promise<readonly StateVersion[]>;
  /** Sorted by key; 100 by default. */
  list(
    options?: Scoped & { readonly prefix?: string; readonly limit?: number },
  ): Promise<readonly StateEntry[]>;
  /** Newest values of all conversations and of the global scope, most recently changed first; 100 by default. `where`
   * matches values at a path: `{"job.state": "open"}`. */
  query(options?: {
    readonly conversationId?: string | null;
    readonly prefix?: string;
    readonly where?: Readonly<Record<string, string | number | boolean | null>>;
    /** Milliseconds since the epoch. */
    readonly since?: number;
    readonly limit?: number;
  }): Promise<readonly FoundState[]>;
  /** False if there was none. For a global key, all versions are removed. */
  delete(key: string, options?: Scoped): Promise<boolean>;
}
