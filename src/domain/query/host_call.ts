import { oneLine, shorten, visibleText } from "../kit/text.ts";
import type { BlockCall, BlockError, BlockOutcome, BlockResult } from "./query_schemas.ts";

export interface HostCallEvent {
  readonly block: number;
  readonly name: string;
  readonly phase: "start" | "end";
  readonly action?: CalledAction | undefined;
  readonly limitMs?: number | undefined;
  readonly ms?: number | undefined;
  readonly ok?: boolean | undefined;
  readonly outcome?: string | undefined;
  readonly refusedByUser?: boolean | undefined;
  readonly output?: string | undefined;
  readonly hint?: string | undefined;
  readonly kept?: string | undefined;
  readonly exitCode?: number | null | undefined;
  readonly unfinished?: boolean | undefined;
  readonly partOf?: string | undefined;
  readonly changes?: "files" | "other" | undefined;
  readonly diffs?: readonly string[] | undefined;
}

/** A call that its block did not await may end after the block, even during a later iteration; `isLate` is then true.
 * `iteration` is 1-based. */
export interface CallOrigin {
  readonly iteration: number;
  readonly isLate: boolean;
}

export interface LateCall extends Pick<CallOrigin, "iteration"> {
  readonly block: number;
  readonly call: BlockCall;
  readonly diffs: readonly string[];
}

type RecordedHostCall =
  & Pick<HostCallEvent, "name" | "ok" | "action" | "outcome" | "refusedByUser" | "output" | "hint" | "exitCode">
  & { readonly phase?: HostCallEvent["phase"] };

export interface CallOutcome {
  readonly text: string;
  /** False means that the call failed in its purpose. */
  readonly ok?: boolean;
  readonly refusedByUser?: boolean;
  /** For a failed call, Vis shows the last lines of this output, and the lines that name a failure. */
  readonly output?: string | readonly string[];
  readonly hint?: string;
  /** This variable has the whole of a long output, for the model. */
  readonly kept?: string;
  /** The call ran a command with this exit code; null if the command has none. */
  readonly exitCode?: number | null;
  /** `subject` names the object of the call, or each of its objects, if the arguments do not. */
  readonly subject?: string | readonly string[];
  /** If true, a later call must finish the work, such as a merge with conflicts. If false, this call has finished the
   * work of its namespace. */
  readonly unfinished?: boolean;
  /** The summary below an answer omits the call if a later call of its namespace with the same text has finished the
   * work (`unfinished: false`). */
  readonly partOf?: string;
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
const SUBJECT_ITEMS = 10;
const MOST_SUBJECTS = 100;

/** Channels show these words, such as "reading src/app.ts" and "read 3 files". */
export interface CallAction {
  readonly doing: string;
  readonly done: string;
  readonly things: string;
  /** The first `named` arguments name the object of the call; the default is 1. */
  readonly named?: number;
  /** Calls with the same arguments in different folders are different calls. */
  readonly folder?: string;
  readonly limitMs?: number;
}

interface CalledAction extends Pick<CallAction, "doing" | "done" | "things"> {
  readonly subject: string;
  readonly subjects?: readonly string[] | undefined;
}

export function calledAction(
  { doing, done, things, named = 1, folder = "" }: CallAction,
  args: readonly unknown[],
): CalledAction {
  const words = args.slice(0, named).flatMap((given) => [...new Set(wordsIn(given))]).join(" ");
  if (folder === "") return aboutSubject({ doing, done, things }, words);
  const where = ` in ${oneLine(visibleText(folder), SUBJECT_CHARS / 2)}`;
  return aboutSubject({ doing, done, things }, oneLine(visibleText(words), SUBJECT_CHARS - where.length) + where);
}

export function aboutSubject(
  { doing, done, things }: CallAction,
  subject: string | readonly string[],
): CalledAction {
  const names = typeof subject === "string" ? [subject] : [...new Set(subject)].slice(0, MOST_SUBJECTS);
  const [text = "", ...subjects] = [names.join(", "), ...names].map((name) =>
    oneLine(visibleText(name), SUBJECT_CHARS)
  );
  return { doing, done, things, subject: text, ...subjects.length > 1 ? { subjects } : {} };
}

function wordsIn(given: unknown): readonly string[] {
  return (Array.isArray(given) ? given.slice(0, SUBJECT_ITEMS) : [given]).flatMap((one: unknown) => {
    const word: unknown = typeof one === "object" && one !== null ? Reflect.get(one, "path") : one;
    return typeof word === "string" ? [word.slice(0, SUBJECT_CHARS * 4)] : [];
  });
}

const MOST_COUNTED = 10_000;

/** Several edits of a file count as one file. */
export class CalledThings {
  readonly #names = new Set<string>();
  #others = 0;

  add({ things, subject, subjects }: CalledAction, { exitCode }: Pick<HostCallEvent, "exitCode">): void {
    const isCounted = subject === "" || things === "times" || exitCode !== undefined ||
      this.#names.size >= MOST_COUNTED;
    if (isCounted) this.#others++;
    else for (const name of subjects ?? [subject]) this.#names.add(name);
  }

  get count(): number {
    return this.#names.size + this.#others;
  }
}

type State = "good" | "bad" | "threw" | "refused";

interface Tally extends CalledAction {
  calls: number;
  readonly called: CalledThings;
  readonly state: State;
  readonly outcome: string;
  readonly isOne: boolean;
}

export interface CallLine {
  readonly state: "ok" | "refused" | "failed";
  readonly text: string;
}

const MARKS = { ok: "✓", refused: "–", failed: "✗" } as const;

export function withMark({ state, text }: CallLine): string {
  return `${MARKS[state]} ${text}`;
}

export function callsText(lines: readonly CallLine[]): string {
  return lines.map(lines.every(({ state }) => state === "ok") ? ({ text }) => text : withMark).join(", ");
}

const NAMED_FAILURES = 3;

const LEAST_SUBJECT = 12;

export interface Measure {
  readonly length: (text: string) => number;
  readonly cut: (text: string, most: number) => string;
}

const CHARACTERS: Measure = { length: (text) => text.length, cut: shorten };
const MOST_OUTPUTS = 3, OUTPUT_CHARS = 5_000;

export class BlockTally {
  readonly #kinds = new Map<string, Tally>();
  readonly #words = new Map<string, CalledAction>();
  readonly #outputs: { readonly subject: string; readonly output: string }[] = [];
  failed = false;
  refused = false;
  /** This is the message of the first call that threw an error, which the block may have caught. */
  reason = "";

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
    const words = this.#words.get(name); // Vis records words only for the first calls of a block.
    const action = own ?? (words && { ...words, subject: "", subjects: undefined });
    if (!action) return;
    this.#words.set(name, action);
    const state = ok ? "good" : refused ? "refused" : outcome === "" ? "threw" : "bad";
    if (refused) this.refused = true;
    else if (!ok) this.failed = true;
    if (state === "threw") this.reason ||= output;
    else if (output !== "" && this.#outputs.length < MOST_OUTPUTS) {
      this.#outputs.push({ subject: action.subject, output: output.slice(0, OUTPUT_CHARS) });
    }
    const all = `${state}\n${action.done}\n${action.things}`, one = `${all}\n${action.subject}`;
    const ones = [...this.#kinds.keys()].filter((key) => key.startsWith(`${all}\n`));
    const isOne = !ok && !refused && action.subject !== "" && (ones.includes(one) || ones.length < NAMED_FAILURES);
    const kind = isOne ? one : all;
    const known = this.#kinds.get(kind) ?? { ...action, state, calls: 0, called: new CalledThings(), outcome, isOne };
    this.#kinds.set(kind, known);
    known.calls++;
    known.called.add(action, told);
  }

  get text(): string {
    return textWithin([...this.#kinds.values()], Infinity);
  }

  linesWithin(width: number, measure?: Measure): readonly CallLine[] {
    return (["ok", "refused", "failed"] as const).flatMap((state) => {
      const kinds = [...this.#kinds.values()].filter((tally) => lineState(tally) === state);
      return kinds.length === 0 ? [] : [{ state, text: textWithin(kinds, width, measure) }];
    });
  }

  get output(): string {
    const several = this.#outputs.length > 1;
    return this.#outputs.map(({ subject, output }) => several && subject !== "" ? `${subject}:\n${output}` : output)
      .join("\n");
  }
}

function lineState({ state }: Tally): CallLine["state"] {
  return state === "good" ? "ok" : state === "refused" ? "refused" : "failed";
}

/** The result may be longer than the width, because outcomes stay whole. */
function textWithin(kinds: readonly Tally[], width: number, measure = CHARACTERS): string {
  const { length } = measure;
  const text = kinds.map(textOf).join(", "), over = length(text) - width;
  if (over <= 0) return text;
  const shown = kinds.map((tally) => isNamed(tally) ? length(tally.subject) : 0);
  const longest = Math.max(...shown);
  const most = Math.max(LEAST_SUBJECT, longest - over);
  const short = (tally: Tally): Tally => ({ ...tally, subject: shortSubject(tally.subject, most, measure) });
  return kinds.map((tally, at) => textOf(shown[at] === longest ? short(tally) : tally)).join(", ");
}

function shortSubject(subject: string, most: number, { length, cut }: Measure): string {
  let rest = /\s/.test(subject) ? "" : subject;
  while (rest.includes("/") && length(`…/${rest}`) > most) rest = rest.slice(rest.indexOf("/") + 1);
  return cut(rest === "" || rest === subject ? subject : `…/${rest}`, most);
}

function isNamed({ calls, called, isOne }: Pick<Tally, "calls" | "called" | "isOne">): boolean {
  return isOne || calls === 1 || called.count === 1;
}

function textOf(tally: Tally): string {
  const { doing, done, things, subject, calls, called, state, outcome, isOne } = tally;
  const times = isOne && called.count > 1 ? ` ${called.count} times` : "";
  const what = isNamed(tally) ? `${subject}${times}` : `${called.count} ${things}`;
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
  { name, message, advice = "" }: { readonly name: string; readonly message: string; readonly advice?: string },
  fields: Partial<BlockResult> = {},
): BlockResult {
  return blockResult({
    outcome,
    timedOut: outcome === "timeout",
    error: { name, message, ...advice === "" ? {} : { advice }, line: null, column: null, excerpt: "", stack: "" },
    ...fields,
  });
}

export function errorForModel({ message, advice = "" }: Pick<BlockError, "message" | "advice">): string {
  return message + advice;
}

export function withAdvice(error: BlockError, more: string): BlockError {
  return { ...error, advice: `${error.advice ?? ""}; ${more}` };
}

export interface FormerResult {
  /** The value is codec bytes, or null for no value and for a value that Vis could not store. */
  readonly value: Uint8Array<ArrayBuffer> | null;
  readonly held: string;
  readonly printed: string;
}

/** A new sandbox process gets these `results` and `printed` values of the process that it replaces. */
export interface FormerResults {
  readonly shown: readonly FormerResult[];
  readonly running: readonly FormerResult[];
  readonly iteration: number;
}
