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
  /** Real path of the workspace that it belongs to. */
  readonly workspace: string;
  readonly createdAt: number;
}

/** A branch in the tree of its conversation. */
export interface BranchNode extends Branch {
  readonly parentBranchId: string | null;
  /** Null for the first branch. */
  readonly fork: { readonly queryId: string; readonly position: number } | null;
  /** Of its own. */
  readonly queries: number;
}

/** The process that runs a query, or a part of it, so that another one can tell whether it still exists. */
export interface ProcessOwner {
  readonly host: string;
  /** Where `pid` means something: hosts may share a name, and containers one host. */
  readonly space: string;
  readonly pid: number;
  /** Start time of the process in clock ticks since boot ("" where unknown): pids are used again. */
  readonly started: string;
  /** Which part of the process it is, each with environments of its own; 0 for the process itself. */
  readonly session: number;
}

export interface NewQuery extends KeyedRequest {
  readonly branchId: string;
  readonly text: string;
  readonly provider: string;
  readonly model: string;
  /** The instructions of the caller for this run. */
  readonly promptEnrichment: string;
  readonly runLabel: string | null;
  readonly owner: ProcessOwner;
  readonly images?: readonly Image[];
  /** The JSON Schema that its answer must satisfy, as text. */
  readonly answerSchema?: string | null;
  /** The run of the same query that this one replaces. From now on readers of the branch see the variables as they were
   * before it. */
  readonly retryOf?: string;
}

/** What came with a request beside its text. */
export interface QueryExtras {
  readonly images: readonly Image[];
  readonly answerSchema: string | null;
  /** What this run was told besides, "" where nothing was. */
  readonly instructions: string;
}

/** What is known when a reply is complete, before its blocks run. */
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
  /** Texts of the blocks that are about to run. */
  readonly blocks: readonly string[];
  /** What the query has spent with this reply. */
  readonly spent?: Pick<IterationEnd["totals"], "usage" | "costUsd">;
  /** Versions that no block made: what the query was given, as of this iteration, stored with its row. */
  readonly given?: readonly VariableImage[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface StoredBlock {
  readonly code: string;
  readonly result: BlockResult;
  readonly reads: readonly string[];
  readonly literal: boolean;
  /** Codec bytes of its value where kept, else null. */
  readonly value: Uint8Array<ArrayBuffer> | null;
  /** Versions this block made. */
  readonly saved: readonly VariableImage[];
}

export interface IterationEnd {
  readonly status: "done" | "error" | "interrupted";
  readonly blocks: readonly StoredBlock[];
  /** User variables that left the scope in it, and that came back. */
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
  /** Every attempt at its model call. */
  readonly traces: readonly ModelTrace[];
  readonly error: string | null;
  /** Empty while it runs, and when it was interrupted before its end was stored. */
  readonly blocks: readonly StoredBlock[];
  /** What `beginIteration` and `endIteration` gave; until the end is stored also `pendingBlocks`, the texts of its blocks. */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
}

/** A variable of a branch: its newest version without the value. */
export interface VariableHead {
  readonly name: string;
  readonly kind: VariableImage["kind"];
  /** Number of versions, which is what the model sees as `v3`. */
  readonly versions: number;
  readonly scope: "live" | "forgotten" | "system";
  readonly summary: VariableSummary;
  readonly reason: string;
  /** The block that defined it. */
  readonly code: string;
  readonly createdAt: number;
}

export interface VariableVersion {
  /** 1-based. */
  readonly version: number;
  /** Of a system variable: `source` is its text and `bytes` is empty. */
  readonly image: VariableImage;
  readonly code: string;
  readonly createdAt: number;
}

/** Handover: what the query before left. */
export interface PreviousTurn {
  readonly text: string;
  /** At most the last two, oldest first. */
  readonly thinkings: readonly string[];
  readonly answer: string;
  readonly status: QueryStatus;
  /** How many came with the request; left out where none did. */
  readonly images?: number;
  /** Blocks of an iteration that was cut before its end was stored; left out where none was. */
  readonly pending?: readonly string[];
}

/** All of Vis's memory. Every method may reject with `StoreError`; nothing is half written when it does. What a query
 * writes is refused with `TakenOverError` once another process has ended it as lost. Owned by `app.ts`, which closes it
 * last. Blocks and variables are read back exactly as they were written; in other texts a lone
 * surrogate comes back as U+FFFD. */
export interface Store extends ConversationMaintenance, RequestKeys {
  /** Where the database is: a path or ":memory:". */
  readonly location: string;

  createConversation(facts: NewConversation): Promise<Branch>;
  /** The newest branch of a conversation, or the branch of this id, or null. An unambiguous prefix of at least 8
   * characters of the id will do. */
  findConversation(conversationId: string): Promise<Branch | null>;
  /** The conversation of a chat: its newest branch, or null. */
  findExternal(chat: ExternalChat): Promise<Branch | null>;
  /** The same, made where there is none. Two that ask at once get the same one. */
  ensureConversation(facts: NewConversation & ExternalChat): Promise<Branch>;
  /** The conversation of this workspace with the newest query, or null. */
  latestConversation(workspace: string): Promise<Branch | null>;
  listConversations(options: ConversationFilter): Promise<readonly (Branch & ConversationSummary)[]>;

  /** A branch that goes on from a point of another one: it sees the queries up to there, and the variables as they were
   * then. Copies nothing; both stay readable and go their own ways. Throws `UsageError` for a point that is not there
   * or still runs. */
  fork(fork: NewFork): Promise<Branch>;
  /** All branches of a conversation, oldest first, those of child queries left out. */
  branches(conversationId: string): Promise<readonly BranchNode[]>;

  /** Stores the query as running and leases its branch to its process; returns its id (`query_state.id`). Throws
   * `BusyError` while another living process has the branch, `UsageError` for a retry of one that is not
   * the last of its branch or still runs. */
  beginQuery(query: NewQuery): Promise<string>;
  /** The run that was the newest one of its branch when this one began; null for the first. */
  runBefore(queryId: string): Promise<string | null>;
  /** Ends a query once; a second call changes nothing. Refuses "done" for one whose last iteration has not ended, so that
   * the two may be stored together. */
  endQuery(queryId: string, end: QueryEnd): Promise<void>;
  query(queryId: string): Promise<StoredQuery | null>;
  queryExtras(queryId: string): Promise<QueryExtras>;
  /** The variables that a run was given, in the order in which it was. */
  givenImages(queryId: string): Promise<readonly VariableImage[]>;
  /** Oldest first; those of ancestors up to the fork come before its own. A query that was run again is there once, with
   * its newest run. Each reads all that it returns, texts included. */
  queries(branchId: string, options?: NewestQueries): Promise<readonly StoredQuery[]>;
  previousTurn(branchId: string, beforeQueryId: string): Promise<PreviousTurn | null>;
  /** Ends every running query whose process no longer exists as interrupted (process_lost); `alive` decides, by default
   * as the store was opened with. Running iterations of theirs end as interrupted as well. Returns how many queries. */
  sweepLost(alive?: (owner: ProcessOwner) => boolean | null): Promise<number>;
  /** Says that a process that runs queries still lives, to those that cannot look: twice a minute. Returns the branches
   * that it has; the others were taken over. */
  renewLeases(owner: ProcessOwner): Promise<readonly string[]>;

  /** One row, status running, with reply and blocks. Returns its id. */
  beginIteration(iteration: NewIteration): Promise<string>;
  /** Blocks, variables, edges, system variables and totals in one transaction. An iteration ends once: a second call
   * throws. */
  endIteration(iterationId: string, end: IterationEnd): Promise<void>;
  /** A model call that gave no reply: one row with status error, in one transaction. */
  failIteration(
    iteration: Omit<NewIteration, "response" | "blocks">,
    end: Omit<IterationEnd, "blocks" | "status" | "empty"> & { readonly error: string },
  ): Promise<string>;
  iterations(queryId: string, range?: IterationRange): Promise<readonly StoredIteration[]>;
  /** The messages that the iteration in this row (0-based) was asked with, null where there is none. */
  sentMessages(queryId: string, position: number): Promise<readonly SentMessage[] | null>;

  /** A branch that no list of conversations shows. */
  createChildBranch(child: NewChildBranch): Promise<Branch>;
  /** The child queries that an iteration started, oldest first. */
  childQueries(iterationId: string): Promise<readonly (StoredQuery & { readonly depth: number })[]>;
  recordSubCall(call: SubCall): Promise<void>;
  /** Oldest first. */
  subCalls(iterationId: string): Promise<readonly (SubCall & { readonly createdAt: number })[]>;
  /** Stores UTF-8 text piece by piece; what it gives names it from then on. */
  putLarge(pieces: AsyncIterable<Uint8Array>): Promise<string>;
  /** The pieces in order, read as they are asked for. */
  largePieces(large: string): AsyncIterable<Uint8Array<ArrayBuffer>>;

  /** Every variable of the branch, newest first, system ones included; `at` a moment of it as a fork would see them. */
  variables(branchId: string, at?: BranchPoint): Promise<readonly VariableHead[]>;
  /** Names of the variables that none of so many queries before this one (before the next one where it is not known) has
   * defined or changed; none where there were fewer. */
  unchangedVariables(
    branchId: string,
    options: { readonly queries: number; readonly before: string },
  ): Promise<readonly string[]>;
  /** Which variables of the branch the blocks that made a variable have read. */
  dependencies(branchId: string): Promise<readonly Dependency[]>;
  /** Newest versions of the live user variables, in the order in which they must be restored. */
  liveImages(branchId: string, at?: BranchPoint): Promise<readonly VariableImage[]>;
  /** Oldest first, all of them or the `newest` ones; empty when there is none of that name. */
  variableVersions(
    branchId: string,
    name: string,
    options?: { readonly newest?: number; readonly at?: BranchPoint },
  ): Promise<readonly VariableVersion[]>;
  /** At the newest moment of the branch; where it is given, the run `queryId` makes the change. */
  setScope(
    branchId: string,
    change: { readonly names: readonly string[]; readonly scope: "live" | "forgotten"; readonly queryId?: string },
  ): Promise<void>;

  /** What extensions keep. */
  readonly states: StateStore;
  /** Over requests, blocks and answers of all conversations. */
  search(text: string, filter: SearchFilter): Promise<readonly SearchHit[]>;
  /** Quick structural check of the file: problems in words, empty when none. */
  check(): Promise<readonly string[]>;
  /** What happened to its files since they were opened, and what to do; "" where what is written reaches them. */
  fileFault(): string;
  /** Adds to the log table, in one transaction; never rejects. */
  log(...entries: readonly LogEntry[]): Promise<void>;
  logs(filter: LogFilter): Promise<readonly LogRow[]>;
  close(): Promise<void>;
}
