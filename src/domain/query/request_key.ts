/** With it a request is made once: the same key and fingerprint name the same request. */
export interface RequestKey {
  /** That the request named. */
  readonly branchId: string;
  readonly key: string;
  readonly fingerprint: string;
  /** What the key began before, where its request is continued: the key stands for the new query from then on. */
  readonly replaces?: string;
}

/** What may have come with a key. */
export interface KeyedRequest {
  readonly requestKey?: RequestKey | undefined;
}

/** What requests with a key have begun, for a day. */
export interface RequestKeys {
  /** In the conversation of this branch, whichever branch it named; null where there is none of the last day. */
  keyedQuery(
    branchId: string,
    key: string,
  ): Promise<{ readonly queryId: string; readonly fingerprint: string } | null>;
}
