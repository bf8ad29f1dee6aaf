import { BoundedMap } from "../domain/kit/bounded_map.ts";
import { oneLine, shorten } from "../domain/kit/text.ts";
import type { BlockResult } from "../domain/query/query_schemas.ts";
import { createHash } from "node:crypto";

const PREFIX = "[system_nudge]";
const MAX_CHARS = 200;

interface NudgeFacts {
  readonly used: number;
  readonly budget: number;
  /** "new" means that new results extend the budget, "request" that the model must request more, and "none" that the
   * budget is at the ceiling. */
  readonly growth: "new" | "request" | "none";
  readonly userVariables: number;
  readonly offender: string | null;
  readonly stale: boolean;
  readonly repaired: string;
  readonly last: boolean;
}

const FEW_LEFT = 1;
const GROWTH: Readonly<Record<NudgeFacts["growth"], string>> = {
  new: "Blocks with new results add more, as does requestMoreIterations(n).",
  request: "requestMoreIterations(n) adds more.",
  none: "The budget is at its ceiling; one last call takes the answer.",
};
const MANY_VARIABLES = 150;
const OFFENDER_CHARS = 80;
const REPAIRED_CHARS = 80;

export function builtinNudges(
  { used, budget, growth, userVariables, offender, stale, repaired, last }: NudgeFacts,
): string[] {
  const lines: string[] = [];
  const remaining = Math.max(0, budget - used - 1);
  if (last) return [];
  if (remaining <= FEW_LEFT) {
    const left = remaining === 0 ? "No iteration is" : "One iteration is";
    lines.push(`${left} left after this one. ${GROWTH[growth]}`);
  }
  if (userVariables > MANY_VARIABLES) {
    lines.push(`${userVariables} variables: the index is cut. Drop what you no longer need: await forget("a", "b").`);
  }
  if (offender !== null) {
    lines.push(
      `The same outcome again: ${oneLine(offender, OFFENDER_CHARS)}. It will not change; try another approach.`,
    );
  }
  if (stale && offender === null) {
    lines.push("Your last blocks showed only what was shown before: use what you have, or look elsewhere.");
  }
  if (repaired !== "") {
    const what = oneLine(repaired, REPAIRED_CHARS);
    lines.push(
      `Your last reply had to be repaired (${what}). Send exactly one JSON object, nothing before or after it.`,
    );
  }
  return lines.map((line) => `${PREFIX} ${line}`);
}

export interface NudgeWarning {
  readonly namespace: string;
  readonly problem: string;
}

export function extensionNudges(
  nudges: readonly { readonly namespace: string; readonly text: unknown }[],
  onWarn: (warning: NudgeWarning) => void,
): string[] {
  return nudges.flatMap(({ namespace, text }) => {
    const warn = (problem: string) => onWarn({ namespace, problem });
    return typeof text === "string" && text.trim() !== "" ? [`${PREFIX} ${shortened(unprefixed(text), warn)}`] : [];
  });
}

function unprefixed(text: string): string {
  const line = text.slice(0, MAX_CHARS * 10).replace(/\s+/g, " ").trim();
  return line.startsWith(PREFIX) ? line.slice(PREFIX.length).trimStart() : line;
}

function shortened(line: string, warn: (problem: string) => void): string {
  if (line.length <= MAX_CHARS) return line;
  warn(`Nudge cut to ${MAX_CHARS} characters: it had ${line.length}`);
  return shorten(line, MAX_CHARS);
}

interface Entry {
  readonly code: string;
  readonly result: BlockResult;
}

const TIMES = 3;
const MAX_KEYS = 2_000, MAX_LINES = 20_000;
const MAX_SEEN = 60_000, LINE_CHARS = 200;
const EDGED = 5;
const PLACE = /^(?:[^\s:]{1,200}:)?\s*\d{1,7}(?:\s*[:|)\t]|\s-|-|\s)\s*/;
const MAX_COMPARED = 4_000;
const TELLING_RESULT = 40;

/** A block repeats if it ran before with the same result, even with other names. An error repeats if blocks of earlier
 * replies had the same error. */
export class Repetition {
  readonly #counts = new BoundedMap<string, number>(MAX_KEYS);
  readonly #lines = new BoundedMap<string, true>(MAX_LINES);
  #offender: string | null = null;
  #news = false;
  #stale = false;

  get news(): boolean {
    return this.#news;
  }

  get isStale(): boolean {
    return this.#stale;
  }

  record(entries: readonly Entry[]): void {
    this.#offender = null;
    this.#news = false;
    this.#stale = entries.length > 0;
    let most = TIMES - 1;
    const errors = new Set<string>();
    for (const entry of entries) {
      const times = this.#count(blockKey(entry));
      const showsNew = this.#showsNewLine(entry.result);
      const isNew = times === 1 && (hasChanged(entry.result) || showsNew);
      if (entry.result.ok && isNew) this.#news = true;
      if (!entry.result.ok || hasChanged(entry.result) || showsNew) this.#stale = false;
      if (times > most) {
        most = times;
        this.#offender = `${oneLine(entry.code, 44)}${cameText(entry)} (${times}×)`;
      }
      const { error } = entry.result;
      const key = error ? hash("error", [error.name, error.message]) : "";
      if (!error || errors.has(key)) continue;
      errors.add(key); // Several blocks of a reply may fail for the same reason, which counts once.
      const replies = this.#count(key);
      if (replies > most) {
        most = replies;
        this.#offender = `${oneLine(`${error.name}: ${error.message}`, 60)} (in ${replies} replies)`;
      }
    }
  }

  /** Returns null unless the last recorded iteration repeats an action for at least the third time. */
  offender(): string | null {
    return this.#offender;
  }

  /** Brief results may be equal by chance, so a brief result counts as new. */
  #showsNewLine({ preview, stdout, stderr, calls }: BlockResult): boolean {
    const text = [stdout, stderr, preview].map((part) => part.slice(0, MAX_SEEN)).join("\n");
    const lines = text.split("\n").map((line) => line.replace(PLACE, "").trim().slice(0, LINE_CHARS))
      .filter((line) => /[\p{L}\p{N}]/u.test(line));
    // A text that was cut at an arbitrary place can begin and end inside a line.
    const isCut = lines.length >= EDGED && !calls.some(({ exitCode }) => exitCode !== undefined);
    const telling = isCut ? lines.slice(1, -1) : lines;
    const isNew = telling.some((line) => this.#lines.get(line) === undefined);
    for (const line of lines) this.#lines.set(line, true);
    return isNew || text.length < TELLING_RESULT;
  }

  #count(key: string): number {
    const times = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, times);
    return times;
  }
}

/** For a command, only changes of files that Vis recorded count. */
function hasChanged({ calls }: BlockResult): boolean {
  return calls.some(({ changes, exitCode }) => changes === "files" || changes !== undefined && exitCode === undefined);
}

function blockKey({ code, result }: Entry): string {
  const { outcome, type, preview, stdout, error } = result;
  const said = error ? [error.name, error.message] : [outcome, type, preview, stdout];
  return hash("block", [withoutNames(code, result.defined), ...said]);
}

/** Replaces the names that the code defines, so that `const a2 = f(1)` equals `const a = f(1)`. */
function withoutNames(code: string, defined: readonly string[]): string {
  const names = new Set(defined.slice(0, 100));
  return code.slice(0, MAX_COMPARED).replace(/[\p{ID_Start}$_][\p{ID_Continue}$]*|\s+/gu, (word) => {
    if (names.has(word)) return "_";
    return /^\s/.test(word) ? " " : word;
  }).trim();
}

function cameText({ result: { error, preview } }: Entry): string {
  const came = error ? `${error.name}: ${error.message}` : preview;
  return came ? ` → ${oneLine(came, 22)}` : "";
}

function hash(kind: string, parts: readonly string[]): string {
  const text = parts.map((part) => `${part.length}:${part.slice(0, MAX_COMPARED)}`).join("");
  return `${kind}:${createHash("sha256").update(text).digest("base64")}`;
}
