/** The state of one query: it counts and carries over values from one iteration to the next, and builds the context of
 * each call. */

import { clip } from "../domain/kit/text.ts";
import type { BlockDiff, HostCallEvent } from "../domain/query/calls.ts";
import type { QueryReason } from "../domain/query/outcomes.ts";
import { endedChild, type StepChild } from "../domain/query/query_progress.ts";
import type { QueryResult } from "../domain/query/query_schemas.ts";
import { ChangedFiles, QueryWork } from "../domain/query/work.ts";
import type { Environment } from "../environment/environment.ts";
import type { ActiveExtensions } from "../extension/active.ts";
import type { AcceptedFinal, Doubt, IterationFault, OfferedAnswer } from "../iteration/iteration.ts";
import type { Log } from "../logging/log.ts";
import type { PreviousTurn } from "../persistence/store.ts";
import {
  Attempts,
  type ContextCaps,
  type ContextParts,
  type EarlierIteration,
  MAX_EARLIER,
  renderEarlier,
  renderVarIndex,
} from "../prompt/context.ts";
import { builtinNudges, extensionNudges, type NudgeWarning, type Repetition } from "../prompt/nudges.ts";
import type { Reply } from "../prompt/reply/reply.ts";
import { decode } from "../sandbox/codec/codec.ts";
import type { QuerySettings } from "./query_parts.ts";

/** The limit for diffs that are stored with an iteration; diffs of one call are bounded. */
const MAX_DIFF_CHARS = 64 * 1024;
/** Limits for the sub-queries that are stored with an iteration, and for the characters of each answer. */
const MAX_CHILDREN = 20, CHILD_CHARS = 1_000;
/** The budget extends itself by `EXTENSION` iterations once `LOW` are left. */
const LOW = 2, EXTENSION = 4;
/** The first replies without a result, up to this number, do not count against the budget. */
const FREE_FAILURES = 4;

/** All that one query counts and carries over from one iteration to the next. */
export class QueryState {
  readonly #ceiling: number;
  readonly #extending: boolean;
  #budget: number;
  #offered: OfferedAnswer | null = null;
  /** The position of the next iteration, 0-based. */
  position = 0;
  /** The number of iterations counted against the budget. */
  used = 0;
  /** Whether the last reply had no result. */
  hasFailed = false;
  /** The number of replies without a result; after `FREE_FAILURES`, they count against the budget. */
  failures = 0;
  consecutiveErrors = 0;
  restarts = 0;
  /** Whether a block has succeeded. */
  supported = false;
  readonly work: QueryWork = new QueryWork();
  /** The first error texts since the last restart, for the hint of a restart. */
  readonly errors: string[] = [];
  /** The doubts for which answers were refused that could have been accepted. */
  readonly doubted: Doubt[] = [];
  readonly faults = new Faults();
  refused: string | null = null;
  /** Whether the cause of the last failed call is temporary. */
  temporary = false;
  thinking = "";
  /** The number of iterations that had thinking. */
  thoughts = 0;
  /** The last reply, if it was plain text. */
  prose: string | null = null;
  /** An answer without support, and why it was refused. */
  unsupported: { readonly answer: string; readonly reason: string } | null = null;
  readonly changed: ChangedFiles = new ChangedFiles();
  readonly diffs: BlockDiff[] = [];
  /** The sub-queries of the iteration that have ended, for people who look at it later. */
  readonly children: StepChild[] = [];
  journal: EarlierIteration | null = null;
  /** Iterations whose results stay in view beside the journal, oldest first. */
  earlier: readonly EarlierIteration[] = [];
  readonly attempts: Attempts = new Attempts();
  readonly notes: string[] = [];
  next: Reply["next"] = { model: null, reasoning: null };
  /** The repairs that were needed to read the last reply. */
  repaired = "";
  final: AcceptedFinal | null = null;

  constructor({ budget, ceiling, extending = false }: Pick<QuerySettings, "budget" | "ceiling" | "extending">) {
    this.#ceiling = ceiling ?? Infinity;
    this.#budget = Math.min(budget, this.#ceiling);
    this.#extending = extending;
  }

  get budget(): number {
    return this.#budget;
  }
  /** Whether the budget grows with progress, only if the model requests it, or not at all at its ceiling. */
  get growth(): "new" | "request" | "none" {
    if (this.#budget >= this.#ceiling) return "none";
    return this.#extending ? "new" : "request";
  }
  /** Whether the query, or a sub-query, may have changed something or run a command. */
  get acted(): boolean {
    return this.work.acted || this.changed.total !== "";
  }
  get offered(): OfferedAnswer | null {
    return this.#offered;
  }

  requestMore(n: number): { granted: number; budget: number } {
    const budget = Math.min(this.#budget + Math.max(1, Math.floor(n)), this.#ceiling);
    const granted = budget - this.#budget;
    this.#budget = budget;
    return { granted, budget };
  }

  /** Extends the budget after an iteration that made progress. The model sees the larger budget before the old one
   * ends, so that it does not hurry. */
  extend(): void {
    if (this.growth === "new" && this.#budget - this.used <= LOW) this.requestMore(EXTENSION);
  }

  /** Offers an answer; only the first one of an iteration counts. */
  offer(answer: OfferedAnswer): void {
    this.#offered ??= answer;
  }

  beginIteration(): void {
    this.#offered = null;
    this.diffs.length = 0;
    this.children.length = 0;
  }

  /** Keeps the diffs of a call, as long as they fit. */
  keepDiffs({ block, diffs = [] }: Pick<HostCallEvent, "block" | "diffs">): void {
    const kept = this.diffs.reduce((sum, { diff }) => sum + diff.length, 0);
    if (kept < MAX_DIFF_CHARS) this.diffs.push(...diffs.map((diff) => ({ block, diff })));
  }

  keepChild(request: string, result: QueryResult): void {
    if (this.children.length >= MAX_CHILDREN) return;
    const { done, ...child } = endedChild(request, result);
    this.children.push({ ...child, done: done && { ...done, text: done.text.slice(0, CHILD_CHARS) } });
  }

  /** Records another error; `text` is kept for the hint of a restart. */
  failed(text: string): void {
    this.consecutiveErrors++;
    if (this.errors.length < 3) this.errors.push(text);
  }

  /** From then on, everything that the journal showed so far belongs to an earlier iteration. */
  show(journal: EarlierIteration): void {
    this.#displace();
    this.journal = journal;
  }

  #displace(): void {
    if (this.journal) this.earlier = [...this.earlier, this.journal].slice(-MAX_EARLIER);
  }

  /** Counts a reply of the model without a result. */
  unusable(): void {
    this.hasFailed = true;
    if (++this.failures > FREE_FAILURES) this.used++;
  }

  restart(): void {
    this.restarts++;
    this.consecutiveErrors = 0;
    this.#displace();
    this.earlier = this.earlier.filter(({ entries }) => entries.some(({ result }) => result.ok));
    this.journal = null;
    this.refused = null;
    this.errors.length = 0;
  }
}

/** This many consecutive replies with the same fault end the query: telling the model its fault does not help. */
const SAME = 3;
/** Replies that break off are the connection's fault, so more of them are tolerated. */
const BROKEN = 5;
/** This many consecutive unusable replies end the query, whatever their faults. */
const UNUSABLE = 5;

/** The consecutive replies that could not be used. */
export interface Unusable {
  readonly model: string;
  readonly count: number;
  /** The common fault; null if they differed. */
  readonly fault: IterationFault | null;
}

/** Counts consecutive iterations without a result. */
export class Faults {
  #what = "";
  #same = 0;
  #replies = 0;
  #unusable: Unusable | null = null;

  /** The replies that ended the query with `unusable_replies`. */
  get unusable(): Unusable | null {
    return this.#unusable;
  }

  /** Counts another one; `text` distinguishes faults of calls. Returns the reason if the query must end, else null. */
  add(
    fault: IterationFault,
    { text, model }: { readonly text: string; readonly model: string },
  ): Extract<QueryReason, "provider" | "unusable_replies"> | null {
    const what = fault === "call" ? `call: ${text}` : fault;
    this.#same = what === this.#what ? this.#same + 1 : 1;
    this.#what = what;
    if (fault === "broken") return this.#same >= BROKEN ? "provider" : null;
    if (fault === "call") return this.#same >= SAME ? "provider" : null;
    this.#replies++;
    if (this.#same >= SAME) this.#unusable = { model, count: this.#same, fault };
    else if (this.#replies >= UNUSABLE) this.#unusable = { model, count: this.#replies, fault: null };
    return this.#unusable === null ? null : "unusable_replies";
  }

  /** An iteration had a result, so the count starts again. */
  clear(): void {
    this.#what = "";
    this.#same = 0;
    this.#replies = 0;
  }
}

const STEERING_CHARS = 2_000;

export interface ContextSource {
  readonly environment: Environment;
  readonly active: ActiveExtensions;
  readonly state: QueryState;
  readonly repetition: Repetition;
  readonly caps: ContextCaps;
  readonly handover: ContextParts["handover"];
  readonly steered: readonly string[];
  readonly log: Log;
  /** Why blocks no longer run; null while they do. */
  readonly last: string | null;
}

/** Returns the parts of the next context message. Takes the notes that are due, since each is shown once. */
export async function buildContext(source: ContextSource): Promise<ContextParts> {
  const { environment, state, caps, steered } = source;
  const notes = [
    ...steered.map((text) => `The user says meanwhile: ${clip(text, STEERING_CHARS)}`),
    ...state.notes.splice(0),
    ...environment.takeNotes(),
  ];
  const { journal } = state;
  const fresh = state.thinking === "" && journal === null && state.earlier.length === 0;
  const earlier = renderEarlier(state.earlier, { journal: journal?.entries ?? [], caps });
  const shown = new Set([...earlier.positions, ...(journal ? [journal.position] : [])]);
  return {
    iteration: state.used + 1,
    budget: state.budget,
    last: source.last !== null,
    notes: source.last === null ? notes : [lastNote(source.last, notes.length), ...notes],
    handover: fresh ? source.handover : null,
    thinking: state.thinking,
    thoughts: state.thoughts,
    journal: journal?.entries ?? [],
    journalIteration: journal?.iteration ?? null,
    earlier: earlier.text,
    failures: state.hasFailed ? state.failures : 0,
    changed: state.changed.line,
    attempts: state.attempts.newest(caps.attempts, shown),
    index: environment.index.rendered((heads) => renderVarIndex(heads, caps)),
    nudges: await nudges(source),
    caps,
  };
}

/** Returns the note before the others, which may ask for actions that the last call cannot take. */
function lastNote(why: string, others: number): string {
  const still = others > 0 ? ", whatever a note below asks for" : "";
  return `${why}: this is the last call and no block runs any more${still}. Give "final" now: the best answer from the variables and results that exist, and what is missing.`;
}

async function nudges(source: ContextSource): Promise<string[]> {
  const { environment, active, state, repetition, log } = source;
  const own = builtinNudges({
    used: state.used,
    budget: state.budget,
    growth: state.growth,
    userVariables: environment.index.userCount(),
    offender: repetition.offender(),
    stale: repetition.isStale,
    repaired: state.repaired,
    last: source.last !== null,
  });
  const entries = state.journal?.entries ?? null;
  const context = {
    environment: environment.view(),
    iteration: state.used,
    currentMaxIterations: state.budget,
    prevExpressions: entries?.map(({ code, result, value }) => ({
      code,
      get result(): unknown {
        return value ? decode(value) : undefined;
      },
      preview: result.preview,
      ...(result.error ? { error: `${result.error.name}: ${result.error.message}` } : {}),
      stdout: result.stdout,
      stderr: result.stderr,
      executionTimeMs: result.ms,
      timedOut: result.timedOut,
      repaired: result.repaired !== null,
    })) ?? null,
    prevIteration: state.journal ? state.journal.iteration - 1 : -1,
    userVarCount: environment.index.userCount(),
  };
  const texts = (source.last !== null ? [] : active.nudges).map(async ({ namespace, nudge }) => ({
    namespace,
    text: await nudge(context),
  }));
  const onWarn = (warning: NudgeWarning) => log.warn("nudge_skipped", { ...warning });
  return [...own, ...extensionNudges(await Promise.all(texts), onWarn)];
}

/** Limits, in characters, for interrupted blocks. The text that they share is cut in the middle when the handover is
 * rendered. */
const CUT = { blocks: 5, chars: 300 };

/** Returns the report about the previous query for the first context of a query. */
export function handoverOf(before: PreviousTurn | null): ContextParts["handover"] {
  if (!before) return null;
  const { text, thinkings, answer, status, images = 0, pending = [], notes = [], diffs = [] } = before;
  const files = new ChangedFiles();
  for (const diff of diffs) files.add(diff);
  const seen = images === 0 ? "" : `\n[with ${images} ${images === 1 ? "image" : "images"}, not shown again]`;
  return {
    request: text + seen,
    thinkings,
    ...(files.line === "" ? {} : { changed: files.line, diff: diffs.join("\n") }),
    answer: [answer, ...notes.map((note) => `[${note}]`), ...cutBlocks(pending)].join("\n"),
    ...(status === "done" ? {} : { unfinished: true }),
  };
}

/** Returns the blocks that ran when the process ended. The model must check whether to repeat them. */
export function cutBlocks(pending: readonly string[]): string[] {
  if (pending.length === 0) return [];
  const [these, they] = pending.length === 1 ? ["this block", "it"] : [`these ${pending.length} blocks`, "they"];
  const shown = pending.slice(0, CUT.blocks).map((code, at) => `[${at + 1}] ${clip(code, CUT.chars)}`);
  return [
    `It ended while ${these} ran. What ${they} defined or changed is gone; what ${they} did outside may have happened:`,
    ...shown,
  ];
}
