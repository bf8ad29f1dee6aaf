import { oneLine } from "../../domain/text/clip.ts";
import type { IterationOutcome } from "../../domain/query/query_event.ts";
import type { JournalEntry } from "./context_parts.ts";

const LINE_CHARS = 160;
const CODE_CHARS = 70, PRINTED_CHARS = 60, MAX_LINES = 100;

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
  const tried = entries.map(({ code }) => oneLine(code, CODE_CHARS)).filter((code) => code !== "");
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
