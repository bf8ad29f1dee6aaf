import type { ApprovalAnswer, ApprovalQuestion } from "./approval.ts";
import type { QueryEnd } from "./query_schemas.ts";

interface QueryFacts extends Omit<QueryEnd, "status" | "reason"> {
  readonly queryId: string;
  readonly conversationId: string;
  readonly branchId: string;
  readonly text: string;
  /** The number of images of the request, if any. */
  readonly images?: number;
  readonly model: string;
  readonly createdAt: number;
  readonly steered: readonly SteeredMessage[];
  /** The first iteration that the fork does not show began at this time. */
  readonly forkedAt?: number;
}

interface RunningQuery extends QueryFacts {
  readonly running: true;
  readonly status: "running";
  readonly reason: null;
  readonly waiting: readonly string[];
  readonly question?: string;
  /** The newest approval stays here after its answer. */
  readonly approval?: StoredApproval;
}

export interface StoredApproval {
  readonly question: ApprovalQuestion;
  readonly answer: ApprovalAnswer | null;
}

export interface EndedQuery extends QueryFacts, QueryEnd {
  readonly running: false;
}

export type StoredQuery = RunningQuery | EndedQuery;

export interface SteeredMessage {
  readonly text: string;
  /** The model call of this iteration (1-based) contains the message. */
  readonly iteration: number;
  readonly at: number;
}

export function steeredInto(messages: readonly SteeredMessage[], iteration: number): readonly SteeredMessage[] {
  return messages.filter((one) => one.iteration === iteration);
}

/** The model call with these messages has not ended, or was interrupted, so the store has no iteration for them. */
export function steeredAfter(messages: readonly SteeredMessage[], last: number): readonly SteeredMessage[] {
  return messages.filter(({ iteration }) => iteration > last);
}

export interface IterationRange {
  /** The range begins after this 0-based position. For the whole query, the position is -1. */
  readonly after: number;
  readonly limit: number;
}

export function shownRange({ forkedAt, iterations }: StoredQuery): IterationRange {
  return { after: -1, limit: forkedAt === undefined ? Number.MAX_SAFE_INTEGER : iterations };
}

export interface RequestKey {
  readonly branchId: string;
  readonly key: string;
  readonly fingerprint: string;
  readonly replaces?: string;
}

export interface KeyedRequest {
  readonly requestKey?: RequestKey | undefined;
}

const SEE_IMAGES = "See the attached images.";

/** `target` is "" for the uncommitted changes, or a range, a commit or a branch. */
export function reviewRequest(target: string, instructions = ""): string {
  return `${changesOf(target)}${instructions === "" ? "" : `\n\n${instructions}`}`;
}

export interface ReviewTarget {
  readonly kind: "uncommitted" | "range" | "commit" | "branch";
  readonly name: string;
}

const REVIEWS: Readonly<Record<ReviewTarget["kind"], readonly [before: string, after: string]>> = {
  uncommitted: ["Review the uncommitted changes of this repository, staged, unstaged and untracked", "."],
  range: ["Review the changes ", "."],
  commit: ["Review the commit ", "."],
  branch: ["Review all changes since this branch left ", " (from the merge base), with the uncommitted ones."],
};

function changesOf(target: string): string {
  return REVIEWS[kindOf(target)].join(target);
}

function kindOf(target: string): ReviewTarget["kind"] {
  if (target === "") return "uncommitted";
  if (target.includes("..")) return "range";
  return /^(?:[0-9a-f]{7,40}|HEAD(?:@.*)?|.*[~^].*)$/.test(target) ? "commit" : "branch";
}

export function reviewTarget(request: string): ReviewTarget | null {
  const [line = ""] = request.split("\n", 1);
  for (const [before, after] of Object.values(REVIEWS)) {
    if (!line.startsWith(before) || !line.endsWith(after)) continue;
    const name = line.slice(before.length, -after.length);
    if (changesOf(name) === line && !/\s/.test(name)) return { kind: kindOf(name), name };
  }
  return null;
}

export function instructionsOf(request: string, { name }: ReviewTarget): string {
  return request.slice(changesOf(name).length).trim();
}

export function titleOfRequest(request: string): string {
  const target = reviewTarget(request);
  if (target === null) return request;
  const instructions = instructionsOf(request, target);
  const title = `Review: ${target.kind === "uncommitted" ? "uncommitted changes" : target.name}`;
  return instructions === "" ? title : `${title}, ${instructions}`;
}

export function requestOfPrompt(text: string, words: string): string {
  const place = /\$(?:ARGUMENTS|([1-9])(?!\d))/g;
  if (!place.test(text)) return `${text}\n\n${words}`.trim();
  const each = words.split(/\s+/);
  return text.replace(place, (_, at?: string) => at === undefined ? words : each[Number(at) - 1] ?? "");
}

export function requestOfImages(text: string, images: readonly unknown[]): string {
  return text.trim() === "" && images.length > 0 ? SEE_IMAGES : text;
}
