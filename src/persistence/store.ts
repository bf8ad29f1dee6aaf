/** The store: the database of conversations, extension state and logs. Code outside of this folder takes the interfaces
 * below, opens a store with `open_store.ts`, and checks archives with `archive_schema.ts`. `vis db` also uses
 * `sqlite/maintenance.ts` and `copy_store.ts`. All other files are private.
 *
 * How to read the folder: `database_store.ts` names the function behind each method. One file reads and writes each
 * topic: conversations, queries, iterations, variables, children, states, logs, search, nodes. `runs.ts` decides which
 * process may write a query; `queries.ts` ends a query whose process is gone. `tables.ts` describes the tables, and
 * `content.ts` stores long texts and values once. Most statements use the interface in `database.ts`, which `sqlite/`
 * and `postgres/` implement. `erasure.ts` removes the contents of a deleted conversation. */
import type { Image } from "../domain/images.ts";
import type { ApprovalQuestion } from "../domain/query/approval.ts";
import type { ModelTrace, SentMessage, SubCall } from "../domain/query/model_call.ts";
import type { QueryReason, QueryStatus, ReadingMode } from "../domain/query/outcomes.ts";
import type { BlockResult, QueryEnd, Usage } from "../domain/query/query_schemas.ts";
import type { IterationRange, KeyedRequest, StoredApproval, StoredQuery } from "../domain/query/stored_query.ts";
import type { Dependency, VariableImage, VariableSummary } from "../domain/query/variable.ts";
import type {
  BranchPoint,
  ContentSource,
  ConversationFilter,
  ConversationSummary,
  ExternalChat,
  ImportReport,
  LabelUse,
  NewChildBranch,
  NewConversation,
  NewFork,
  QueryIterations,
} from "../domain/records/conversations.ts";
import type { StateStore } from "../domain/records/extension_state.ts";
import type { Archive, LogEntry, NewestQueries } from "../domain/records/history.ts";
import type { ArchivePart, ConversationArchive } from "./archive_schema.ts";

/** Methods that return a promise, except `log`, may reject with `StoreError`; a transaction that fails stores no data.
 * A query's writes are refused with `TakenOverError` once another process has ended that query as lost. `app.ts` owns
 * the store and closes it last. Blocks and variables are read back exactly as written. In other texts, a lone surrogate
 * comes back as U+FFFD. */
export interface Store
  extends
    ConversationStore,
    ConversationMaintenance,
    QueryStore,
    IterationStore,
    VariableStore,
    ChildStore,
    LargeTextStore,
    Archive {
  readonly location: string;
  /** The store shows only the rows of this tenant, or all rows if it is null. New rows belong to the tenant, or to the
   * default tenant. Exceptions that concern every tenant are the total use of labels, the leases and the log. */
  readonly tenant: string | null;
  of(tenant: string | null): Store;
  readonly states: StateStore;
  /** Makes this process one of the nodes that share the database. Null for SQLite. */
  readonly asNode: ((id: string) => Promise<NodeStore>) | null;
  /** Checks the structure of the file quickly, or the rights of the role in PostgreSQL. Returns descriptions of the
   * problems. */
  check(): Promise<readonly string[]>;
  /** Returns how the files changed since they were opened, with advice; "" while writes still reach the files. */
  fileFault(): string;
  /** Returns why no data can be stored now, or "". A server gets some seconds to store a test value. */
  writeFault(): Promise<string>;
  /** Adds entries to the log table in one transaction. Never rejects. */
  log(...entries: readonly LogEntry[]): Promise<void>;
  close(): Promise<void>;
}

export interface ConversationMaintenance {
  /** Sets the user's title, which only another title of the user replaces. */
  setTitle(branchId: string, title: string): Promise<void>;
  /** Rejects with `BusyError` while a query runs in the conversation. The store removes unreferenced texts and values
   * directly afterwards; `close` waits for that. */
  deleteConversation(conversationId: string): Promise<void>;
  /** The query may run in any process. */
  runningQuery(conversationId: string): Promise<string | null>;
  /** Returns the run of the query whose id starts with this prefix, or null without a single match. */
  findQuery(prefix: string): Promise<string | null>;
  labelUse(since: number): Promise<readonly LabelUse[]>;
  /** Returns the queries of a branch like `Store.queries`, but without reading their texts. */
  turns(branchId: string): Promise<readonly QueryIterations[]>;
  /** Passes the stored data of a conversation to `take`, as one snapshot. A running query is exported as interrupted.
   * Damage may be found after some parts were passed. */
  exportConversation(conversationId: string, take: (part: ArchivePart) => Promise<void>): Promise<void>;
  /** Stores a whole archive under new ids, or none of it. The conversation belongs to this workspace and to no chat, so
   * the file cannot grant access. Rejects with `UsageError` if rows contradict each other. */
  importConversation(
    archive: ConversationArchive,
    options: {
      readonly workspace: string;
      readonly contents?: ContentSource;
    },
  ): Promise<ImportReport>;
}

export interface Branch {
  readonly conversationId: string;
  readonly branchId: string;
  readonly tenant: string;
  readonly title: string;
  readonly workspace: string;
  readonly createdAt: number;
}

export interface BranchNode extends Branch {
  readonly parentBranchId: string | null;
  readonly fork: { readonly queryId: string; readonly position: number } | null;
  readonly queries: number;
}

export interface ConversationStore {
  createConversation(facts: NewConversation): Promise<Branch>;
  /** Returns the last used branch of the conversation with this id, the branch with this id, or null. A unique prefix
   * of at least 8 characters is enough. */
  findConversation(conversationId: string): Promise<Branch | null>;
  findExternal(chat: ExternalChat): Promise<Branch | null>;
  /** Returns the last used branch of a chat's conversation, and creates the conversation if it is missing. Concurrent
   * calls get the same branch. */
  ensureConversation(facts: NewConversation & ExternalChat): Promise<Branch>;
  latestConversation(workspace: string): Promise<Branch | null>;
  listConversations(options: ConversationFilter): Promise<readonly (Branch & ConversationSummary)[]>;
  /** Creates a branch that continues from a point of another branch. The new branch sees the queries up to that point,
   * and the variables as they were then, without a copy of data. Both branches stay readable and are independent.
   * Throws `UsageError` if the point does not exist or is still running. */
  fork(fork: NewFork): Promise<Branch>;
  /** The oldest comes first. Branches of sub-queries are omitted. */
  branches(conversationId: string): Promise<readonly BranchNode[]>;
}

/** Identifies the process, or its part, that runs a query, so that other processes can check whether it still
 * exists. */
export interface ProcessOwner {
  readonly host: string;
  /** `pid` is valid in this space, since hosts may share a name, and a host may run several containers. */
  readonly space: string;
  readonly pid: number;
  /** The start of the process in clock ticks since boot, because pids are reused; "" if unknown. */
  readonly started: string;
  /** Each part of a process has its own environments. The process itself is 0. */
  readonly session: number;
}

export interface NewQuery extends KeyedRequest {
  /** The query was accepted under this id. If this id is absent, the query gets a new id. */
  readonly queryId?: string | undefined;
  readonly branchId: string;
  readonly text: string;
  readonly provider: string;
  readonly model: string;
  readonly promptEnrichment: string;
  readonly runLabel: string | null;
  readonly owner: ProcessOwner;
  readonly images?: readonly Image[];
  readonly answerSchema?: string | null;
  readonly askedAs?: Asked | null;
  readonly only?: ReadingMode | null;
  /** The id of an earlier run of the same query, which this run replaces. Readers of the branch then see the variables
   * as they were before the earlier run. */
  readonly retryOf?: string;
}

/** The request in the form of the client's protocol. Vis only stores and returns this form. */
export type Asked = Readonly<Record<string, unknown>>;

export interface QueryExtras {
  readonly images: readonly Image[];
  readonly answerSchema: string | null;
  readonly instructions: string;
  readonly askedAs: Asked | null;
}

export interface EarlierTurn {
  readonly text: string;
  readonly steered: readonly string[];
  readonly images: number;
  readonly answer: string;
  readonly unfinished: QueryReason | null;
}

export interface EarlierTurns {
  /** The list has at most the twelve newest queries, oldest first. */
  readonly shown: readonly EarlierTurn[];
  readonly more: number;
}

export interface PreviousTurn {
  readonly queryId: string;
  readonly text: string;
  readonly earlier: EarlierTurns;
  /** `QueryEnd.idle` of the query; false if it was not recorded. */
  readonly idle: boolean;
  /** The list has at most the last two thinkings, oldest first. */
  readonly thinkings: readonly string[];
  readonly answer: string;
  readonly status: QueryStatus;
  readonly notes?: readonly string[];
  readonly images?: number;
  /** Set if an iteration was interrupted before its end was stored. */
  readonly pending?: readonly string[];
  /** The output of the blocks and calls that ended with the query. */
  readonly printed?: string;
  /** The oldest diff comes first. */
  readonly diffs?: readonly string[];
}

export interface LeftQuery {
  readonly usage: Usage;
  readonly costUsd: number | null;
  readonly subcalls: number;
}

export interface EndOfIteration {
  readonly iterationId: string;
  readonly iteration: IterationEnd;
}

export interface QueryStore {
  /** Stores the query as running and leases its branch to its process. Returns the id of the run (`query_state.id`).
   * Throws `BusyError` while another live process holds the branch. Throws `UsageError` for a retry of a query that is
   * still running or not the last of its branch. */
  beginQuery(query: NewQuery): Promise<string>;
  /** Adds a message that the user sent while the query ran, before a call shows it. Throws if the query has ended. */
  addSteered(queryId: string, sent: { readonly iteration: number; readonly texts: readonly string[] }): Promise<void>;
  /** Stores a question to the user for which a running query waits, and later its answer. Throws if the query has
   * ended. */
  setQuestion(queryId: string, approval: StoredApproval): Promise<void>;
  /** Stores the messages of the user that wait for the next iteration of a running query. Throws if the query has
   * ended. */
  setWaiting(queryId: string, texts: readonly string[]): Promise<void>;
  /** Ends a query; a second call has no effect. `last` is the end of its last iteration, which is stored in the same
   * transaction; a second call with it throws. Without `last`, refuses "done" if an iteration has not ended. */
  endQuery(queryId: string, end: QueryEnd, last?: EndOfIteration): Promise<void>;
  /** Returns the query that a request with this key has started, in any branch of this branch's conversation. Returns
   * null if no such request is from the last day. */
  keyedQuery(
    branchId: string,
    key: string,
  ): Promise<{ readonly queryId: string; readonly fingerprint: string } | null>;
  query(queryId: string): Promise<StoredQuery | null>;
  /** Returns the ids of all runs of the request that this run belongs to, oldest first. */
  attempts(queryId: string): Promise<readonly string[]>;
  queryExtras(queryId: string): Promise<QueryExtras>;
  /** Returns queries, oldest first. Queries of ancestors up to the fork come before the branch's own. A query that was
   * retried appears once, with its newest run. Each call reads all returned data, texts included. */
  queries(branchId: string, options?: NewestQueries): Promise<readonly StoredQuery[]>;
  previousTurn(branchId: string, beforeQueryId: string): Promise<PreviousTurn | null>;
  /** Ends every running query whose process no longer exists as interrupted (process_lost), with its running
   * iterations. `alive` decides whether a process exists; its default was given when the store was opened. Returns the
   * number of ended queries. */
  sweepLost(alive?: (owner: ProcessOwner) => boolean | null): Promise<number>;
  /** Makes this process continue a running query of any process. Ends a last iteration that is running, and the
   * sub-queries. Returns null if the query has ended or its final was accepted. The caller knows that the former
   * process can write no more. */
  takeOver(queryId: string, owner: ProcessOwner): Promise<LeftQuery | null>;
  /** Reports that a process that runs queries is alive, for processes that cannot check. The caller repeats the report
   * twice a minute. Returns the branches that the process still holds. */
  renewLeases(owner: ProcessOwner): Promise<readonly string[]>;
}

export interface NewIteration {
  readonly queryId: string;
  /** Positions begin at 0. */
  readonly position: number;
  readonly systemPrompt: string;
  readonly userPrompt: string;
  readonly provider: string;
  readonly model: string;
  readonly response: string;
  readonly thinking: string;
  readonly traces: readonly ModelTrace[];
  readonly modelMs: number;
  readonly blocks: readonly string[];
  readonly spent?: Pick<IterationEnd["totals"], "usage" | "costUsd">;
  /** Versions without a block: input of the query as of this iteration, stored with the row of the iteration. */
  readonly given?: readonly VariableImage[];
  /** The metadata is merged with that of `endIteration`. Until the iteration ends, the store adds `pendingBlocks`: the
   * source texts of the blocks. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface StoredBlock {
  readonly code: string;
  readonly result: BlockResult;
  readonly reads: readonly string[];
  readonly madeFrom?: ReadonlyMap<string, readonly string[]> | null;
  readonly literal: boolean;
  /** The value is codec bytes if it is kept, otherwise null. */
  readonly value: Uint8Array<ArrayBuffer> | null;
  readonly saved: readonly VariableImage[];
}

export interface IterationEnd {
  readonly status: "done" | "error" | "interrupted";
  readonly blocks: readonly StoredBlock[];
  readonly scopes?: { readonly forgotten: readonly string[]; readonly live: readonly string[] };
  readonly system: readonly { readonly name: string; readonly text: string }[];
  readonly error: string | null;
  readonly empty: boolean;
  readonly totals: { readonly iterations: number; readonly usage: Usage; readonly costUsd: number | null };
  /** The metadata of the iteration gets these fields, such as the outcome and the budget. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface StoredIteration
  extends Pick<NewIteration, "queryId" | "position" | "thinking" | "response" | "traces" | "metadata"> {
  readonly iterationId: string;
  readonly status: QueryStatus | "running";
  readonly error: string | null;
  /** The list is empty while the iteration runs, and if the iteration was interrupted before its end was stored. */
  readonly blocks: readonly StoredBlock[];
  readonly steered: readonly string[];
  readonly createdAt: number;
}

export interface IterationStore {
  /** The row has status running, the reply and the blocks. Returns the id of the row. */
  beginIteration(iteration: NewIteration): Promise<string>;
  /** Stores blocks, variables, edges, system variables and totals in one transaction. An iteration ends once; a second
   * call throws. */
  endIteration(iterationId: string, end: IterationEnd): Promise<void>;
  /** Records a model call without a reply: one row with status error, in one transaction. */
  failIteration(
    iteration: Omit<NewIteration, "response" | "blocks">,
    end: Omit<IterationEnd, "blocks" | "status" | "empty"> & { readonly error: string },
  ): Promise<string>;
  iterations(queryId: string, range?: IterationRange): Promise<readonly StoredIteration[]>;
  /** Returns the messages that were sent for the iteration at this position (0-based), or null. */
  sentMessages(queryId: string, position: number): Promise<readonly SentMessage[] | null>;
}

export interface VariableHead {
  readonly name: string;
  readonly kind: VariableImage["kind"];
  /** The model sees version 3 as `v3`. */
  readonly versions: number;
  readonly scope: "live" | "forgotten" | "system";
  readonly summary: VariableSummary;
  readonly reason: string;
  readonly code: string;
  readonly createdAt: number;
  readonly files?: VariableImage["files"];
}

export interface VariableVersion {
  /** Versions begin at 1. */
  readonly version: number;
  /** For a system variable, `source` is its text and `bytes` is empty. */
  readonly image: VariableImage;
  readonly code: string;
  readonly createdAt: number;
}

export interface VariableStore {
  /** Returns every variable of the branch, newest first, including system variables. With `at`, returns the variables
   * as a fork at that point would see them. */
  variables(branchId: string, at?: BranchPoint): Promise<readonly VariableHead[]>;
  /** Returns, for each variable, the variables of the branch that were read by the blocks which made it. */
  dependencies(branchId: string): Promise<readonly Dependency[]>;
  /** Returns the newest versions of the live user variables, in the order in which they must be restored. */
  liveImages(branchId: string, at?: BranchPoint): Promise<readonly VariableImage[]>;
  givenImages(queryId: string): Promise<readonly VariableImage[]>;
  /** Returns all versions, or the `newest` ones, oldest first. Empty if no variable has that name. */
  variableVersions(
    branchId: string,
    name: string,
    options?: { readonly newest?: number; readonly at?: BranchPoint },
  ): Promise<readonly VariableVersion[]>;
  /** Changes the scope at the newest point of the branch. If `queryId` is set, that run makes the change. */
  setScope(
    branchId: string,
    change: { readonly names: readonly string[]; readonly scope: "live" | "forgotten"; readonly queryId?: string },
  ): Promise<void>;
}

export interface ChildStore {
  /** The branch is not listed among the conversations. */
  createChildBranch(child: NewChildBranch): Promise<Branch>;
  subQueries(iterationId: string): Promise<readonly (StoredQuery & { readonly depth: number })[]>;
  recordSubCall(call: SubCall): Promise<void>;
  /** The oldest call comes first. */
  subCalls(iterationId: string): Promise<readonly (SubCall & { readonly createdAt: number })[]>;
}

export interface LargeTextStore {
  /** Stores bytes piece by piece and returns a reference to the bytes. A claim protects the bytes from erasure for a
   * day, until a variable with them is stored. With `isOwn`, each piece begins with a random number. Such a text shares
   * no piece with another text, so it needs no claim. */
  putLarge(pieces: AsyncIterable<Uint8Array>, options?: { readonly isOwn?: boolean }): Promise<string>;
  /** Yields the pieces of `putLarge` in order, each read on demand. */
  largePieces(large: string): AsyncIterable<Uint8Array<ArrayBuffer>>;
  /** Removes bytes whose pieces are part of no other text, because each begins with a random number. Missing bytes are
   * ignored. */
  dropLarge(large: string): Promise<void>;
}

/** Any node may take the request. */
export interface NewJob extends KeyedRequest {
  readonly queryId: string;
  readonly branchId: string;
  readonly request: Uint8Array;
  /** Makes the store refuse the request while another one runs or waits in its branch. */
  readonly refuseWhenBusy: boolean;
}

export interface ClaimedJob {
  readonly queryId: string;
  readonly branchId: string;
  /** Null if the request is long. `NodeStore.request` then reads the request. */
  readonly request: Uint8Array<ArrayBuffer> | null;
  readonly epoch: number;
  /** The query of a begun job is stored, so this node continues it. */
  readonly begun: boolean;
  readonly lost: boolean;
  /** The number of nodes lost in succession while they ran the current iteration of the query. */
  readonly losses: number;
  /** The time since the query began does not include waits for the user. */
  readonly elapsedMs: number;
}

export interface SharedJob {
  readonly queryId: string;
  readonly branchId: string;
  /** The epoch is 0 until a node has taken the job. */
  readonly epoch: number;
  readonly questions: readonly ApprovalQuestion[];
}

/** Numbers have gaps where another node continued the query. */
export interface SharedEvent {
  readonly queryId: string;
  readonly number: number;
  readonly body: string;
}

export interface NodeCommand {
  readonly id: string;
  readonly queryId: string;
  readonly kind: "steer" | "cancel" | "answer";
  readonly body: string;
}

/** "job": a request can be taken (`queryId` is ""). "event": the query has new events. "command": the query has a
 * command or its outcome. */
export interface NodeNews {
  readonly about: "job" | "event" | "command";
  readonly queryId: string;
}

/** An object represents one of the nodes that share a database. */
export interface NodeStore {
  /** Starts to listen, and reports for the first time. `heard` receives null after a time in which news may have been
   * missed. */
  join(heard: (news: NodeNews | null) => void): Promise<void>;
  /** The caller has ended all work of this node. */
  leave(): Promise<void>;
  /** Accepts a request; when the promise resolves, the request is stored. Throws `BusyError` for a branch that must be
   * free and is not, and for a key of another request. */
  accept(job: NewJob): Promise<void>;
  /** Takes requests that wait, and requests of nodes that no longer report. Requests of a branch are taken in order,
   * one at a time. `running` are the branches on which this node still works. */
  claim(most: number, running: readonly string[]): Promise<readonly ClaimedJob[]>;
  request(queryId: string): Promise<Uint8Array<ArrayBuffer>>;
  /** Reports that this node is alive. Returns the epochs of the jobs that the node holds, by query. The node has lost
   * all other jobs. */
  beat(): Promise<ReadonlyMap<string, number>>;
  /** Leaves a job to any node, after `afterMs` milliseconds. Has no effect if this node no longer holds the job. */
  release(job: Pick<ClaimedJob, "queryId" | "epoch">, afterMs?: number): Promise<void>;
  settled(queryId: string): void;
  withdraw(queryId: string): Promise<boolean>;
  /** Removes a request of this node whose query cannot begin. */
  refuse(job: Pick<ClaimedJob, "queryId" | "epoch">): Promise<void>;
  /** Prepares the node for leaving. After this call, no request waits for this node, and this node takes none. */
  drain(): Promise<void>;
  /** Ends the wait for a lost server. Calls that need the server then reject. */
  giveUp(): void;
  /** `oldestMs` is the age of the oldest waiting request. */
  waiting(): Promise<{ readonly depth: number; readonly oldestMs: number }>;
  job(queryId: string): Promise<SharedJob | null>;
  runningJob(branchId: string): Promise<string | null>;
  /** The oldest comes first. All branches of the conversation are included. */
  jobs(conversationId: string): Promise<readonly SharedJob[]>;
  /** Sets the approvals of a run that wait for the user. The time of the run stops while any approval waits. */
  setQuestions(
    job: Pick<ClaimedJob, "queryId" | "epoch">,
    questions: readonly ApprovalQuestion[],
  ): Promise<void>;
  /** Stores events of any queries and notifies their followers. Storing the same events again has no effect. */
  publish(events: readonly SharedEvent[]): Promise<void>;
  /** Returns at most 500 events after a number, in order. */
  eventsAfter(queryId: string, number: number): Promise<readonly SharedEvent[]>;
  eventRange(queryId: string): Promise<{ readonly oldest: number; readonly newest: number } | null>;
  /** Removes older events, older commands of ended queries, and nodes that have not reported since. */
  trim(olderMs: number): Promise<void>;
  /** Returns false if the query has ended. */
  send(command: NodeCommand): Promise<boolean>;
  /** Returns the commands for these queries that were not carried out, oldest first. */
  commands(queryIds: readonly string[]): Promise<readonly NodeCommand[]>;
  /** `done` is false if the command came too late. */
  settle(command: Pick<NodeCommand, "id" | "queryId">, done: boolean): Promise<void>;
  /** Returns whether a command was carried out: null while it waits, false if the query ended before. */
  outcome(id: string): Promise<boolean | null>;
}
