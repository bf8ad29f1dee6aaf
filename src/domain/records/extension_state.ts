import type { JsonValue } from "../text/json_value.ts";

/** One version of a state. */
export interface StateVersion {
  /** 1-based; rises with each change, a deletion included. */
  readonly version: number;
  /** Undefined where it was deleted. */
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
  /** Null for what is global. */
  readonly conversationId: string | null;
}

export interface StateQuery {
  /** Those of one conversation (its id), the global ones (null), or all where absent. */
  readonly conversationId?: string | null | undefined;
  readonly prefix?: string | undefined;
  /** Path in the value ("a.b") to what must stand there. */
  readonly where?: Readonly<Record<string, string | number | boolean | null>> | undefined;
  /** Changed from then on. */
  readonly since?: number | undefined;
  readonly limit: number;
}

/** Whose state it is, and the moment at which it is read or written. */
export interface StatePlace {
  readonly namespace: string;
  /** Null: global. */
  readonly branchId: string | null;
  /** Of a change: the row of the iteration in which it is made; before the first one its query (`query_state.id`). The
   * newest moment of the branch where both are absent. A global one is not of that moment, but refused as any change of
   * a query that another process has ended as lost. */
  readonly iterationId?: string | null;
  readonly queryId?: string | null;
}

/** States of extensions: JSON under keys, each change a version. A branch sees what its ancestors had when it left them.
 * Rejects with `UsageError` for what is over a limit or was changed meanwhile. */
export interface StateStore {
  /** The version; that of before where the value is the same. With `ifVersion` only where that is the newest one, 0 for
   * none. */
  put(
    place: StatePlace,
    state: { readonly key: string; readonly value: JsonValue; readonly ifVersion?: number | undefined },
  ): Promise<number>;
  /** The newest version or that of a number; null where there is none. */
  get(place: StatePlace, which: { readonly key: string; readonly version?: number | undefined }): Promise<
    StateVersion | null
  >;
  /** Newest first. */
  history(place: StatePlace, which: { readonly key: string; readonly limit: number }): Promise<readonly StateVersion[]>;
  /** By key; deleted ones are left out. */
  list(
    place: StatePlace,
    which: { readonly prefix?: string | undefined; readonly limit: number },
  ): Promise<readonly StateEntry[]>;
  /** The newest version of each key in each branch and globally, the one changed last first. */
  query(namespace: string, query: StateQuery): Promise<readonly FoundState[]>;
  /** False where there was none. Of a global one all versions go. */
  delete(place: StatePlace, key: string): Promise<boolean>;
}
