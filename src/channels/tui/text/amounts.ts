import { durationText } from "../../../domain/text/duration_text.ts";

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
  time: durationText,
  cost(usd: number): string {
    return usd === 0 ? "$0" : `$${usd.toFixed(usd < 0.01 ? 6 : 4)}`;
  },
} as const;
