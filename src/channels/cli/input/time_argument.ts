import { InvalidArgumentError } from "commander";

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };

/** Milliseconds since the epoch of `2026-11-22`, `2026-11-22T10:30` (local time) or `3d` (so long ago). Throws what
 * commander takes for a wrong value. */
export function timeArgument(text: string): number {
  const [, number, unit = ""] = /^(\d{1,6})([mhdw])$/.exec(text.trim()) ?? [];
  if (number !== undefined) return Date.now() - Number(number) * (UNITS[unit] ?? 0);
  const day = /^\d{4}-\d\d-\d\d$/.test(text.trim()) ? `${text.trim()}T00:00` : text.trim();
  const at = /^\d{4}-\d\d-\d\dT/.test(day) ? new Date(day).getTime() : NaN;
  if (Number.isFinite(at)) return at;
  throw new InvalidArgumentError(
    "It must be a date such as 2026-11-22, a time such as 2026-11-22T10:30, or an age such as 3d",
  );
}
