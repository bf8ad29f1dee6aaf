import type { ApprovalAnswer, ApprovalQuestion } from "./approval.ts";
import type { QueryEnd } from "./query_schemas.ts";

interface QueryFacts extends Omit<QueryEnd, "status" | "reason"> {
  readonly queryId: string;
  readonly conversationId: string;
  readonly branchId: string;
  readonly text: string;
  readonly createdAt: number;
  /** The oldest message comes first. */
  readonly steered: readonly SteeredMessage[];
  /** If a fork shows only earlier iterations, this is the time at which the next iteration began. */
  readonly forkedAt?: number;
}

/** A running query has the answer "", whichever process reads it. */
interface RunningQuery extends QueryFacts {
  readonly running: true;
  readonly status: "running";
  readonly reason: null;
  /** These messages of the user wait for the next iteration, oldest first. */
  readonly waiting: readonly string[];
  /** If the query waits for an approval, `question` is the question to the user. */
  readonly question?: string;
  /** `approval` has the newest question to the user, even after its answer. */
  readonly approval?: StoredApproval;
}

export interface StoredApproval {
  readonly question: ApprovalQuestion;
  /** `answer` is null while the question waits. */
  readonly answer: ApprovalAnswer | null;
}

export interface EndedQuery extends QueryFacts, QueryEnd {
  readonly running: false;
}

export type StoredQuery = RunningQuery | EndedQuery;

/** The user sent the message while a query ran; the next model call of the query shows it. */
export interface SteeredMessage {
  readonly text: string;
  /** The model call of this iteration (1-based) shows the message. */
  readonly iteration: number;
  /** The time is in milliseconds since the epoch. */
  readonly at: number;
}

export function steeredInto(messages: readonly SteeredMessage[], iteration: number): readonly SteeredMessage[] {
  return messages.filter((one) => one.iteration === iteration);
}

/** The call of these messages broke off, so the store lacks their iteration, which comes after the last stored one. */
export function steeredAfter(messages: readonly SteeredMessage[], last: number): readonly SteeredMessage[] {
  return messages.filter(({ iteration }) => iteration > last);
}

export interface IterationRange {
  /** This 0-based position precedes the first iteration of the range; -1 stands for the beginning. */
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
  /** If a client continues a request, `replaces` is the query that the key has started; the key will refer to the new
   * query. */
  readonly replaces?: string;
}

export interface KeyedRequest {
  readonly requestKey?: RequestKey | undefined;
}

const SEE_IMAGES = "See the attached images.";

/** `target` is "" for the uncommitted changes, a commit, or a branch whose changes since the merge base count. The
 * instructions of the user follow. */
export function reviewRequest(target: string, instructions = ""): string {
  return `${changesOf(target)}${instructions === "" ? "" : `\n\n${instructions}`}`;
}

function changesOf(target: string): string {
  if (target === "") return "Review the uncommitted changes of this repository, staged, unstaged and untracked.";
  if (target.includes("..")) return `Review the changes ${target}.`;
  const isCommit = /^(?:[0-9a-f]{7,40}|HEAD.*|.*[~^].*)$/.test(target);
  return isCommit
    ? `Review the commit ${target}.`
    : `Review all changes since this branch left ${target} (from the merge base), with the uncommitted ones.`;
}

/** `words` replace `$ARGUMENTS`, and single words replace `$1` to `$9`. Without placeholders, the words follow the
 * text. */
export function requestOfPrompt(text: string, words: string): string {
  const place = /\$(?:ARGUMENTS|([1-9])(?!\d))/g;
  if (!place.test(text)) return `${text}\n\n${words}`.trim();
  const each = words.split(/\s+/);
  return text.replace(place, (_, at?: string) => at === undefined ? words : each[Number(at) - 1] ?? "");
}

export function requestOfImages(text: string, images: readonly unknown[]): string {
  return text.trim() === "" && images.length > 0 ? SEE_IMAGES : text;
}
