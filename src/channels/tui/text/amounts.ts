import { durationText } from "../../../domain/kit/text.ts";

const UNITS = ["bytes", "KB", "MB", "GB"] as const;

/** Numbers in few characters. */
export const amounts = {
  bytes(count: number): string {
    let [size, unit] = [count, 0];
    while (size >= 1000 && unit < UNITS.length - 1) [size, unit] = [size / 1000, unit + 1];
    return unit === 0 ? `${count} ${count === 1 ? "byte" : "bytes"}` : `${size.toFixed(1)} ${UNITS[unit]}`;
  },
  count(number: number, noun: string): string {
    return `${number.toLocaleString("en")} ${number === 1 ? noun : noun.replace(/y$/, "ie") + "s"}`;
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
  time: durationText,
  cost(usd: number): string {
    return usd === 0 ? "$0" : `$${usd.toFixed(usd < 0.01 ? 6 : 4)}`;
  },
} as const;
