import { oneLine } from "../../domain/kit/text.ts";
import type { IterationOutcome } from "../../domain/query/outcomes.ts";
import type { BlockError, BlockOutcome, BlockResult } from "../../domain/query/query_schemas.ts";
import { cutRaw, fairShares, type RawCut, safeLine, wholeLines } from "./_safe_text.ts";
import type { ContextCaps, JournalEntry } from "./context_parts.ts";

/** The model wrote the code itself, so head and tail are enough as a reminder. */
const CODE_CHARS = 2_000;
const MAX_ROWS = 100;
const SLOW_MS = 5_000;
/** Arrows, labels, times and line feeds of one row. */
const ROW_OVERHEAD = 90;

type JournalCaps = Pick<ContextCaps, "journalChars" | "previewChars" | "stdoutChars" | "stderrChars" | "errorChars">;

/** What a cut must at least save: a smaller one costs the reader more than it gives. */
const LEAST_CUT = 300;
/** Kept back if something must be cut, for pieces that would lose less than `LEAST_CUT`. */
const SLACK = 1_200;

/** Part of a row, safe, and whole unless it is far larger than any journal. */
interface Piece extends RawCut {
  /** At most this many characters are shown. */
  readonly cap: number;
  /** Where to read the whole of it. */
  readonly more: string;
}

interface Row {
  readonly number: number;
  readonly result: BlockResult;
  readonly facts: readonly string[];
  readonly pieces: { readonly code: Piece; readonly outcome: Piece; readonly stdout: Piece; readonly stderr: Piece };
}

/** The rows of one iteration, within `journalChars`. */
export function renderJournal(entries: readonly JournalEntry[], caps: JournalCaps): string {
  const gap = Math.max(0, entries.length - MAX_ROWS);
  const first = gap > 0 ? MAX_ROWS / 2 : entries.length;
  const shown = entries.flatMap((entry, at) => at < first || at >= first + gap ? [rowOf({ ...entry, at }, caps)] : []);
  const overhead = shown.reduce(
    (sum, row) => sum + ROW_OVERHEAD + row.facts.join("").length + 8 * row.facts.length,
    80,
  );
  const pieces = shown.map(({ pieces }) => [pieces.code, pieces.outcome, pieces.stdout, pieces.stderr]);
  const texts = cutPieces(pieces.flat(), caps.journalChars - overhead);
  const lines = shown.map((row, at) => renderRow(row, texts.slice(4 * at, 4 * at + 4)));
  if (gap > 0) lines.splice(first, 0, `  … ${gap} blocks left out: results[${first}] to results[${first + gap - 1}] …`);
  return lines.join("\n");
}

function rowOf({ code, result, at }: JournalEntry & { readonly at: number }, caps: JournalCaps): Row {
  const failed = result.error !== null || !result.ok;
  return {
    number: at + 1,
    result,
    facts: factsOf(result),
    pieces: {
      code: piece(code.trim(), { cap: CODE_CHARS }),
      outcome: failed
        ? piece(errorText(result, code.trim()), { cap: caps.errorChars })
        : piece(valueText(result), { cap: caps.previewChars, more: `, all in results[${at}]` }),
      stdout: piece(result.stdout.trimEnd(), { cap: caps.stdoutChars, more: `, all in printed[${at}]` }),
      stderr: piece(result.stderr.trimEnd(), { cap: caps.stderrChars, more: `, all in printed[${at}]` }),
    },
  };
}

function piece(text: string, { cap, more = "" }: { readonly cap: number; readonly more?: string }): Piece {
  return { ...cutRaw(text, cap), cap, more };
}

/** Everything whole if it fits into `total`; otherwise the largest pieces are cut, each once. */
function cutPieces(pieces: readonly Piece[], total: number): string[] {
  const needs = pieces.map(({ text, cap }) => text.length - cap < LEAST_CUT ? text.length : cap);
  const fits = needs.reduce((sum, need) => sum + need, 0) <= total;
  const shares = fits ? needs : fairShares(needs, total - SLACK);
  let slack = fits ? 0 : SLACK;
  return pieces.map((piece, at) => {
    const share = shares[at] ?? 0;
    const over = piece.text.length - share;
    if (piece.hidden > 0 || over > Math.min(slack, LEAST_CUT)) return wholeLines(piece, share);
    slack -= Math.max(0, over);
    return piece.text;
  });
}

function renderRow({ number, result, facts }: Row, texts: readonly string[]): string {
  const [code = "", outcome = "", stdout = "", stderr = ""] = texts;
  const lines = [`  [${number}] ${code} → ${labelOf(result)}${outcome}${timeOf(result)}`];
  if (stdout) lines.push(`      stdout: ${stdout}`);
  if (stderr) lines.push(`      stderr: ${stderr}`);
  for (const fact of facts) lines.push(`      ${fact}`);
  return lines.join("\n");
}

const LABELS: Readonly<Record<BlockOutcome, string>> = {
  value: "",
  none: "",
  error: "ERROR ",
  refused: "REFUSED ",
  timeout: "TIMEOUT ",
  killed: "KILLED ",
  memory: "OUT OF MEMORY ",
  cancelled: "CANCELLED ",
};

/** Names of errors that the label of the row says already. */
const LABELLED = new Set(["Refused", "Timeout", "OutOfMemory", "Cancelled"]);

function labelOf({ ok, outcome, type, size, preview }: BlockResult): string {
  if (!ok) return LABELS[outcome] || "ERROR ";
  const sized = size !== null && (type === "Array" && size > 0 || preview.length > 200);
  return sized && !preview.startsWith(type) ? `${safeLine(type, 60)}(${size}) ` : "";
}

function valueText({ outcome, preview, type }: BlockResult): string {
  return outcome === "none" ? "ok" : preview || type || "ok";
}

function errorText({ error, outcome }: BlockResult, code: string): string {
  if (error === null) return outcome === "timeout" ? "no result in time" : "no result";
  const where = error.line === null ? "" : ` (line ${error.line}${error.column === null ? "" : `:${error.column}`})`;
  const detail = detailOf(error, code);
  const name = outcome !== "error" && LABELLED.has(error.name) ? "" : `${error.name}: `;
  return `${name}${error.message}${where}${detail ? `\n${detail}` : ""}`;
}

/** The excerpt, without what the row of a block of one line shows already. */
function detailOf({ excerpt, line, stack }: BlockError, code: string): string {
  if (excerpt === "") return line === null ? stack : "";
  const [shown = "", _caret, ...origin] = excerpt.split("\n");
  return shown.trim() === code ? origin.join("\n") : excerpt;
}

/** A block that waits for a function of Vis, such as a call of a model, is not slow itself. */
function timeOf({ ms, calls }: BlockResult): string {
  if (ms < 10) return "";
  const text = ms < 1_000 ? `${Math.round(ms)}ms` : `${(ms / 1_000).toFixed(1)}s`;
  const own = calls.reduce((left, call) => left - call.ms, ms);
  return `  (${text}${own >= SLOW_MS ? " SLOW" : ""})`;
}

function factsOf({ repaired, dropped, lost, pending, timedOut, outcome }: BlockResult): string[] {
  const facts: string[] = [];
  if (timedOut && outcome !== "timeout") facts.push("timed out");
  if (repaired !== null) facts.push(`repaired before it ran: ${safeLine(repaired, 200)}`);
  if (dropped > 0) facts.push(`${dropped} more characters of output were not kept`);
  if (pending.length > 0) facts.push(`still pending: ${safeLine(names(pending), 200)}`);
  if (lost.length > 0) facts.push(`lost variables: ${safeLine(names(lost), 300)}`);
  return facts;
}

function names(list: readonly string[]): string {
  const shown = list.slice(0, 20).join(", ");
  return list.length > 20 ? `${shown}, … ${list.length - 20} more` : shown;
}

const LINE_CHARS = 160;
const TRIED_CHARS = 70, PRINTED_CHARS = 60, MAX_LINES = 100;

interface Attempt {
  /** 1-based. */
  readonly iteration: number;
  readonly entries: readonly JournalEntry[];
  readonly outcome: IterationOutcome;
  /** Why it failed or was refused; null if neither. */
  readonly reason: string | null;
}

/** One line for a past iteration: what was tried, and the result. */
export function attemptLine(
  attempt: Attempt,
): string {
  const { iteration, entries } = attempt;
  const tried = entries.map(({ code }) => oneLine(code, TRIED_CHARS)).filter((code) => code !== "");
  const more = tried.length > 1 ? ` (+${tried.length - 1} blocks)` : "";
  const what = tried.length > 0 ? `${tried[0]}${more}` : "no code";
  const came = oneLine(cameOf(attempt), LINE_CHARS - 12 - what.length);
  return oneLine(`${iteration}: ${what} → ${came}`, LINE_CHARS);
}

function cameOf({ entries, outcome, reason }: Attempt): string {
  const failed = entries.filter(({ result }) => !result.ok);
  const error = failed[0]?.result.error;
  const why = reason ?? (error ? `${error.name}: ${error.message}` : "");
  switch (outcome) {
    case "failed":
      return `failed${why ? `: ${why}` : ""}`;
    case "refused":
      return `final refused${why ? `: ${why}` : ""}`;
    case "empty":
      return "nothing was run";
    case "final":
      return "final";
    case "executed":
      return failed.length === 0 ? valuesOf(entries) : `${failed.length} of ${entries.length} failed: ${why}`;
    default:
      return outcome satisfies never;
  }
}

/** The names that were defined, and the last line with a word that was printed, else the last value in short. */
function valuesOf(entries: readonly JournalEntry[]): string {
  const defined = entries.flatMap(({ result }) => result.defined).slice(0, 8);
  const names = defined.length > 0 ? `defined ${defined.join(", ")}` : "";
  const printed = entries.map(({ result }) => result.stdout.trimEnd()).findLast((text) => text !== "");
  if (printed !== undefined) {
    const lines = printed.split("\n");
    const line = lines.findLast((line) => /[\p{L}\p{N}]/u.test(line)) ?? lines.at(-1) ?? "";
    return `${names}${names && "; "}printed ${oneLine(line, PRINTED_CHARS)}`;
  }
  const last = entries.at(-1)?.result;
  const value = last?.preview ? oneLine(last.preview.replace(/^"""\n/, ""), PRINTED_CHARS) : "";
  return names && value ? `${names}; value ${value}` : names || value || "ok";
}

/** The lines of a query; one that repeats what the line before says is counted instead. */
export class Attempts {
  readonly #lines: { iteration: number; text: string; times: number }[] = [];

  add(attempt: Attempt): void {
    const text = attemptLine(attempt);
    const last = this.#lines.at(-1);
    if (last && withoutNumber(last.text) === withoutNumber(text)) {
      last.times++;
      return;
    }
    this.#lines.push({ iteration: attempt.iteration, text, times: 1 });
    if (this.#lines.length > MAX_LINES) this.#lines.shift();
  }

  /** Without the iteration that the journal shows: what came of that is there and in the notes. */
  newest(count: number, journal: number | null): readonly string[] {
    const lines = this.#lines.filter(({ iteration, times }) => iteration !== journal || times > 1);
    return lines.slice(-count).map(({ text, times }) => times === 1 ? text : counted(text, times));
  }
}

function counted(text: string, times: number): string {
  const suffix = ` × ${times}`;
  return `${oneLine(text, LINE_CHARS - suffix.length)}${suffix}`;
}

function withoutNumber(line: string): string {
  return line.replace(/^\d+: /, "");
}
