import { harmlessText, oneLine } from "../../../domain/kit/text.ts";
import { blockFailure, blockLine, type QueryProgress, type StepBlock } from "../../../domain/query/query_progress.ts";

const SHOWN_CHARS = 3_000;

/** What a chat shows of a running query, the given milliseconds after its message. */
export function progressView(progress: QueryProgress, ms: number): string {
  const { step, answer } = progress;
  const head = `⏳ step ${step?.number ?? 1} · ${Math.round(ms / 1000)} s`;
  if (answer !== "") return `${head}\n\n${tail(harmlessText(answer))}`;
  const doing = doingOf(progress);
  const lines = [
    oneLine(harmlessText(step?.thinking.slice(0, SHOWN_CHARS) ?? ""), 300),
    ...(step?.blocks ?? []).map(failureOf),
    doing && `▸ ${doing}`,
  ];
  return [head, ...lines.filter((line) => line !== "")].join("\n").toWellFormed();
}

/** What failed in a block that has ended; "" if nothing did. */
function failureOf(block: StepBlock): string {
  const { text, isCode, ok } = blockLine(block);
  if (block.result === null || ok) return "";
  const why = block.result.ok ? "" : blockFailure(block.result);
  return oneLine(harmlessText(`✗ ${[isCode ? "" : text, why].filter((part) => part !== "").join(" · ")}`), 300);
}

function doingOf({ phase, doing, question, step, block }: QueryProgress): string {
  if (phase === "delayed" || question !== null) return doing;
  if (!["running", "calling", "child"].includes(phase)) return "";
  const { code = "", calling = "" } = step?.blocks[block] ?? {};
  return calling === "" ? firstLine(code) : oneLine(harmlessText(calling), 120);
}

function firstLine(code: string): string {
  return oneLine(harmlessText(code.split("\n").find((line) => line.trim() !== "") ?? ""), 120);
}

/** The end of the text being written. */
function tail(text: string): string {
  if (text.length <= SHOWN_CHARS) return text.toWellFormed();
  return `…${text.slice(-SHOWN_CHARS).replace(/^[\udc00-\udfff]/, "")}`.toWellFormed();
}
