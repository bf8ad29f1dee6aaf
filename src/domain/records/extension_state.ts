import type { JsonValue } from "../kit/json.ts";

export interface StateVersion {
  /** The number is 1-based, and increases with each change, deletions included. */
  readonly version: number;
  readonly value: JsonValue | undefined;
  /** The time is in milliseconds since the epoch. */
  readonly at: number;
}

export interface StateEntry {
  readonly key: string;
  readonly version: number;
  readonly at: number;
}

export interface FoundState extends StateEntry {
  readonly value: JsonValue;
  /** The id is null for global state. */
  readonly conversationId: string | null;
}

export interface StateQuery {
  /** Null selects global state; an absent id selects all states. */
  readonly conversationId?: string | null | undefined;
  readonly prefix?: string | undefined;
  readonly where?: Readonly<Record<string, string | number | boolean | null>> | undefined;
  readonly since?: number | undefined;
  readonly limit: number;
}

export interface StatePlace {
  readonly namespace: string;
  /** The branch is null for global state. */
  readonly branchId: string | null;
  /** The point of a change is an iteration, or before the first iteration of the query `queryId` (`query_state.id`).
   * Without both, it is the newest point of the branch. A query that another process has ended as lost cannot change a
   * state. */
  readonly iterationId?: string | null;
  readonly queryId?: string | null;
}

/** A change of a key makes a version. A branch sees the state of its ancestors at the time of its fork. Rejects with
 * `UsageError` above a limit, or if `ifVersion` does not fit. */
export interface StateStore {
  /** Returns the new version, or the existing one if the value is the same. With `ifVersion`, writes only if that
   * version is the newest; 0 means that no value may exist. */
  put(
    place: StatePlace,
    state: { readonly key: string; readonly value: JsonValue; readonly ifVersion?: number | undefined },
  ): Promise<number>;
  /** Without a version, returns the newest one, or null if it is a deletion. Returns null for a missing version. */
  get(place: StatePlace, which: { readonly key: string; readonly version?: number | undefined }): Promise<
    StateVersion | null
  >;
  /** The newest comes first. */
  history(place: StatePlace, which: { readonly key: string; readonly limit: number }): Promise<readonly StateVersion[]>;
  /** The states come in the order of their keys, without deleted keys. */
  list(
    place: StatePlace,
    which: { readonly prefix?: string | undefined; readonly limit: number },
  ): Promise<readonly StateEntry[]>;
  /** Returns the newest version of each key in each branch and globally, most recently changed first. */
  query(namespace: string, query: StateQuery): Promise<readonly FoundState[]>;
  /** Returns false if the key had no value. For a global key, removes all versions. */
  delete(place: StatePlace, key: string): Promise<boolean>;
}
