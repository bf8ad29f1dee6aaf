import type { FoundState, StateEntry, StateVersion } from "../domain/records/extension_state.ts";
import type { JsonValue } from "../domain/text/json_value.ts";

type Scoped = Readonly<{ scope?: "conversation" | "global" }>;

/** `env.store`: JSON under keys of up to 200 characters, of this conversation unless `scope` is "global". Each change is a
 * version, and the last 1000 of a key are kept; a value has up to 1 MiB of JSON, a scope up to 10 000 keys. A fork sees
 * what there was when it was made. Rejects with TypeError for what is no JSON, and says what is over a limit. */
export interface OwnStore {
  /** With `ifVersion` it rejects where another version is the newest; 0 stands for none. The same value makes none. */
  put(key: string, value: JsonValue, options?: Scoped & { readonly ifVersion?: number }): Promise<{ version: number }>;
  /** Undefined where there is none. */
  get(key: string, options?: Scoped & { readonly version?: number }): Promise<JsonValue | undefined>;
  /** Newest first; a version without value is a deletion. 100 unless told. */
  history(key: string, options?: Scoped & { readonly limit?: number }): Promise<readonly StateVersion[]>;
  /** By key, 100 unless told. */
  list(
    options?: Scoped & { readonly prefix?: string; readonly limit?: number },
  ): Promise<readonly StateEntry[]>;
  /** Newest values of all conversations and of what is global, the one changed last first; 100 unless told. `where` says
   * what stands at a path of the value: `{"job.state": "open"}`. */
  query(options?: {
    readonly conversationId?: string | null;
    readonly prefix?: string;
    readonly where?: Readonly<Record<string, string | number | boolean | null>>;
    /** Milliseconds since the epoch. */
    readonly since?: number;
    readonly limit?: number;
  }): Promise<readonly FoundState[]>;
  /** False where there was none. Of a global one all versions go. */
  delete(key: string, options?: Scoped): Promise<boolean>;
}
