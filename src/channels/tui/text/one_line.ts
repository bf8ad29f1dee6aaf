import { stripTerminalSequences, truncateToWidth } from "@earendil-works/pi-tui";
import { counted, durationText, oneLine, visibleText } from "../../../domain/kit/text.ts";
import { aboutText, type Spend } from "../../../domain/query/model_call.ts";

const UNITS = ["bytes", "KB", "MB", "GB"] as const;

export const amounts = {
  bytes(count: number): string {
    let [size, unit] = [count, 0];
    while (size >= 1000 && unit < UNITS.length - 1) [size, unit] = [size / 1000, unit + 1];
    return unit === 0 ? counted(count, "byte") : `${size.toFixed(1)} ${UNITS[unit]}`;
  },
  count(number: number, noun: string): string {
    return counted(number, noun, number.toLocaleString("en"));
  },
  tokens(count: number): string {
    if (count < 1_000) return String(count);
    return count < 1_000_000
      ? `${(count / 1_000).toFixed(count < 10_000 ? 1 : 0)}k`
      : `${(count / 1_000_000).toFixed(1)}M`;
  },
  dollars(usd: number): string {
    return `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
  },
  spent({ usage, costUsd }: Spend): readonly string[] {
    const { input, output } = usage;
    const isCounted = input + output > 0;
    return [
      ...(isCounted ? [`${aboutText(usage)}↑${amounts.tokens(input)} ↓${amounts.tokens(output)}`] : []),
      ...(costUsd === null && isCounted ? ["price unknown"] : []),
      ...(costUsd === null || costUsd === 0 ? [] : [`${aboutText(usage)}${amounts.dollars(costUsd)}`]),
    ];
  },
  time: durationText,
  cost(usd: number): string {
    return usd === 0 ? "$0" : `$${usd.toFixed(usd < 0.01 ? 6 : 4)}`;
  },
} as const;

const MOST = 500;

/** A text may come from a model, a user or the database, so the result has no control characters. */
export function flat(text: string, limit = MOST): string {
  return visibleText(oneLine(text.slice(0, limit * 4 + 1), limit).toWellFormed());
}

export function fitted(
  text: string,
  { width, pad = false }: { readonly width: number; readonly pad?: boolean },
): string {
  const cut = stripTerminalSequences(truncateToWidth(text, Math.max(0, width), "…", pad));
  return pad ? cut : cut.replace(/…\s*…$/, "…");
}

const sgr = (on: number, off: number) => (text: string): string => text === "" ? "" : `\x1b[${on}m${text}\x1b[${off}m`;

export const paint = {
  bold: sgr(1, 22),
  dim: sgr(2, 22),
  italic: sgr(3, 23),
  inverse: sgr(7, 27),
} as const;
