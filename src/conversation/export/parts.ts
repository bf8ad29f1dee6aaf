import { clip } from "../../domain/text/clip.ts";
import { reasonText } from "../../domain/query/reason_text.ts";
import type { RecordedIteration, RecordedQuery } from "../../domain/records/recording.ts";
import { visibleText } from "../../domain/text/visible_text.ts";

/** Longer texts are cut for reading; the JSON export contains them whole. */
const MAX_CHARS = 100_000;

/** Stored text for a page: without control characters and limited in length. */
export function pageText(text: string): string {
  return visibleText(clip(text, MAX_CHARS).toWellFormed());
}

/** Facts about how a query ended. */
export function endFacts(query: RecordedQuery): readonly string[] {
  const { running, status, reason, confidence, usage, costUsd, ms, iterations } = query;
  return [
    running
      ? "still running"
      : status === "done"
      ? `answered (${confidence} confidence)`
      : reason === null
      ? status
      : reasonText(reason),
    `${iterations.length} ${iterations.length === 1 ? "step" : "steps"}`,
    `${(ms / 1000).toFixed(1)} s`,
    `${usage.input} in + ${usage.output} out tokens`,
    ...(costUsd === null && usage.calls > 0 ? ["price unknown"] : []),
    ...(costUsd === null || costUsd === 0 ? [] : [`$${costUsd.toFixed(4)}`]),
  ];
}

/** The labelled results of a block, without empty ones. */
export function resultParts(
  { result }: RecordedIteration["blocks"][number],
): readonly { readonly label: "result" | "output" | "error output" | "error"; readonly text: string }[] {
  const { preview, stdout, stderr, error } = result;
  const parts = [
    { label: "result", text: preview },
    { label: "output", text: stdout },
    { label: "error output", text: stderr },
    { label: "error", text: error === null ? "" : `${error.name}: ${error.message}\n${error.excerpt}`.trimEnd() },
  ] as const;
  return parts.filter(({ text }) => text !== "");
}

/** A time to the minute. */
export function minute(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
