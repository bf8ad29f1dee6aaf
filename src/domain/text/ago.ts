const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Elapsed time in few characters; the date if it was more than a month ago. */
export function ago(at: number, now: number): string {
  const passed = now - at;
  if (passed < MINUTE) return "now";
  if (passed < HOUR) return `${Math.floor(passed / MINUTE)} min`;
  if (passed < DAY) return `${Math.floor(passed / HOUR)} h`;
  if (passed < 30 * DAY) return `${Math.floor(passed / DAY)} d`;
  return new Date(at).toISOString().slice(0, 10);
}
