import type { JsonValue } from "../kit/json.ts";

export interface StateVersion {
  /** The number is 1-based. Each change increases it. In a conversation, a deletion is a change; elsewhere,
   * a deletion removes all versions. */
  readonly version: number;
  readonly value: JsonValue | undefined;
  readonly at: number;
}

export interface StateEntry {
  readonly key: string;
  readonly version: number;
  readonly at: number;
}

export interface FoundState extends StateEntry {
  readonly value: JsonValue;
  readonly conversationId: string | null;
}

export interface StateQuery {
  /** Null selects global state. Without an id, all states match. */
  readonly conversationId?: string | null | undefined;
  readonly prefix?: string | undefined;
  readonly where?: Readonly<Record<string, string | number | boolean | null>> | undefined;
  readonly since?: number | undefined;
  readonly limit: number;
}

export interface StatePlace {
  readonly namespace: string;
  readonly branchId: string | null;
  /** With neither id, a change belongs to the newest point of the branch. */
  readonly iterationId?: string | null;
  readonly queryId?: string | null;
}

/** A branch sees the state of its ancestors at the time of its fork. Rejects with `UsageError` above a limit, or if
 * `ifVersion` does not fit. */
export interface StateStore {
  /** Returns the existing version if the value is the same. With `ifVersion`, writes only if that version is the
   * newest; 0 means that no value may exist. */
  put(
    place: StatePlace,
    state: { readonly key: string; readonly value: JsonValue; readonly ifVersion?: number | undefined },
  ): Promise<number>;
  /** Without a version, returns the newest version, or null if the newest version is a deletion. */
  get(place: StatePlace, which: { readonly key: string; readonly version?: number | undefined }): Promise<
    StateVersion | null
  >;
  history(place: StatePlace, which: { readonly key: string; readonly limit: number }): Promise<readonly StateVersion[]>;
  list(
    place: StatePlace,
    which: { readonly prefix?: string | undefined; readonly limit: number },
  ): Promise<readonly StateEntry[]>;
  query(namespace: string, query: StateQuery): Promise<readonly FoundState[]>;
  delete(place: StatePlace, key: string): Promise<boolean>;
}
