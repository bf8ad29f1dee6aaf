import { clip, oneLine, visibleText } from "../../domain/kit/text.ts";
import { BlockTally } from "../../domain/query/calls.ts";
import { reasonText } from "../../domain/query/outcomes.ts";
import { blockLine } from "../../domain/query/query_progress.ts";
import type { RecordedBlock, RecordedQuery } from "../../domain/records/recording.ts";

/** Longer texts are cut for reading; the JSON export contains them whole. */
const MAX_CHARS = 100_000;

/** Stored text for a page: without control characters and limited in length. */
export function pageText(text: string): string {
  return visibleText(clip(text, MAX_CHARS).toWellFormed());
}

/** Facts about how a query ended. */
export function endFacts(query: Omit<RecordedQuery, "iterations">, steps: number): readonly string[] {
  const { running, status, reason, confidence, usage, costUsd, ms } = query;
  return [
    running
      ? "still running"
      : status === "done"
      ? `answered (${confidence} confidence)`
      : reason === null
      ? status
      : reasonText(reason),
    `${steps} ${steps === 1 ? "step" : "steps"}`,
    `${(ms / 1000).toFixed(1)} s`,
    `${usage.input} in + ${usage.output} out tokens`,
    ...(costUsd === null && usage.calls > 0 ? ["price unknown"] : []),
    ...(costUsd === null || costUsd === 0 ? [] : [`$${costUsd.toFixed(4)}`]),
  ];
}

/** How a block ended, on one line without a mark: what its calls did, else the outcome. */
export function blockEnd({ code, result }: RecordedBlock): { readonly ok: boolean; readonly text: string } {
  const tally = BlockTally.of(result.calls);
  const { ok, text, isCode } = blockLine({ code, tally, result });
  return { ok, text: isCode ? result.outcome : oneLine(visibleText(text), 400) };
}

type PartLabel = "failed calls" | "result" | "output" | "error output" | "error" | "change";

/** The labelled results of a block, without empty ones. */
export function resultParts(
  { result, diffs }: RecordedBlock,
): readonly { readonly label: PartLabel; readonly text: string }[] {
  const { preview, stdout, stderr, error, calls } = result;
  const parts: readonly { readonly label: PartLabel; readonly text: string }[] = [
    ...diffs.map((text) => ({ label: "change" as const, text })),
    { label: "failed calls", text: BlockTally.of(calls).output },
    { label: "result", text: preview },
    { label: "output", text: stdout },
    { label: "error output", text: stderr },
    { label: "error", text: error === null ? "" : `${error.name}: ${error.message}\n${error.excerpt}`.trimEnd() },
  ];
  return parts.filter(({ text }) => text !== "");
}

/** A time to the minute. */
export function minute(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
