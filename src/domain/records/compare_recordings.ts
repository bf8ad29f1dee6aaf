import type { BlockResult } from "../query/block_result.ts";
import { PathMap } from "./path_map.ts";
import type { QueryReason } from "../query/query_result.ts";
import type { RecordedIteration, RecordedQuery } from "./recording.ts";

/** A place where a replayed query differs from the recording. */
export interface RecordingDifference {
  /** "iteration 2, block 1", with the child query's place before it; "" for the query as a whole. */
  readonly place: string;
  readonly field: string;
  readonly recorded: string;
  readonly replayed: string;
}

/** Queries that were ended from outside: the point where they ended means nothing. */
const CUT: readonly QueryReason[] = [
  "cancelled",
  "process_lost",
  "limit_cost",
  "limit_tokens",
  "limit_time",
  "configuration",
  "unstored",
  "defect",
];

interface Run {
  /** The place of the query above. */
  readonly above?: string;
  /** From the recorded paths to those of the run. */
  readonly paths?: PathMap;
}

/** The differences between two runs of one query, in order. Times, ids and the folder in which they ran are ignored. */
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
    // A path can change the length of the text that contains it.
    const { preview } = other.result;
    const same = paths.toRecorded(preview) === preview ? {} : { size: String(result.size) };
    const moved = { ...facts, replayed: { ...facts.replayed, ...same } };
    found.push(...fields(moved, { place: `${place}, block ${at + 1}`, paths }));
  }
  const children = [...replayed.children];
  for (const child of recorded.children) {
    // Children that ran in parallel may have started in another order.
    const at = children.findIndex(({ text }) => paths.toRecorded(text) === child.text);
    const [other] = at === -1 ? [] : children.splice(at, 1);
    if (other) found.push(...compareRecordings(child, other, { above: `${place}, child query, `, paths }));
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
    return text === other ? [] : [{ place, field, recorded: text, replayed: other }];
  });
}

function endOf({ reason, answer, confidence }: RecordedQuery): Facts {
  return { reason: reason ?? "", answer, confidence };
}

function summaryOf({ outcome, error, response, blocks, calls, children }: RecordedIteration): Facts {
  return {
    outcome,
    error: error ?? "",
    reply: response,
    blocks: String(blocks.length),
    "model calls": String(calls.length),
    "child queries": String(children.length),
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
