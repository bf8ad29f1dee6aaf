import type { JsonValue } from "../kit/json.ts";

/** One version of a state. */
export interface StateVersion {
  /** 1-based; increases with each change, including deletions. */
  readonly version: number;
  /** Undefined if it was deleted. */
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
  /** Path in the value ("a.b") to the value expected there. */
  readonly where?: Readonly<Record<string, string | number | boolean | null>> | undefined;
  /** The list has only states that changed at or after this time. */
  readonly since?: number | undefined;
  readonly limit: number;
}

/** The owner of a state, and the point at which it is read or written. */
export interface StatePlace {
  readonly namespace: string;
  /** Null for global state. */
  readonly branchId: string | null;
  /** For a change: the row of the iteration that makes it, or of its query (`query_state.id`) before the first
   * iteration. If both are absent, the newest point of the branch. Global state does not depend on that point, but a
   * query that another process has ended as lost cannot change it either. */
  readonly iterationId?: string | null;
  readonly queryId?: string | null;
}

/** State of extensions: JSON under keys, where each change is a version. A branch sees what its ancestors had when it
 * forked. Rejects with `UsageError` if a limit is exceeded or the state changed in the meantime. */
export interface StateStore {
  /** Returns the version, or the existing one if the value is the same. With `ifVersion`, it writes only if that is the
   * newest version; 0 means that there must be none. */
  put(
    place: StatePlace,
    state: { readonly key: string; readonly value: JsonValue; readonly ifVersion?: number | undefined },
  ): Promise<number>;
  /** The newest version, or the one with this number; null if there is none. */
  get(place: StatePlace, which: { readonly key: string; readonly version?: number | undefined }): Promise<
    StateVersion | null
  >;
  /** Newest first. */
  history(place: StatePlace, which: { readonly key: string; readonly limit: number }): Promise<readonly StateVersion[]>;
  /** Sorted by key; deleted keys are left out. */
  list(
    place: StatePlace,
    which: { readonly prefix?: string | undefined; readonly limit: number },
  ): Promise<readonly StateEntry[]>;
  /** The newest version of each key in each branch and globally, most recently changed first. */
  query(namespace: string, query: StateQuery): Promise<readonly FoundState[]>;
  /** False if there was none. For a global key, all versions are removed. */
  delete(place: StatePlace, key: string): Promise<boolean>;
}
