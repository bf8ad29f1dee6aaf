import type { Image } from "../domain/images.ts";
import type { ApprovalQuestion } from "../domain/query/approval.ts";
import type { BlockDiff, LateCall } from "../domain/query/host_call.ts";
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

/** Methods that return a promise, except `log`, may reject with `StoreError`. A write for a query rejects with
 * `TakenOverError` once another process has ended the query as lost. */
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
  /** With a null tenant, the store shows rows of all tenants, but `states` belongs to the default tenant. `labelUse`,
   * `sweepLost` and `renewLeases` always concern all tenants. */
  readonly tenant: string | null;
  of(tenant: string | null): Store;
  readonly states: StateStore;
  /** SQLite has null, because nodes need a shared database. */
  readonly asNode: ((id: string) => Promise<NodeStore>) | null;
  /** Returns problems of the file or, in PostgreSQL, of the rights of the role. */
  check(): Promise<readonly string[]>;
  /** Returns why writes do not reach the open file or the server, or "" without a fault. */
  fileFault(): string;
  /** Returns why the store cannot write now, or "" if the store knows no reason. */
  writeFault(): Promise<string>;
  /** Does not reject: the store drops entries that it cannot write. */
  log(...entries: readonly LogEntry[]): Promise<void>;
  close(): Promise<void>;
}

export interface ConversationMaintenance {
  /** A later request does not replace a title of the user. Branches of the conversation with the same title also get the
   * new title, except branches that the user has named. */
  setTitle(branchId: string, title: string): Promise<void>;
  setWorkspace(conversationId: string, workspace: string): Promise<void>;
  /** Rejects with `BusyError` while a query runs in the conversation. */
  deleteConversation(conversationId: string): Promise<void>;
  runningQuery(conversationId: string): Promise<string | null>;
  /** Returns null for a prefix with fewer than 8 characters, and unless exactly one query matches. */
  findQuery(prefix: string): Promise<string | null>;
  labelUse(since: number): Promise<readonly LabelUse[]>;
  turns(branchId: string): Promise<readonly QueryIterations[]>;
  /** May reject with `StoreError` after `take` has received parts. */
  exportConversation(conversationId: string, take: (part: ArchivePart) => Promise<void>): Promise<void>;
  /** The conversation gets new ids, this workspace and no chat, so the file cannot grant access. Rejects with
   * `UsageError` if rows or texts are missing, or contradict each other. */
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
  /** The id of a conversation selects its last used branch. A prefix of at least 8 characters is enough if only one
   * conversation, or else only one branch, has it. */
  findConversation(conversationId: string): Promise<Branch | null>;
  findExternal(chat: ExternalChat): Promise<Branch | null>;
  /** Concurrent calls get the same branch. */
  ensureConversation(facts: NewConversation & ExternalChat): Promise<Branch>;
  latestConversation(workspace: string): Promise<Branch | null>;
  listConversations(options: ConversationFilter): Promise<readonly (Branch & ConversationSummary)[]>;
  fork(fork: NewFork): Promise<Branch>;
  /** Returns the oldest branch first, and omits branches of sub-queries. */
  branches(conversationId: string): Promise<readonly BranchNode[]>;
}

export interface ProcessOwner {
  readonly host: string;
  /** The number `pid` is valid in this space: several hosts may share a name, and a host may run several containers. */
  readonly space: string;
  readonly pid: number;
  /** `started` is the start time as the system reports it, or "" if unknown. */
  readonly started: string;
  /** Each part of a process with its own environments has its own number. The process itself has 0. */
  readonly session: number;
}

export interface NewQuery extends KeyedRequest {
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
  readonly retryOf?: string;
}

/** The client's protocol defines this form, which Vis stores and returns unchanged. */
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
  readonly only?: ReadingMode;
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
  readonly idle: boolean;
  /** The list has at most the last two thinkings, oldest first. */
  readonly thinkings: readonly string[];
  readonly answer: string;
  readonly status: QueryStatus;
  readonly notes?: readonly string[];
  readonly images?: number;
  /** These blocks belong to an interrupted iteration whose end the store did not get. */
  readonly pending?: readonly string[];
  readonly printed?: string;
  readonly changes?: { readonly queryId: string; readonly since: number; readonly diffs: readonly string[] };
  readonly only?: ReadingMode;
  /** If set, this is the newest query, which left neither work nor an accepted answer. Other fields, except `queryId`,
   * `earlier` and `idle`, then describe an earlier query. */
  readonly since?: { readonly text: string; readonly answer: string };
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
  /** Rejects with `BusyError` while another live process holds the branch, and if another request has the key. Rejects
   * with `UsageError` for a retry of a running query, and of any run but the newest of the last query. */
  beginQuery(query: NewQuery): Promise<string>;
  /** The caller must add the messages before a model call shows them. */
  addSteered(queryId: string, sent: { readonly iteration: number; readonly texts: readonly string[] }): Promise<void>;
  setQuestion(queryId: string, approval: StoredApproval): Promise<void>;
  setWaiting(queryId: string, texts: readonly string[]): Promise<void>;
  /** Stores `last`, the end of the last iteration, in the same transaction. A second call with `last` rejects; without
   * `last`, it has no effect. */
  endQuery(queryId: string, end: QueryEnd, last?: EndOfIteration): Promise<void>;
  /** Returns null if no branch of the conversation has an accepted request with the key, or a begun request of the last
   * day. */
  keyedQuery(
    branchId: string,
    key: string,
  ): Promise<{ readonly queryId: string; readonly fingerprint: string } | null>;
  query(queryId: string): Promise<StoredQuery | null>;
  /** Resolves with the run `queryId` and all runs of the same query, oldest first. */
  attempts(queryId: string): Promise<readonly string[]>;
  queryExtras(queryId: string): Promise<QueryExtras>;
  /** Queries of the ancestors up to the fork come first, and each list is oldest first. A retried query appears once,
   * with its newest run, or with the run of the fork. */
  queries(branchId: string, options?: NewestQueries): Promise<readonly StoredQuery[]>;
  previousTurn(branchId: string, beforeQueryId: string): Promise<PreviousTurn | null>;
  /** `alive` replaces the `isAlive` of the store. */
  sweepLost(alive?: (owner: ProcessOwner) => boolean | null): Promise<number>;
  /** The caller must know that the former process can no longer write. Returns null for an ended query, and for a query
   * with an accepted final. */
  takeOver(queryId: string, owner: ProcessOwner): Promise<LeftQuery | null>;
  /** The caller must repeat this call twice a minute. Resolves with the branches that the process still holds. */
  renewLeases(owner: ProcessOwner): Promise<readonly string[]>;
}

export interface NewIteration {
  readonly queryId: string;
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
  readonly given?: readonly VariableImage[];
  /** Until the iteration ends, the store adds the code of the blocks as `pendingBlocks`. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface StoredBlock {
  readonly code: string;
  readonly result: BlockResult;
  readonly reads: readonly string[];
  readonly madeFrom?: ReadonlyMap<string, readonly string[]> | null;
  readonly literal: boolean;
  /** The value is codec bytes. Null means that the block has no value, or that the value exceeds 1 MiB. */
  readonly value: Uint8Array<ArrayBuffer> | null;
  readonly saved: readonly VariableImage[];
}

export interface IterationEnd {
  readonly status: "done" | "error" | "interrupted";
  readonly blocks: readonly StoredBlock[];
  /** The store adds these calls to the blocks that made them, in this iteration and in earlier iterations. */
  readonly late?: readonly LateCall[];
  readonly scopes?: { readonly forgotten: readonly string[]; readonly live: readonly string[] };
  readonly system: readonly { readonly name: string; readonly text: string }[];
  readonly error: string | null;
  readonly empty: boolean;
  readonly totals: { readonly iterations: number; readonly usage: Usage; readonly costUsd: number | null };
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface StoredIteration
  extends Pick<NewIteration, "queryId" | "position" | "thinking" | "response" | "traces" | "metadata"> {
  readonly iterationId: string;
  readonly status: QueryStatus | "running";
  readonly error: string | null;
  readonly blocks: readonly StoredBlock[];
  readonly steered: readonly string[];
  readonly createdAt: number;
}

export interface IterationStore {
  beginIteration(iteration: NewIteration): Promise<string>;
  /** Rejects after the end of the iteration. The end replaces the diffs. */
  setDiffs(iterationId: string, diffs: readonly BlockDiff[]): Promise<void>;
  /** A second call for an iteration rejects. */
  endIteration(iterationId: string, end: IterationEnd): Promise<void>;
  failIteration(
    iteration: Omit<NewIteration, "response" | "blocks">,
    end: Omit<IterationEnd, "blocks" | "status" | "empty"> & { readonly error: string },
  ): Promise<string>;
  iterations(queryId: string, range?: IterationRange): Promise<readonly StoredIteration[]>;
  /** `position` counts from 0. */
  sentMessages(queryId: string, position: number): Promise<readonly SentMessage[] | null>;
}

export interface VariableHead {
  readonly name: string;
  readonly kind: VariableImage["kind"];
  readonly versions: number;
  readonly scope: "live" | "forgotten" | "system";
  readonly summary: VariableSummary;
  readonly reason: string;
  readonly code: string;
  readonly createdAt: number;
  readonly files?: VariableImage["files"];
}

export interface VariableVersion {
  readonly version: number;
  /** For a system variable, `source` is its text and `bytes` is empty. */
  readonly image: VariableImage;
  readonly code: string;
  readonly createdAt: number;
}

export interface VariableStore {
  /** The variable with the newest version comes first. */
  variables(branchId: string, at?: BranchPoint): Promise<readonly VariableHead[]>;
  dependencies(branchId: string): Promise<readonly Dependency[]>;
  /** Resolves with the newest versions of the live user variables, in the order in which a sandbox must restore them. */
  liveImages(branchId: string, at?: BranchPoint): Promise<readonly VariableImage[]>;
  givenImages(queryId: string): Promise<readonly VariableImage[]>;
  /** The oldest version comes first. */
  variableVersions(
    branchId: string,
    name: string,
    options?: { readonly newest?: number; readonly at?: BranchPoint },
  ): Promise<readonly VariableVersion[]>;
  setScope(
    branchId: string,
    change: { readonly names: readonly string[]; readonly scope: "live" | "forgotten"; readonly queryId?: string },
  ): Promise<void>;
}

export interface ChildStore {
  createChildBranch(child: NewChildBranch): Promise<Branch>;
  subQueries(iterationId: string): Promise<readonly (StoredQuery & { readonly depth: number })[]>;
  recordSubCall(call: SubCall): Promise<void>;
  subCalls(iterationId: string): Promise<readonly (SubCall & { readonly createdAt: number })[]>;
}

export interface LargeTextStore {
  /** Without `isOwn`, a claim protects the bytes for a day, or until a stored variable refers to them. With `isOwn`, each
   * piece must begin with a random number, so that no other text shares the piece. */
  putLarge(pieces: AsyncIterable<Uint8Array>, options?: { readonly isOwn?: boolean }): Promise<string>;
  /** With `isOwn`, missing bytes are an error of the caller and no damage. */
  largePieces(large: string, options?: { readonly isOwn?: boolean }): AsyncIterable<Uint8Array<ArrayBuffer>>;
  /** The bytes must come from `putLarge` with `isOwn`. */
  dropLarge(large: string): Promise<void>;
}

export interface NewJob extends KeyedRequest {
  readonly queryId: string;
  readonly branchId: string;
  readonly request: Uint8Array;
  readonly refuseWhenBusy: boolean;
}

export interface ClaimedJob {
  readonly queryId: string;
  readonly branchId: string;
  /** Null means that the request is long; `NodeStore.request` then reads it. */
  readonly request: Uint8Array<ArrayBuffer> | null;
  readonly epoch: number;
  /** A begun job has a stored query, which this node continues. */
  readonly begun: boolean;
  readonly lost: boolean;
  /** `losses` counts successive nodes that were lost during the current iteration. */
  readonly losses: number;
  /** `elapsedMs` excludes time in which an approval waited. */
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

/** "job" means that a request may wait; `queryId` is then "". */
export interface NodeNews {
  readonly about: "job" | "event" | "command";
  readonly queryId: string;
}

export interface NodeStore {
  /** `heard` gets null after a time in which it may have missed news. */
  join(heard: (news: NodeNews | null) => void): Promise<void>;
  /** The caller must have ended the work of this node. */
  leave(): Promise<void>;
  /** Rejects with `BusyError` if a live process that is no node holds the branch, if `refuseWhenBusy` is set and the
   * branch has a job, and if another request has the key. */
  accept(job: NewJob): Promise<void>;
  /** The nodes get the requests of a branch in order, one at a time. `running` names the branches on which this node
   * still works. */
  claim(most: number, running: readonly string[]): Promise<readonly ClaimedJob[]>;
  request(queryId: string): Promise<Uint8Array<ArrayBuffer>>;
  /** Resolves with the epochs of the node's jobs by query id. The node has lost its other jobs. */
  beat(): Promise<ReadonlyMap<string, number>>;
  /** Has no effect if this node no longer holds the job. */
  release(job: Pick<ClaimedJob, "queryId" | "epoch">, afterMs?: number): Promise<void>;
  settled(queryId: string): void;
  withdraw(queryId: string): Promise<boolean>;
  /** Has no effect after the store has the query. */
  refuse(job: Pick<ClaimedJob, "queryId" | "epoch">): Promise<void>;
  /** The node takes no more requests, and requests do not wait for this node. Resolves with whether another node
   * takes requests. */
  drain(): Promise<boolean>;
  /** Calls that need a lost server then reject instead of waiting. */
  giveUp(): void;
  waiting(): Promise<{ readonly depth: number; readonly oldestMs: number }>;
  job(queryId: string): Promise<SharedJob | null>;
  runningJob(branchId: string): Promise<string | null>;
  jobs(conversationId: string): Promise<readonly SharedJob[]>;
  setQuestions(
    job: Pick<ClaimedJob, "queryId" | "epoch">,
    questions: readonly ApprovalQuestion[],
  ): Promise<void>;
  /** Ignores events that the store already has. */
  publish(events: readonly SharedEvent[]): Promise<void>;
  /** Returns up to 500 events after this number, in order. */
  eventsAfter(queryId: string, number: number): Promise<readonly SharedEvent[]>;
  eventRange(queryId: string): Promise<{ readonly oldest: number; readonly newest: number } | null>;
  /** Removes rows older than `olderMs`: events, commands of ended queries, silent nodes, and the records of which node
   * last ran a branch. */
  trim(olderMs: number): Promise<void>;
  /** Resolves with false if the query has ended, or if the store already has the command. */
  send(command: NodeCommand): Promise<boolean>;
  commands(queryIds: readonly string[]): Promise<readonly NodeCommand[]>;
  /** `done` is true if the query accepted the command. */
  settle(command: Pick<NodeCommand, "id" | "queryId">, done: boolean): Promise<void>;
  /** Resolves with null while the command waits, and otherwise with `done`, or with false if the query ended first. */
  outcome(id: string): Promise<boolean | null>;
}
