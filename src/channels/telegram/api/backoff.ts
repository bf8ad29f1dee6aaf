import { backoffMs } from "../../../domain/kit/time.ts";

const WAITS = { firstMs: 1_000, mostMs: 60_000 };

/** Time to wait for Telegram after a number of failures in a row. */
export function backoff(failures: number, random: () => number): number {
  return Math.round(backoffMs(failures, { ...WAITS, random }));
}
