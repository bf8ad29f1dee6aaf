import {
  type BlockDiff,
  BlockTally,
  type CallOrigin,
  type HostCallEvent,
  type LateCall,
} from "../domain/query/host_call.ts";
import type { QueryReason } from "../domain/query/outcomes.ts";
import { endedChild, type StepChild } from "../domain/query/query_progress.ts";
import type { QueryResult } from "../domain/query/query_schemas.ts";
import { ChangedFiles, QueryWork } from "../domain/query/work_summary.ts";
import type { AcceptedFinal, Doubt, IterationFault, OfferedAnswer } from "../iteration/iteration.ts";
import { Attempts, type EarlierIteration, MAX_EARLIER } from "../prompt/context_message.ts";
import type { Reply } from "../prompt/reply/reply.ts";
import type { QuerySettings } from "./query_settings.ts";

const MAX_DIFF_CHARS = 64 * 1024;
const MAX_CHILDREN = 20, CHILD_CHARS = 1_000;
const MAX_ASKED = 50;
const MAX_LATE = 100;
const LOW = 2, EXTENSION = 4;
/** This many replies without a result do not count against the budget. */
const FREE_FAILURES = 4;

export class QueryState {
  readonly #ceiling: number;
  readonly #extending: boolean;
  #budget: number;
  #offered: OfferedAnswer | null = null;
  position = 0;
  used = 0;
  hasFailed = false;
  failures = 0;
  consecutiveErrors = 0;
  restarts = 0;
  supported = false;
  readonly work: QueryWork = new QueryWork();
  readonly calls: BlockTally = new BlockTally();
  readonly errors: string[] = [];
  readonly doubted: Doubt[] = [];
  readonly faults = new Faults();
  refused: string | null = null;
  temporary = false;
  isCutOff = false;
  thinking = "";
  thoughts = 0;
  /** The consecutive replies of plain text, or of text with fences that all failed without a call. */
  readonly texts: string[] = [];
  unsupported: { readonly answer: string; readonly reason: string } | null = null;
  readonly changed: ChangedFiles = new ChangedFiles();
  readonly diffs: BlockDiff[] = [];
  readonly late: LateCall[] = [];
  readonly children: StepChild[] = [];
  readonly asked: string[] = [];
  journal: EarlierIteration | null = null;
  earlier: readonly EarlierIteration[] = [];
  readonly attempts: Attempts = new Attempts();
  readonly notes: string[] = [];
  readonly said: string[] = [];
  next: Reply["next"] = { model: null, reasoning: null };
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
  get growth(): "new" | "request" | "none" {
    if (this.#budget >= this.#ceiling) return "none";
    return this.#extending ? "new" : "request";
  }
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

  /** The budget grows before it ends, so that the model does not hurry. */
  extend(): void {
    if (this.growth === "new" && this.#budget - this.used <= LOW) this.requestMore(EXTENSION);
  }

  offer(answer: OfferedAnswer): void {
    this.#offered ??= answer;
  }

  beginIteration(): void {
    this.#offered = null;
    this.diffs.length = 0;
    this.children.length = 0;
    this.asked.length = 0;
  }

  keepCall({ block, phase, diffs = [], name, ms = 0, ok = false, ...facts }: HostCallEvent, of: CallOrigin): void {
    if (phase === "start") return;
    const lateDiffs = this.late.flatMap(({ diffs }) => diffs);
    const kept = [...this.diffs.map(({ diff }) => diff), ...lateDiffs].reduce((sum, { length }) => sum + length, 0);
    const shown = kept < MAX_DIFF_CHARS ? diffs : [];
    if (!of.isLate) this.diffs.push(...shown.map((diff) => ({ block, diff })));
    else if (this.late.length < MAX_LATE) {
      this.late.push({ iteration: of.iteration, block, call: { name, ms, ok, ...facts }, diffs: shown });
    }
  }

  keepAsked(text: string): void {
    if (this.asked.length < MAX_ASKED) this.asked.push(text);
  }

  keepChild(request: string, result: QueryResult): void {
    if (this.children.length >= MAX_CHILDREN) return;
    const { done, ...child } = endedChild(request, result);
    this.children.push({ ...child, done: done && { ...done, text: done.text.slice(0, CHILD_CHARS) } });
  }

  failed(text: string): void {
    this.consecutiveErrors++;
    if (this.errors.length < 3) this.errors.push(text);
  }

  show(journal: EarlierIteration): void {
    this.#displace();
    this.journal = journal;
  }

  #displace(): void {
    if (this.journal) this.earlier = [...this.earlier, this.journal].slice(-MAX_EARLIER);
  }

  think(thinking: string): void {
    if (thinking === "") return;
    this.thinking = thinking;
    this.thoughts++;
  }

  /** An iteration with interrupted blocks keeps its position, because Vis has stored the iteration. */
  cutOff({ thinking }: { readonly thinking: string }): void {
    this.think(thinking);
    this.position++;
    this.isCutOff = true;
  }

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

/** The model has seen the fault and repeats it, so the query ends after this number of consecutive replies with the
 * same fault. */
const SAME = 3;
/** The model does not cause broken replies, so this limit is higher than `SAME`. */
const BROKEN = 5;
/** This number limits unusable replies; broken replies and failed calls do not count. */
const UNUSABLE = 5;

export interface Unusable {
  readonly model: string;
  readonly count: number;
  readonly fault: IterationFault | null;
}

export class Faults {
  #what = "";
  #same = 0;
  #replies = 0;
  #unusable: Unusable | null = null;

  get unusable(): Unusable | null {
    return this.#unusable;
  }

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

  clear(): void {
    this.#what = "";
    this.#same = 0;
    this.#replies = 0;
  }
}
