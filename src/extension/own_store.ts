import type { JsonValue } from "../domain/kit/json.ts";
import type { FoundState, StateEntry, StateVersion } from "../domain/records/extension_state.ts";

/** `workspace` names another workspace than that of the conversation, by its real path. */
type Scoped = Readonly<{ scope?: "conversation" | "workspace" | "global"; workspace?: string }>;

/** `env.store`: JSON under keys of up to 200 characters. It belongs to this conversation unless `scope` is "workspace",
 * for all conversations there, or "global". A command has no conversation, so that it names one of the others. Each
 * change creates a version, and the last 1000 versions of a key are kept; a value has at most 1 MiB of JSON, a scope at
 * most 10 000 keys. A fork sees the state of its conversation at the time it was made. Rejects with TypeError if the
 * value is not JSON, and with the limit that was exceeded. */
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
  /** Newest values of all conversations and of the global scope, or with `scope: "workspace"` of that, most recently
   * changed first; 100 by default. `where` matches values at a path: `{"job.state": "open"}`. */
  query(options?: {
    readonly scope?: "workspace";
    readonly workspace?: string;
    readonly conversationId?: string | null;
    readonly prefix?: string;
    readonly where?: Readonly<Record<string, string | number | boolean | null>>;
    /** Milliseconds since the epoch. */
    readonly since?: number;
    readonly limit?: number;
  }): Promise<readonly FoundState[]>;
  /** False if there was none. Only a conversation keeps the versions of a deleted key. */
  delete(key: string, options?: Scoped): Promise<boolean>;
  /** Stores bytes of any size and returns a reference to be put into a value: `vis db prune` removes bytes that no value
   * refers to. */
  putBytes(bytes: Uint8Array | AsyncIterable<Uint8Array>): Promise<string>;
  /** The bytes of a reference in pieces, each read on demand. Throws if they are gone or damaged. */
  bytes(reference: string): AsyncIterable<Uint8Array<ArrayBuffer>>;
  /** Removes bytes that no value refers to any more. */
  dropBytes(reference: string): Promise<void>;
}
