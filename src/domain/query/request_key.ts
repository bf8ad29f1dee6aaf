/** Makes a request idempotent: the same key and fingerprint identify the same request. */
export interface RequestKey {
  /** The branch that the request named. */
  readonly branchId: string;
  readonly key: string;
  readonly fingerprint: string;
  /** The query that the key started before, if its request is being continued; the key then refers to the new query. */
  readonly replaces?: string;
}

/** What can be found for a key. */
export interface KeyedRequest {
  readonly requestKey?: RequestKey | undefined;
}
