import { oneLine } from "../../domain/text/clip.ts";
import type { IterationOutcome } from "../../domain/query/query_event.ts";
import type { JournalEntry } from "./context_parts.ts";

const LINE_CHARS = 160;
const CODE_CHARS = 70;

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

/** Defined names say more than their values, which the index shows. */
function valuesOf(entries: readonly JournalEntry[]): string {
  const defined = entries.flatMap(({ result }) => result.defined).slice(0, 8);
  if (defined.length > 0) return `defined ${defined.join(", ")}`;
  const last = entries.at(-1)?.result;
  return last?.preview ? oneLine(last.preview.replace(/^"""\n/, ""), 60) : "ok";
}
