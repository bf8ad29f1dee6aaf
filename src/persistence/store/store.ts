import type { LogFilter, LogRow, SearchFilter, SearchHit } from "../../domain/records/archive.ts";
import type { BlockResult } from "../../domain/query/block_result.ts";
import type {
  ConversationFilter,
  ConversationMaintenance,
  ConversationSummary,
} from "../../domain/records/conversation_maintenance.ts";
import type { Dependency } from "../../domain/records/dependency.ts";
import type { StateStore } from "../../domain/records/extension_state.ts";
import type { Image } from "../../domain/images/image.ts";
import type { IterationRange } from "../../domain/query/iteration_range.ts";
import type { LogEntry } from "../../domain/records/log_entry.ts";
import type { ModelTrace } from "../../domain/query/model_trace.ts";
import type { NewChildBranch } from "../../domain/records/new_child_branch.ts";
import type { ExternalChat, NewConversation } from "../../domain/records/new_conversation.ts";
import type { NewestQueries } from "../../domain/records/newest_queries.ts";
import type { BranchPoint, NewFork } from "../../domain/records/new_fork.ts";
import type { QueryStatus } from "../../domain/query/query_result.ts";
import type { KeyedRequest, RequestKeys } from "../../domain/query/request_key.ts";
import type { SubCall } from "../../domain/query/sub_call.ts";
import type { SentMessage } from "../../domain/query/sent_message.ts";
import type { QueryEnd, StoredQuery } from "../../domain/query/stored_query.ts";
import type { Usage } from "../../domain/query/usage.ts";
import type { VariableImage, VariableSummary } from "../../domain/query/variable.ts";

/** One branch of a conversation: a row of `conversation_state`. */
export interface Branch {
  readonly conversationId: string;
  readonly branchId: string;
  readonly title: string;
  /** Real path of the workspace that the conversation belongs to. */
  readonly workspace: string;
  readonly createdAt: number;
}

/** A branch within the tree of its conversation. */
export interface BranchNode extends Branch {
  readonly parentBranchId: string | null;
  /** Null for the first branch. */
  readonly fork: { readonly queryId: string; readonly position: number } | null;
  /** Number of its own queries, without those of its ancestors. */
  readonly queries: number;
}

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
  /** The earlier run of the same query that this one replaces. From now on, readers of the branch see the variables as
   * they were before that run. */
  readonly retryOf?: string;
}

/** What a request contains besides its text. */
export interface QueryExtras {
  readonly images: readonly Image[];
  readonly answerSchema: string | null;
  /** Additional instructions for this run; "" if there are none. */
  readonly instructions: string;
}

/** What is known once a reply is complete and before its blocks run. */
export interface NewIteration {
  readonly queryId: string;
  /** 0-based. */
  readonly position: number;
  readonly systemPrompt: string;
  /** The message list that was sent, as JSON. */
  readonly userPrompt: string;
  readonly provider: string;
  readonly model: string;
  readonly response: string;
  readonly thinking: string;
  readonly traces: readonly ModelTrace[];
  readonly modelMs: number;
  /** Source texts of the blocks that are about to run. */
  readonly blocks: readonly string[];
  /** What the query has spent so far, this reply included. */
  readonly spent?: Pick<IterationEnd["totals"], "usage" | "costUsd">;
  /** Versions that no block made: input of the query, as of this iteration. They are stored with its row. */
  readonly given?: readonly VariableImage[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface StoredBlock {
  readonly code: string;
  readonly result: BlockResult;
  readonly reads: readonly string[];
  readonly literal: boolean;
  /** The value as codec bytes if it is kept, else null. */
  readonly value: Uint8Array<ArrayBuffer> | null;
  /** Versions that this block made. */
  readonly saved: readonly VariableImage[];
}

export interface IterationEnd {
  readonly status: "done" | "error" | "interrupted";
  readonly blocks: readonly StoredBlock[];
  /** User variables that left the scope in this iteration, and those that came back. */
  readonly scopes?: { readonly forgotten: readonly string[]; readonly live: readonly string[] };
  /** Versions of `$query`, `$reasoning` and `$answer`: name and text. */
  readonly system: readonly { readonly name: string; readonly text: string }[];
  readonly error: string | null;
  readonly empty: boolean;
  /** Running totals of the query so far, merged into its metadata. */
  readonly totals: { readonly iterations: number; readonly usage: Usage; readonly costUsd: number | null };
  /** Merged into the iteration's metadata: outcome, refusal, attempts line, budget after it … */
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface StoredIteration {
  readonly iterationId: string;
  readonly queryId: string;
  readonly position: number;
  readonly status: QueryStatus | "running";
  readonly thinking: string;
  readonly response: string;
  /** Every attempt at the model call. */
  readonly traces: readonly ModelTrace[];
  readonly error: string | null;
  /** Empty while the iteration runs, and if it was interrupted before its end was stored. */
  readonly blocks: readonly StoredBlock[];
  /** The metadata passed to `beginIteration` and `endIteration`. Until the end is stored, also `pendingBlocks`, the
   * source texts of the blocks. */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
}

/** The newest version of a variable of a branch, without its value. */
export interface VariableHead {
  readonly name: string;
  readonly kind: VariableImage["kind"];
  /** Number of versions. The model sees it as `v3`. */
  readonly versions: number;
  readonly scope: "live" | "forgotten" | "system";
  readonly summary: VariableSummary;
  readonly reason: string;
  /** The block that defined the variable. */
  readonly code: string;
  readonly createdAt: number;
}

export interface VariableVersion {
  /** 1-based. */
  readonly version: number;
  /** For a system variable, `source` is its text and `bytes` is empty. */
  readonly image: VariableImage;
  readonly code: string;
  readonly createdAt: number;
}

/** The handover: what the previous query left. */
export interface PreviousTurn {
  readonly text: string;
  /** At most the last two, oldest first. */
  readonly thinkings: readonly string[];
  readonly answer: string;
  readonly status: QueryStatus;
  /** Number of images that came with the request; omitted if there were none. */
  readonly images?: number;
  /** Blocks of an iteration that was interrupted before its end was stored; omitted if there are none. */
  readonly pending?: readonly string[];
}

/** All of Vis's memory. Every method may reject with `StoreError`, and then has written nothing. A query's writes are
 * refused with `TakenOverError` once another process has ended that query as lost. `app.ts` owns the store and closes
 * it last. Blocks and variables are read back exactly as written; in other texts a lone surrogate comes back as
 * U+FFFD. */
export interface Store extends ConversationMaintenance, RequestKeys {
  /** The location of the database: a path or ":memory:". */
  readonly location: string;

  createConversation(facts: NewConversation): Promise<Branch>;
  /** The newest branch of the conversation with this id, the branch with this id, or null. A unique prefix of at least
   * 8 characters is enough. */
  findConversation(conversationId: string): Promise<Branch | null>;
  /** The newest branch of a chat's conversation, or null. */
  findExternal(chat: ExternalChat): Promise<Branch | null>;
  /** The same, but creates the conversation if there is none. Concurrent calls get the same one. */
  ensureConversation(facts: NewConversation & ExternalChat): Promise<Branch>;
  /** The conversation of this workspace that has the newest query, or null. */
  latestConversation(workspace: string): Promise<Branch | null>;
  listConversations(options: ConversationFilter): Promise<readonly (Branch & ConversationSummary)[]>;

  /** Creates a branch that continues from a point of another one: it sees the queries up to that point and the
   * variables as they were then. Copies nothing; both branches stay readable and are independent. Throws `UsageError`
   * if the point does not exist or is still running. */
  fork(fork: NewFork): Promise<Branch>;
  /** All branches of a conversation, oldest first, without those of child queries. */
  branches(conversationId: string): Promise<readonly BranchNode[]>;

  /** Stores the query as running and leases its branch to its process. Returns its id (`query_state.id`). Throws
   * `BusyError` while another live process holds the branch, and `UsageError` for a retry of a query that is not the
   * last of its branch or is still running. */
  beginQuery(query: NewQuery): Promise<string>;
  /** The newest run of the branch at the time when this run began; null for the first run. */
  runBefore(queryId: string): Promise<string | null>;
  /** Ends a query once; a second call changes nothing. Refuses "done" if the last iteration has not ended, so that both
   * can be stored together. */
  endQuery(queryId: string, end: QueryEnd): Promise<void>;
  query(queryId: string): Promise<StoredQuery | null>;
  queryExtras(queryId: string): Promise<QueryExtras>;
  /** The variables that a run received as input, in that order. */
  givenImages(queryId: string): Promise<readonly VariableImage[]>;
  /** Oldest first; queries of ancestors up to the fork come before the branch's own. A query that was retried appears
   * once, with its newest run. Each call reads everything that it returns, texts included. */
  queries(branchId: string, options?: NewestQueries): Promise<readonly StoredQuery[]>;
  previousTurn(branchId: string, beforeQueryId: string): Promise<PreviousTurn | null>;
  /** Ends every running query whose process no longer exists as interrupted (process_lost), with its running
   * iterations. `alive` decides whether a process exists; the default is the one that the store was opened with.
   * Returns the number of queries ended. */
  sweepLost(alive?: (owner: ProcessOwner) => boolean | null): Promise<number>;
  /** Reports that a process that runs queries is alive, for processes that cannot check. Called twice a minute. Returns
   * the branches that the process still holds; the others were taken over. */
  renewLeases(owner: ProcessOwner): Promise<readonly string[]>;

  /** Stores one row with status running, the reply and the blocks. Returns its id. */
  beginIteration(iteration: NewIteration): Promise<string>;
  /** Stores blocks, variables, edges, system variables and totals in one transaction. An iteration ends once: a second
   * call throws. */
  endIteration(iterationId: string, end: IterationEnd): Promise<void>;
  /** Records a model call that returned no reply: one row with status error, in one transaction. */
  failIteration(
    iteration: Omit<NewIteration, "response" | "blocks">,
    end: Omit<IterationEnd, "blocks" | "status" | "empty"> & { readonly error: string },
  ): Promise<string>;
  iterations(queryId: string, range?: IterationRange): Promise<readonly StoredIteration[]>;
  /** The messages that were sent for the iteration in this row (0-based); null if there is none. */
  sentMessages(queryId: string, position: number): Promise<readonly SentMessage[] | null>;

  /** Creates a branch that is not listed among the conversations. */
  createChildBranch(child: NewChildBranch): Promise<Branch>;
  /** The child queries that an iteration started, oldest first. */
  childQueries(iterationId: string): Promise<readonly (StoredQuery & { readonly depth: number })[]>;
  recordSubCall(call: SubCall): Promise<void>;
  /** Oldest first. */
  subCalls(iterationId: string): Promise<readonly (SubCall & { readonly createdAt: number })[]>;
  /** Stores UTF-8 text piece by piece. Returns the reference that names it from then on. */
  putLarge(pieces: AsyncIterable<Uint8Array>): Promise<string>;
  /** The pieces in order, each read on demand. */
  largePieces(large: string): AsyncIterable<Uint8Array<ArrayBuffer>>;

  /** Every variable of the branch, newest first, system variables included. With `at`, as a fork at that moment would
   * see them. */
  variables(branchId: string, at?: BranchPoint): Promise<readonly VariableHead[]>;
  /** Names of the variables that were neither defined nor changed by any of the last `queries` queries before query
   * `before`, or before the next query if `before` is unknown. Empty if there were fewer queries. */
  unchangedVariables(
    branchId: string,
    options: { readonly queries: number; readonly before: string },
  ): Promise<readonly string[]>;
  /** For each variable, the variables of the branch that the blocks that made it have read. */
  dependencies(branchId: string): Promise<readonly Dependency[]>;
  /** Newest versions of the live user variables, in the order in which they must be restored. */
  liveImages(branchId: string, at?: BranchPoint): Promise<readonly VariableImage[]>;
  /** Oldest first: all versions, or the `newest` ones. Empty if no variable has that name. */
  variableVersions(
    branchId: string,
    name: string,
    options?: { readonly newest?: number; readonly at?: BranchPoint },
  ): Promise<readonly VariableVersion[]>;
  /** Changes the scope at the newest moment of the branch. If `queryId` is set, that run makes the change. */
  setScope(
    branchId: string,
    change: { readonly names: readonly string[]; readonly scope: "live" | "forgotten"; readonly queryId?: string },
  ): Promise<void>;

  /** The state that extensions keep. */
  readonly states: StateStore;
  /** Searches the requests, blocks and answers of all conversations. */
  search(text: string, filter: SearchFilter): Promise<readonly SearchHit[]>;
  /** Quick structural check of the file. Returns descriptions of the problems, or an empty list. */
  check(): Promise<readonly string[]>;
  /** What happened to the files since they were opened, and what to do about it; "" while writes still reach them. */
  fileFault(): string;
  /** Adds entries to the log table in one transaction. Never rejects. */
  log(...entries: readonly LogEntry[]): Promise<void>;
  logs(filter: LogFilter): Promise<readonly LogRow[]>;
  close(): Promise<void>;
}
