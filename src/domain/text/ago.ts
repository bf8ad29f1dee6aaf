const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A time in the time zone of the process: "2026-11-22 10:30", or to the day, second or millisecond. */
export function localTime(at: number, to: "day" | "minute" | "second" | "ms" = "minute"): string {
  const local = new Date(at - new Date(at).getTimezoneOffset() * MINUTE);
  return local.toISOString().replace("T", " ").slice(0, { day: 10, minute: 16, second: 19, ms: 23 }[to]);
}

/** Elapsed time in few characters; the date if it was more than a month ago. */
export function ago(at: number, now: number): string {
  const passed = now - at;
  if (passed < MINUTE) return "now";
  if (passed < HOUR) return `${Math.floor(passed / MINUTE)} min`;
  if (passed < DAY) return `${Math.floor(passed / HOUR)} h`;
  if (passed < 30 * DAY) return `${Math.floor(passed / DAY)} d`;
  return localTime(at, "day");
}
