import type { Image } from "../../domain/images.ts";
import type { QueryStatus } from "../../domain/query/outcomes.ts";
import type { QueryEnd, Usage } from "../../domain/query/query_schemas.ts";
import type { KeyedRequest, StoredQuery } from "../../domain/query/stored_query.ts";
import type { NewestQueries } from "../../domain/records/history.ts";
import type { IterationEnd } from "./iteration_store.ts";

/** Identifies the process, or its part, that runs a query, so that other processes can tell whether it still exists. */
export interface ProcessOwner {
  readonly host: string;
  /** The space in which `pid` is valid: hosts may share a name, and one host may run several containers. */
  readonly space: string;
  readonly pid: number;
  /** Start time of the process in clock ticks since boot ("" if unknown), because pids are reused. */
  readonly started: string;
  /** The part of the process, each with its own environments; 0 for the process itself. */
  readonly session: number;
}

export interface NewQuery extends KeyedRequest {
  /** The id under which it was accepted; a new one if omitted. */
  readonly queryId?: string | undefined;
  readonly branchId: string;
  readonly text: string;
  readonly provider: string;
  readonly model: string;
  /** The caller's instructions for this run. */
  readonly promptEnrichment: string;
  readonly runLabel: string | null;
  readonly owner: ProcessOwner;
  readonly images?: readonly Image[];
  /** The JSON Schema that the answer must satisfy, as text. */
  readonly answerSchema?: string | null;
  readonly askedAs?: Asked | null;
  /** The earlier run of the same query that this one replaces. From now on, readers of the branch see the variables as
   * they were before that run. */
  readonly retryOf?: string;
}

/** How the protocol of a client put a request: data that is kept to be given back, and has no effect. */
export type Asked = Readonly<Record<string, unknown>>;

/** What a request contains besides its text. */
export interface QueryExtras {
  readonly images: readonly Image[];
  readonly answerSchema: string | null;
  /** Additional instructions for this run; "" if there are none. */
  readonly instructions: string;
  readonly askedAs: Asked | null;
}

/** The handover: what the previous query left. */
export interface PreviousTurn {
  readonly queryId: string;
  readonly text: string;
  /** At most the last two, oldest first. */
  readonly thinkings: readonly string[];
  readonly answer: string;
  readonly status: QueryStatus;
  /** The notes of its result; omitted if there are none. */
  readonly notes?: readonly string[];
  /** Number of images that came with the request; omitted if there were none. */
  readonly images?: number;
  /** Blocks of an iteration that was interrupted before its end was stored; omitted if there are none. */
  readonly pending?: readonly string[];
}

/** What a query that another process began has used up. */
export interface LeftQuery {
  readonly usage: Usage;
  readonly costUsd: number | null;
  /** Child queries and plain model calls of its blocks. */
  readonly subcalls: number;
}

export interface EndOfIteration {
  readonly iterationId: string;
  readonly iteration: IterationEnd;
}

/** Queries, their runs, and the leases of the processes that run them. */
export interface QueryStore {
  /** Stores the query as running and leases its branch to its process. Returns its id (`query_state.id`). Throws
   * `BusyError` while another live process holds the branch, and `UsageError` for a retry of a query that is not the
   * last of its branch or is still running. */
  beginQuery(query: NewQuery): Promise<string>;
  /** Adds what the user sent while the query ran, before a call shows it. Throws if the query has ended. */
  addSteered(queryId: string, sent: { readonly iteration: number; readonly texts: readonly string[] }): Promise<void>;
  /** Ends a query once; a second call changes nothing. `last` is the end of its last iteration, which is stored in the
   * same transaction. Refuses "done" if an iteration has not ended. */
  endQuery(queryId: string, end: QueryEnd, last?: EndOfIteration): Promise<void>;
  /** What a request with this key has started. Looks in the conversation of this branch, whichever branch the request
   * named. Null if there is none within the last day. */
  keyedQuery(
    branchId: string,
    key: string,
  ): Promise<{ readonly queryId: string; readonly fingerprint: string } | null>;
  query(queryId: string): Promise<StoredQuery | null>;
  queryExtras(queryId: string): Promise<QueryExtras>;
  /** Oldest first; queries of ancestors up to the fork come before the branch's own. A query that was retried appears
   * once, with its newest run. Each call reads everything that it returns, texts included. */
  queries(branchId: string, options?: NewestQueries): Promise<readonly StoredQuery[]>;
  previousTurn(branchId: string, beforeQueryId: string): Promise<PreviousTurn | null>;
  /** Ends every running query whose process no longer exists as interrupted (process_lost), with its running
   * iterations. `alive` decides whether a process exists; the default is the one that the store was opened with.
   * Returns the number of queries ended. */
  sweepLost(alive?: (owner: ProcessOwner) => boolean | null): Promise<number>;
  /** Makes this process the one that continues a running query, whoever ran it: ends its last iteration if that was
   * under way, and the queries below it. Null if the query has ended, now or before: a final that was accepted is its
   * end. The caller knows that the process before can write nothing more. */
  takeOver(queryId: string, owner: ProcessOwner): Promise<LeftQuery | null>;
  /** Reports that a process that runs queries is alive, for processes that cannot check. Called twice a minute. Returns
   * the branches that the process still holds; the others were taken over. */
  renewLeases(owner: ProcessOwner): Promise<readonly string[]>;
}
