import type { ApprovalAnswer, ApprovalQuestion } from "./approval.ts";
import type { QueryEnd } from "./query_schemas.ts";

interface QueryFacts extends Omit<QueryEnd, "status" | "reason"> {
  readonly queryId: string;
  readonly conversationId: string;
  readonly branchId: string;
  readonly text: string;
  readonly createdAt: number;
  /** The oldest comes first. */
  readonly steered: readonly SteeredMessage[];
  /** The time at which the next iteration began, if a fork shows only earlier iterations. */
  readonly forkedAt?: number;
}

/** A running query has the answer "", in every process. */
interface RunningQuery extends QueryFacts {
  readonly running: true;
  readonly status: "running";
  readonly reason: null;
  /** The messages of the user that wait for the next iteration, oldest first. */
  readonly waiting: readonly string[];
  /** The question to the user, if the query waits for an approval. */
  readonly question?: string;
  /** The newest question to the user, also after its answer. */
  readonly approval?: StoredApproval;
}

export interface StoredApproval {
  readonly question: ApprovalQuestion;
  /** Null while the question waits for an answer. */
  readonly answer: ApprovalAnswer | null;
}

export interface EndedQuery extends QueryFacts, QueryEnd {
  readonly running: false;
}

export type StoredQuery = RunningQuery | EndedQuery;

/** A message that the user sent while a query ran. The query's next call shows the message to the model. */
export interface SteeredMessage {
  readonly text: string;
  /** The iteration (1-based) whose call shows the message. */
  readonly iteration: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export function steeredInto(messages: readonly SteeredMessage[], iteration: number): readonly SteeredMessage[] {
  return messages.filter((one) => one.iteration === iteration);
}

/** Returns the messages whose iteration was not stored because its call was cut off: all messages after the last stored
 * iteration. */
export function steeredAfter(messages: readonly SteeredMessage[], last: number): readonly SteeredMessage[] {
  return messages.filter(({ iteration }) => iteration > last);
}

export interface IterationRange {
  /** The position (0-based) before the first iteration of the range; -1 for the beginning. */
  readonly after: number;
  readonly limit: number;
}

/** A fork within the query shows only its first iterations. */
export function shownRange({ forkedAt, iterations }: StoredQuery): IterationRange {
  return { after: -1, limit: forkedAt === undefined ? Number.MAX_SAFE_INTEGER : iterations };
}

/** The same key and fingerprint identify the same request. */
export interface RequestKey {
  readonly branchId: string;
  readonly key: string;
  readonly fingerprint: string;
  /** The query that the key started before, if its request is being continued. The key then refers to the new query. */
  readonly replaces?: string;
}

export interface KeyedRequest {
  readonly requestKey?: RequestKey | undefined;
}

const SEE_IMAGES = "See the attached images.";

/** Returns the request for a review of the uncommitted changes, of a commit, or of all changes since a branch left
 * another. */
export function reviewRequest(target: string): string {
  if (target === "") return "Review the uncommitted changes of this repository, staged, unstaged and untracked.";
  const isCommit = /^(?:[0-9a-f]{7,40}|HEAD.*|.*[~^].*)$/.test(target);
  return isCommit
    ? `Review the commit ${target}.`
    : `Review all changes since this branch left ${target} (from the merge base), with the uncommitted ones.`;
}

/** Builds the request from a saved prompt. The words after the name of the prompt replace `$ARGUMENTS`, and one word
 * each replaces `$1` to `$9`. Without placeholders, the words follow the text. */
export function requestOfPrompt(text: string, words: string): string {
  const place = /\$(?:ARGUMENTS|([1-9])(?!\d))/g;
  if (!place.test(text)) return `${text}\n\n${words}`.trim();
  const each = words.split(/\s+/);
  return text.replace(place, (_, at?: string) => at === undefined ? words : each[Number(at) - 1] ?? "");
}

export function requestOfImages(text: string, images: readonly unknown[]): string {
  return text.trim() === "" && images.length > 0 ? SEE_IMAGES : text;
}
