import type { BlockDiff, HostCallEvent } from "../domain/query/calls.ts";
import { ChangedFiles } from "../domain/query/changed_files.ts";
import type { QueryReason } from "../domain/query/outcomes.ts";
import { endedChild, type StepChild } from "../domain/query/query_progress.ts";
import type { QueryResult } from "../domain/query/query_schemas.ts";
import type { AcceptedFinal, IterationFault, OfferedAnswer } from "../iteration/iteration.ts";
import type { JournalEntry } from "../prompt/context/context_parts.ts";
import { Attempts } from "../prompt/context/journal.ts";
import type { Reply } from "../prompt/reply/reply.ts";

export const MAX_CONSECUTIVE_ERRORS = 5;
export const MAX_RESTARTS = 3;
/** Diffs that are stored with an iteration; those of one call are bounded. */
const MAX_DIFF_CHARS = 64 * 1024;
/** Child queries that are stored with an iteration, and characters of the answer of each. */
const MAX_CHILDREN = 20, CHILD_CHARS = 1_000;
/** So many replies without a result do not count against the budget. */
const FREE_FAILURES = 4;

/** Everything that one query counts and carries over from one iteration to the next. */
export class QueryState {
  readonly #ceiling: number | null;
  #budget: number;
  #offered: OfferedAnswer | null = null;
  /** Position of the next iteration, 0-based. */
  position = 0;
  /** Iterations counted against the budget. */
  used = 0;
  /** Replies without a result; those after the first `FREE_FAILURES` count against the budget. */
  failures = 0;
  consecutiveErrors = 0;
  restarts = 0;
  /** Whether a block has succeeded. */
  supported = false;
  /** First error texts since the last restart, for the hint of a restart. */
  readonly errors: string[] = [];
  readonly faults = new Faults();
  refused: string | null = null;
  /** Whether the cause of the last failed call may pass later. */
  temporary = false;
  thinking = "";
  /** How many iterations had thinking. */
  thoughts = 0;
  /** The last reply, if it was plain text. */
  prose: string | null = null;
  /** An answer that nothing supports, and why it was refused. */
  unsupported: { readonly answer: string; readonly reason: string } | null = null;
  readonly changed: ChangedFiles = new ChangedFiles();
  /** What the iteration changed in files. */
  readonly diffs: BlockDiff[] = [];
  /** The child queries of the iteration that have ended, for people who look at it later. */
  readonly children: StepChild[] = [];
  journal: { readonly entries: readonly JournalEntry[]; readonly iteration: number } | null = null;
  readonly attempts: Attempts = new Attempts();
  readonly notes: string[] = [];
  next: Reply["next"] = { model: null, reasoning: null };
  /** The repairs that were needed to read the last reply. */
  repaired = "";
  final: AcceptedFinal | null = null;

  constructor(budget: number, ceiling: number | null) {
    this.#budget = ceiling === null ? budget : Math.min(budget, ceiling);
    this.#ceiling = ceiling;
  }

  get budget(): number {
    return this.#budget;
  }
  get offered(): OfferedAnswer | null {
    return this.#offered;
  }

  requestMore(n: number): { granted: number; budget: number } {
    const wanted = this.#budget + Math.max(1, Math.floor(n));
    const budget = this.#ceiling === null ? wanted : Math.min(wanted, this.#ceiling);
    const granted = budget - this.#budget;
    this.#budget = budget;
    return { granted, budget };
  }

  /** The first answer of an iteration counts. */
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

  /** Records one more error; `text` is kept for the hint of a restart. */
  failed(text: string): void {
    this.consecutiveErrors++;
    if (this.errors.length < 3) this.errors.push(text);
  }

  /** Counts a reply of the model without a result. */
  unusable(): void {
    if (++this.failures > FREE_FAILURES) this.used++;
  }

  restart(): void {
    this.restarts++;
    this.consecutiveErrors = 0;
    this.journal = null;
    this.refused = null;
    this.errors.length = 0;
  }
}

/** This many consecutive replies with the same fault end the query: telling the model what is wrong does not help. */
const SAME = 3;
/** Replies that break off are the connection's fault, so more of them are tolerated. */
const BROKEN = 5;
/** Consecutive unusable replies, whatever their faults. */
const UNUSABLE = 5;

/** The consecutive replies that could not be used. */
export interface Unusable {
  readonly model: string;
  readonly count: number;
  /** Null if they had different faults. */
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

  /** Counts one more; `text` distinguishes faults of calls. Returns the reason if the query must end, else null. */
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

  /** Call it when an iteration had a result. */
  clear(): void {
    this.#what = "";
    this.#same = 0;
    this.#replies = 0;
  }
}
