import type { JsonValue } from "../kit/json.ts";

export interface StateVersion {
  /** 1-based; increases with each change, including deletions. */
  readonly version: number;
  readonly value: JsonValue | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface StateEntry {
  readonly key: string;
  readonly version: number;
  readonly at: number;
}

export interface FoundState extends StateEntry {
  readonly value: JsonValue;
  /** Null for global state. */
  readonly conversationId: string | null;
}

export interface StateQuery {
  /** Id of the conversation; null for global state, all states if absent. */
  readonly conversationId?: string | null | undefined;
  readonly prefix?: string | undefined;
  readonly where?: Readonly<Record<string, string | number | boolean | null>> | undefined;
  readonly since?: number | undefined;
  readonly limit: number;
}

export interface StatePlace {
  readonly namespace: string;
  /** Null for global state. */
  readonly branchId: string | null;
  /** The point of a change: the row of its iteration, or of its query (`query_state.id`) before the first iteration. If
   * both are absent, the point is the newest point of the branch. Global state does not depend on the point. A query
   * that another process has ended as lost cannot change any state. */
  readonly iterationId?: string | null;
  readonly queryId?: string | null;
}

/** Each change of a key makes a version. A branch sees the state of its ancestors at the time of its fork. Rejects with
 * `UsageError` if a limit is exceeded or the state changed in the meantime. */
export interface StateStore {
  /** Returns the new version, or the existing one if the value is the same. With `ifVersion`, writes only if that
   * version is the newest; 0 means that no version may exist. */
  put(
    place: StatePlace,
    state: { readonly key: string; readonly value: JsonValue; readonly ifVersion?: number | undefined },
  ): Promise<number>;
  /** Returns the newest version, or the version with this number; null if the version does not exist. */
  get(place: StatePlace, which: { readonly key: string; readonly version?: number | undefined }): Promise<
    StateVersion | null
  >;
  /** The newest comes first. */
  history(place: StatePlace, which: { readonly key: string; readonly limit: number }): Promise<readonly StateVersion[]>;
  /** The states are sorted by key, without deleted keys. */
  list(
    place: StatePlace,
    which: { readonly prefix?: string | undefined; readonly limit: number },
  ): Promise<readonly StateEntry[]>;
  /** Returns the newest version of each key in each branch and globally, most recently changed first. */
  query(namespace: string, query: StateQuery): Promise<readonly FoundState[]>;
  /** Returns false if the key had no value. For a global key, removes all versions. */
  delete(place: StatePlace, key: string): Promise<boolean>;
}
