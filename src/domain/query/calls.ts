import { oneLine, visibleText } from "../kit/text.ts";
import type { BlockOutcome, BlockResult } from "./query_schemas.ts";

export interface HostCallEvent {
  readonly block: number;
  readonly name: string;
  readonly phase: "start" | "end";
  /** Absent for functions of Vis itself. */
  readonly action?: CalledAction | undefined;
  readonly ms?: number | undefined;
  readonly ok?: boolean | undefined;
  readonly outcome?: string | undefined;
  /** True if the call failed because the user refused it. */
  readonly refusedByUser?: boolean | undefined;
  /** The lines of a failed call's output that name a failure, and its last lines. */
  readonly output?: string | undefined;
  /** Lines that tell how a failed call could succeed. */
  readonly hint?: string | undefined;
  /** The variable that has all of a long output. */
  readonly kept?: string | undefined;
  /** The exit code of the command that the call ran; null if the command has none. */
  readonly exitCode?: number | null | undefined;
  readonly unfinished?: boolean | undefined;
  /** Set if the call may have made a lasting change. */
  readonly changes?: "files" | "other" | undefined;
  readonly diffs?: readonly string[] | undefined;
}

type RecordedHostCall =
  & Pick<HostCallEvent, "name" | "ok" | "action" | "outcome" | "refusedByUser" | "output" | "hint">
  & { readonly phase?: HostCallEvent["phase"] };

export interface CallOutcome {
  /** A few words for readers, such as "12 passed" or "exit code 1". */
  readonly text: string;
  /** False if the call failed in its purpose; true if absent. */
  readonly ok?: boolean;
  /** True if the call failed because the user refused it. */
  readonly refusedByUser?: boolean;
  /** The call's output, or several outputs. If the call failed, Vis shows the lines that name a failure, and the last
   * lines. */
  readonly output?: string | readonly string[];
  /** Lines that tell how the failed call could succeed, for people and the model. */
  readonly hint?: string;
  /** The variable that has all of a long output, for the model. */
  readonly kept?: string;
  /** The exit code of a command; null if the command has none. */
  readonly exitCode?: number | null;
  /** The object of the call, if the arguments do not name the object. */
  readonly subject?: string;
  /** True if a later call must finish the work, such as a merge with conflicts. False if the call finishes such work of
   * its namespace. */
  readonly unfinished?: boolean;
}

export interface ShownOutcome extends CallOutcome {
  readonly output?: string;
}

/** `block` is 0-based. */
export interface BlockDiff {
  readonly block: number;
  readonly diff: string;
}

export function storedDiffs({ diffs }: Readonly<Record<string, unknown>>, block: number | null = null): string[] {
  return (Array.isArray(diffs) ? diffs as unknown[] : []).flatMap((one) => {
    if (typeof one !== "object" || one === null || !("diff" in one) || typeof one.diff !== "string") return [];
    return block === null || Reflect.get(one, "block") === block ? [one.diff] : [];
  });
}

const SUBJECT_CHARS = 120;
/** Limit for list arguments, which may have a million items. */
const SUBJECT_ITEMS = 10;

/** Words that show the calls of a function to people, such as "reading src/app.ts" and "read 3 files". */
export interface CallAction {
  /** A verb for a running call, such as "reading". */
  readonly doing: string;
  /** A verb for an ended call, such as "read". */
  readonly done: string;
  /** The unit in which calls are counted, such as "files". */
  readonly things: string;
  /** The number of arguments that name the call's object; 1 if absent. */
  readonly named?: number;
}

interface CalledAction extends Pick<CallAction, "doing" | "done" | "things"> {
  /** One line of printable text. The text is "" if the words already name the object. */
  readonly subject: string;
}

export function calledAction(
  { doing, done, things, named = 1 }: CallAction,
  args: readonly unknown[],
): CalledAction {
  const words = args.slice(0, named).flatMap(wordsIn).join(" ");
  return aboutSubject({ doing, done, things }, words);
}

export function aboutSubject({ doing, done, things }: CallAction, subject: string): CalledAction {
  return { doing, done, things, subject: oneLine(visibleText(subject), SUBJECT_CHARS) };
}

function wordsIn(given: unknown): readonly string[] {
  return (Array.isArray(given) ? given.slice(0, SUBJECT_ITEMS) : [given]).flatMap((one: unknown) => {
    const word: unknown = typeof one === "object" && one !== null ? Reflect.get(one, "path") : one;
    return typeof word === "string" ? [word.slice(0, SUBJECT_CHARS * 4)] : [];
  });
}

type State = "good" | "bad" | "threw" | "refused";

interface Tally extends CalledAction {
  calls: number;
  readonly state: State;
  readonly outcome: string;
}

/** A subject is never cut to fewer characters. */
const LEAST_SUBJECT = 12;
/** The number of failed calls whose output is kept, and the limit of each output. */
const MOST_OUTPUTS = 3, OUTPUT_CHARS = 5_000;

export class BlockTally {
  readonly #kinds = new Map<string, Tally>();
  readonly #words = new Map<string, CalledAction>();
  readonly #outputs: { readonly subject: string; readonly output: string }[] = [];
  #failed = false;
  #refused = false;

  static of(calls: readonly RecordedHostCall[]): BlockTally {
    const tally = new BlockTally();
    for (const call of calls) tally.take(call);
    return tally;
  }

  take(
    { phase = "end", name, ok = true, refusedByUser: refused = false, action: own, ...told }: RecordedHostCall,
  ): void {
    const { outcome = "", hint = "" } = told;
    const output = [told.output ?? "", hint].filter((text) => text !== "").join("\n");
    if (phase === "start") return;
    const words = this.#words.get(name); // Words are recorded only for the first calls of a block.
    const action = own ?? (words && { ...words, subject: "" });
    if (!action) return;
    this.#words.set(name, action);
    const state = ok ? "good" : refused ? "refused" : outcome === "" ? "threw" : "bad";
    if (refused) this.#refused = true;
    else if (!ok) this.#failed = true;
    if (output !== "" && this.#outputs.length < MOST_OUTPUTS) {
      this.#outputs.push({ subject: action.subject, output: output.slice(0, OUTPUT_CHARS) });
    }
    const kind = `${state} ${action.done} ${action.things}`;
    const known = this.#kinds.get(kind);
    if (!known) return void this.#kinds.set(kind, { ...action, state, calls: 1, outcome });
    known.calls++;
  }

  get text(): string {
    return [...this.#kinds.values()].map((tally) => textOf(tally)).join(", ");
  }

  /** Returns `text` with the longest subjects shortened towards the width; outcomes stay whole. */
  textWithin(width: number): string {
    const over = this.text.length - width;
    if (over <= 0) return this.text;
    const kinds = [...this.#kinds.values()];
    const shown = kinds.map(({ calls, subject }) => calls > 1 ? 0 : subject.length);
    const longest = Math.max(...shown);
    const most = Math.max(LEAST_SUBJECT, longest - over);
    return kinds.map((tally, at) => textOf(tally, shown[at] === longest ? most : Infinity)).join(", ");
  }

  /** A call that the user refused does not count as failed. */
  get failed(): boolean {
    return this.#failed;
  }

  get refused(): boolean {
    return this.#refused;
  }

  /** Returns "" if the failed calls printed no output. */
  get output(): string {
    const several = this.#outputs.length > 1;
    return this.#outputs.map(({ subject, output }) => several && subject !== "" ? `${subject}:\n${output}` : output)
      .join("\n");
  }
}

function textOf({ doing, done, things, subject, calls, state, outcome }: Tally, most = Infinity): string {
  const what = calls > 1 ? `${calls} ${things}` : subject.length > most ? `${subject.slice(0, most - 1)}…` : subject;
  if (state === "threw") return `${`${doing} ${what}`.trimEnd()} failed`;
  if (state === "refused") return `${`${doing} ${what}`.trimEnd()}: refused`;
  const end = calls === 1 ? outcome : state === "bad" ? "failed" : "";
  return [`${done} ${what}`.trimEnd(), end].filter((part) => part !== "").join(" · ");
}

const BASE: BlockResult = {
  ok: false,
  outcome: "none",
  preview: "",
  type: "",
  size: null,
  stdout: "",
  stderr: "",
  dropped: 0,
  error: null,
  defined: [],
  touched: [],
  pending: [],
  lost: [],
  ms: 0,
  timedOut: false,
  repaired: null,
  calls: [],
};

export function blockResult(fields: Partial<BlockResult>): BlockResult {
  return { ...BASE, ...fields };
}

export function failedBlock(
  outcome: Exclude<BlockOutcome, "value" | "none">,
  error: { readonly name: string; readonly message: string },
  fields: Partial<BlockResult> = {},
): BlockResult {
  const { name, message } = error;
  return blockResult({
    outcome,
    timedOut: outcome === "timeout",
    error: { name, message, line: null, column: null, excerpt: "", stack: "" },
    ...fields,
  });
}

/** The result of a block that an earlier sandbox process ran. */
export interface FormerResult {
  /** Codec bytes; null if the block had no value, or Vis could not store the value. */
  readonly value: Uint8Array<ArrayBuffer> | null;
  readonly held: string;
  readonly printed: string;
}

/** The values of `results` and `printed`, for a sandbox process that replaces another one. */
export interface FormerResults {
  readonly shown: readonly FormerResult[];
  readonly running: readonly FormerResult[];
  /** The running iteration; -1 between two iterations. */
  readonly iteration: number;
}
