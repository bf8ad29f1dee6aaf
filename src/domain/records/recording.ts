import type { Image } from "../images.ts";
import type { JsonValue } from "../kit/json.ts";
import { countedChoice } from "../kit/text.ts";
import type { SubCall } from "../query/model_call.ts";
import type { QueryReason, QueryStatus } from "../query/outcomes.ts";
import type { BlockResult } from "../query/query_schemas.ts";
import type { StoredQuery } from "../query/stored_query.ts";

/** A plain model call has both a reply and an error if the length limit of the model cut the reply. */
type RecordedCall = Pick<SubCall, "prompt" | "reply" | "error">;

/** `pieces` are readable while the store is open. */
export interface RecordedContext {
  readonly label: string;
  readonly json: boolean;
  readonly pieces: () => AsyncIterable<Uint8Array>;
}

export interface RecordedBlock {
  readonly code: string;
  readonly result: BlockResult;
  readonly diffs: readonly string[];
}

export interface RecordedIteration {
  readonly iterationId: string;
  /** The number is 1-based. */
  readonly number: number;
  readonly status: QueryStatus | "running";
  readonly outcome: string;
  readonly thinking: string;
  readonly nativeReasoning: string;
  readonly response: string;
  readonly ending?: "cut" | "broken";
  readonly error: string | null;
  readonly notes: readonly string[];
  readonly budget: number | null;
  readonly blocks: readonly RecordedBlock[];
  readonly calls: readonly RecordedCall[];
  readonly children: readonly RecordedQuery[];
}

type QueryFacts = Pick<StoredQuery, "queryId" | "text" | "running" | "status" | "reason" | "answer" | "confidence">;

export interface RecordedQuery
  extends QueryFacts, Pick<StoredQuery, "usage" | "costUsd" | "ms" | "notes" | "steered" | "createdAt" | "only"> {
  readonly images: readonly Image[];
  readonly answerSchema: JsonValue | null;
  readonly context: RecordedContext | null;
  readonly iterations: readonly RecordedIteration[];
}

export interface Recording {
  readonly conversationId: string;
  readonly title: string;
  readonly workspace: string;
  readonly createdAt: number;
  readonly queries: readonly RecordedQuery[];
}

export interface PagedQuery extends Omit<RecordedQuery, "iterations"> {
  iterations(): AsyncIterable<RecordedIteration> | Iterable<RecordedIteration>;
}

/** Few iterations are in memory at a time, so that a conversation may be larger than the memory. */
export interface PagedRecording extends Omit<Recording, "queries"> {
  queries(): AsyncIterable<PagedQuery> | Iterable<PagedQuery>;
}

export type PlayedReply =
  | {
    readonly kind: "reply";
    readonly text: string;
    readonly reasoning: string;
    readonly cut?: true;
    readonly broken?: string;
  }
  | { readonly kind: "error"; readonly message: string; readonly fatal: boolean };

const HEAD_CHARS = 15_000;

interface Track {
  readonly text: string;
  readonly replies: PlayedReply[];
}

export class Playback {
  readonly #recording: Recording;
  readonly #paths: PathMap;
  #tracks: Track[] = [];
  readonly #calls = new Map<string, PlayedReply[]>();

  constructor(recording: Recording, { paths = new PathMap() }: { readonly paths?: PathMap } = {}) {
    this.#recording = recording;
    this.#paths = paths;
  }

  /** `index` is 0-based. */
  begin(index: number): void {
    const query = this.#recording.queries[index];
    if (!query) {
      throw new RangeError(
        `Cannot replay request ${index + 1}: the recording has ${
          countedChoice(this.#recording.queries.length, "request")
        }`,
      );
    }
    this.#tracks = [];
    this.#calls.clear();
    this.#collect(query);
  }

  reply(shown: string): PlayedReply | null {
    const recorded = this.#paths.toRecorded(shown);
    const track = this.#tracks.find(({ text, replies }) => replies.length > 0 && shows(recorded, text));
    return track?.replies.shift() ?? null;
  }

  call(prompt: string): PlayedReply | null {
    return this.#calls.get(this.#paths.toRecorded(prompt))?.shift() ?? null;
  }

  #collect(query: RecordedQuery): void {
    this.#tracks.push({ text: query.text, replies: this.#repliesOf(query) });
    for (const { calls, children } of query.iterations) {
      for (const { prompt, reply, error } of calls) {
        const played: PlayedReply = reply === null ? { kind: "error", message: error ?? "", fatal: false } : {
          kind: "reply",
          text: this.#paths.toPlayed(reply),
          reasoning: "",
          ...(error === null ? {} : { cut: true }),
        };
        this.#calls.set(prompt, [...this.#calls.get(prompt) ?? [], played]);
      }
      for (const child of children) this.#collect(child);
    }
  }

  #repliesOf({ iterations, reason }: RecordedQuery): PlayedReply[] {
    return iterations.map((iteration, at) =>
      this.#replyOf(iteration, reason === "provider" && at === iterations.length - 1)
    );
  }

  #replyOf({ response, nativeReasoning, error, ending }: RecordedIteration, fatal: boolean): PlayedReply {
    const message = error ?? "the recording has no reply for this call";
    if (response === "" && ending === undefined) return { kind: "error", message, fatal };
    return {
      kind: "reply",
      text: this.#paths.toPlayed(response),
      reasoning: nativeReasoning,
      ...(ending === "cut" ? { cut: true } : {}),
      ...(ending === "broken" ? { broken: message } : {}),
    };
  }
}

function shows(shown: string, text: string): boolean {
  if (text.length > HEAD_CHARS) return shown.startsWith(text.slice(0, HEAD_CHARS));
  return shown === text || shown.startsWith(`${text}\n\n`);
}

export interface RecordingDifference {
  readonly place: string;
  readonly field: string;
  readonly recorded: string;
  readonly replayed: string;
}

/** A query with one of these reasons may end at another moment in a replay, so Vis does not compare its end. */
const CUT: readonly QueryReason[] = [
  "cancelled",
  "forked",
  "process_lost",
  "limit_cost",
  "limit_tokens",
  "limit_time",
  "configuration",
  "unstored",
  "defect",
];

interface Run {
  readonly above?: string;
  readonly paths?: PathMap;
}

export function compareRecordings(
  recorded: RecordedQuery,
  replayed: RecordedQuery,
  { above = "", paths = new PathMap() }: Run = {},
): readonly RecordingDifference[] {
  const cut = recorded.reason === null || CUT.includes(recorded.reason);
  const whole = cut
    ? recorded.iterations.filter(({ status }) => status === "done" || status === "error")
    : recorded.iterations;
  const found = whole.flatMap((iteration, at) => {
    const place = `${above}iteration ${iteration.number}`;
    const other = replayed.iterations[at];
    return other
      ? iterationDifferences(iteration, other, { place, paths })
      : [{ place, field: "iteration", recorded: "was there", replayed: "is missing" }];
  });
  if (cut) return found;
  for (const { number } of replayed.iterations.slice(whole.length)) {
    found.push({
      place: `${above}iteration ${number}`,
      field: "iteration",
      recorded: "was not there",
      replayed: "is new",
    });
  }
  const place = above.replace(/, $/, "");
  return [...found, ...fields({ recorded: endOf(recorded), replayed: endOf(replayed) }, { place, paths })];
}

function iterationDifferences(
  recorded: RecordedIteration,
  replayed: RecordedIteration,
  { place, paths }: Where,
): RecordingDifference[] {
  const found = fields({ recorded: summaryOf(recorded), replayed: summaryOf(replayed) }, { place, paths });
  for (const [at, { result }] of recorded.blocks.entries()) {
    const other = replayed.blocks[at];
    if (!other) continue;
    const facts = { recorded: resultOf(result), replayed: resultOf(other.result) };
    // A replay in another folder can change the length of a text that contains a path.
    const { preview } = other.result;
    const isTimed = withoutDurations(preview) !== preview &&
      isSame("preview", result.preview, paths.toRecorded(preview));
    const same = paths.toRecorded(preview) === preview && !isTimed ? {} : { size: String(result.size) };
    const moved = { ...facts, replayed: { ...facts.replayed, ...same } };
    found.push(...fields(moved, { place: `${place}, block ${at + 1}`, paths }));
  }
  const children = [...replayed.children];
  for (const child of recorded.children) {
    // Parallel sub-queries may have started in another order.
    const at = children.findIndex(({ text }) => paths.toRecorded(text) === child.text);
    const [other] = at === -1 ? [] : children.splice(at, 1);
    if (other) found.push(...compareRecordings(child, other, { above: `${place}, sub-query, `, paths }));
  }
  return found;
}

type Facts = Readonly<Record<string, string>>;

interface Where {
  readonly place: string;
  readonly paths: PathMap;
}

function fields(
  { recorded, replayed }: { readonly recorded: Facts; readonly replayed: Facts },
  { place, paths }: Where,
): RecordingDifference[] {
  return Object.entries(recorded).flatMap(([field, text]) => {
    const other = paths.toRecorded(replayed[field] ?? "");
    return isSame(field, text, other) ? [] : [{ place, field, recorded: text, replayed: other }];
  });
}

/** Functions of Vis measure durations under this name, and a repetition never takes the same time. */
function withoutDurations(preview: string): string {
  return preview.replace(/\bms: \d+(?:\.\d+)?/g, "ms: …");
}

function isSame(field: string, text: string, other: string): boolean {
  return text === other || field === "preview" && withoutDurations(text) === withoutDurations(other);
}

function endOf({ reason, answer, confidence }: RecordedQuery): Facts {
  return { reason: reason ?? "", answer, confidence: confidence ?? "" };
}

function summaryOf({ outcome, error, response, blocks, calls, children }: RecordedIteration): Facts {
  return {
    outcome,
    error: error ?? "",
    reply: response,
    blocks: String(blocks.length),
    "model calls": String(calls.length),
    "sub-queries": String(children.length),
  };
}

function resultOf(result: BlockResult): Facts {
  const { outcome, preview, type, size, stdout, stderr, error, defined, touched, lost } = result;
  return {
    outcome,
    preview,
    type,
    size: String(size),
    stdout,
    stderr,
    error: error === null ? "" : `${error.name}: ${error.message}`,
    defined: defined.join(", "),
    touched: touched.join(", "),
    lost: lost.join(", "),
  };
}

export class PathMap {
  readonly #pairs: readonly (readonly [recorded: string, played: string])[];

  constructor(pairs: readonly (readonly [recorded: string, played: string])[] = []) {
    this.#pairs = pairs.filter(([recorded, played]) => recorded !== played && isFolder(recorded) && isFolder(played));
  }

  toPlayed(text: string): string {
    return this.#pairs.reduce((all, [recorded, played]) => moved(all, recorded, played), text);
  }

  toRecorded(text: string): string {
    return this.#pairs.reduce((all, [recorded, played]) => moved(all, played, recorded), text);
  }
}

function isFolder(path: string): boolean {
  return /[^\\/]/.test(path);
}

function moved(text: string, from: string, to: string): string {
  if (!text.includes(from)) return text;
  const literal = from.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  const path = new RegExp(`(?<![\\p{L}\\p{N}_.\\-])${literal}(?![\\p{L}\\p{N}_\\-]|\\.[\\p{L}\\p{N}_])`, "gu");
  return text.replace(path, () => to);
}

export interface ReplayRequest {
  readonly cwd?: string | undefined;
  readonly recorded: string;
  readonly inPlace: boolean;
  readonly signal: AbortSignal;
}

export interface ReplayPlace {
  readonly workspace: string;
  readonly home: string | null;
  readonly paths: PathMap;
  readonly copied: {
    readonly from: string;
    readonly files: number;
    readonly bytes: number;
    readonly leftOut: number;
  } | null;
  close(): Promise<void>;
}
