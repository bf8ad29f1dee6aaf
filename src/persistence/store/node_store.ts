import type { ApprovalQuestion } from "../../domain/query/approval.ts";
import type { KeyedRequest } from "../../domain/query/stored_query.ts";

/** A request that is accepted for whichever node takes it. */
export interface NewJob extends KeyedRequest {
  /** The id that its query will have. */
  readonly queryId: string;
  readonly branchId: string;
  readonly request: Uint8Array;
  /** Refuse it while anything else runs or waits in its branch. */
  readonly refuseWhenBusy: boolean;
}

/** A request that this node has taken. */
export interface ClaimedJob {
  readonly queryId: string;
  readonly branchId: string;
  /** Null if it is long: `NodeStore.request` reads it. */
  readonly request: Uint8Array<ArrayBuffer> | null;
  /** 1 for the first node that runs it. */
  readonly epoch: number;
  /** Whether its query is stored, so that this node continues it. */
  readonly begun: boolean;
  /** Whether the node that ran it before was lost. */
  readonly lost: boolean;
  /** How many nodes were lost while they ran it, one after the other in the same iteration. */
  readonly losses: number;
  /** Time since it began, without that in which it waited for the user. */
  readonly elapsedMs: number;
}

/** A request that runs or waits on any node. */
export interface SharedJob {
  readonly queryId: string;
  readonly branchId: string;
  /** 0 until a node has taken it. */
  readonly epoch: number;
  readonly questions: readonly ApprovalQuestion[];
}

/** An event of a query. Numbers have gaps where another node continued the query. */
export interface SharedEvent {
  readonly queryId: string;
  readonly number: number;
  /** JSON. */
  readonly body: string;
}

/** A message to the node that runs a query. */
export interface NodeCommand {
  readonly id: string;
  readonly queryId: string;
  readonly kind: "steer" | "cancel" | "answer";
  readonly body: string;
}

/** What nodes tell each other: a request can be taken (`queryId` is ""), a query has events, a query has a command or the
 * outcome of one. */
export interface NodeNews {
  readonly about: "job" | "event" | "command";
  readonly queryId: string;
}

/** The queue that the nodes of a database share, and what they tell each other. One object is one node. */
export interface NodeStore {
  /** Listens and reports for the first time. `heard` receives null after a time in which something may have been
   * missed. */
  join(heard: (news: NodeNews | null) => void): Promise<void>;
  /** Called when nothing runs here any more. */
  leave(): Promise<void>;
  /** The request is accepted once this resolves. Throws `BusyError` for a branch that must be free and is not, and for
   * a key that another request has. */
  accept(job: NewJob): Promise<void>;
  /** Takes requests that wait, and those of nodes that no longer report; those of a branch in their order, one at a
   * time. `running` are the branches on which this node still works. */
  claim(most: number, running: readonly string[]): Promise<readonly ClaimedJob[]>;
  /** A long request that this node has taken. */
  request(queryId: string): Promise<Uint8Array<ArrayBuffer>>;
  /** Reports that this node is alive. Returns the epochs of the jobs that it holds, by query; all others are lost. */
  beat(): Promise<ReadonlyMap<string, number>>;
  /** Leaves a job to any node, after a pause. Nothing happens if this node no longer holds it. */
  release(job: Pick<ClaimedJob, "queryId" | "epoch">, afterMs?: number): Promise<void>;
  /** Nothing of a run is under way here any more. */
  settled(queryId: string): void;
  /** Removes a request that no node has begun. False if there is none. */
  withdraw(queryId: string): Promise<boolean>;
  /** Removes a request of this node that cannot begin. */
  refuse(job: Pick<ClaimedJob, "queryId" | "epoch">): Promise<void>;
  /** From now on no request waits for this node, and it takes none. */
  drain(): Promise<void>;
  /** From now on nothing waits for a lost server any more: what needs it rejects. */
  giveUp(): void;
  /** The number of requests that wait, and for how long the oldest has. */
  waiting(): Promise<{ readonly depth: number; readonly oldestMs: number }>;
  job(queryId: string): Promise<SharedJob | null>;
  /** The query that runs in a branch, on any node. */
  runningJob(branchId: string): Promise<string | null>;
  /** Of all branches of a conversation, oldest first. */
  jobs(conversationId: string): Promise<readonly SharedJob[]>;
  /** The questions of a run that wait for the user; its time stands still while there are any. */
  setQuestions(
    job: Pick<ClaimedJob, "queryId" | "epoch">,
    questions: readonly ApprovalQuestion[],
  ): Promise<void>;
  /** Stores events of any queries and tells those who follow them. Repeating it changes nothing. */
  publish(events: readonly SharedEvent[]): Promise<void>;
  /** At most 500, in order. */
  eventsAfter(queryId: string, number: number): Promise<readonly SharedEvent[]>;
  /** The numbers of the oldest and newest event that are kept; null if there is none. */
  eventRange(queryId: string): Promise<{ readonly oldest: number; readonly newest: number } | null>;
  /** Removes events and commands that are older, and nodes that have not reported since. */
  trim(olderMs: number): Promise<void>;
  /** False if the query has ended. */
  send(command: NodeCommand): Promise<boolean>;
  /** The commands for these queries that were not carried out, oldest first. */
  commands(queryIds: readonly string[]): Promise<readonly NodeCommand[]>;
  /** `done` is false for what came too late. */
  settle(command: Pick<NodeCommand, "id" | "queryId">, done: boolean): Promise<void>;
  /** Null while it waits; false if the query ended before. */
  outcome(id: string): Promise<boolean | null>;
}
