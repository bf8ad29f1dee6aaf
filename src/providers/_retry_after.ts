/** Milliseconds that a response asks to wait: `retry-after-ms`, or `retry-after` as seconds or as a date (RFC 9110,
 * 10.2.3). Null where it asks nothing readable; a date in the past is 0. */
export function retryAfterMs(headers: Headers, now: number): number | null {
  const exact = numberIn(headers.get("retry-after-ms"));
  if (exact !== null) return Math.ceil(exact);
  const text = headers.get("retry-after");
  const seconds = numberIn(text);
  if (seconds !== null) return Math.ceil(seconds * 1000);
  // An HTTP date starts with the day's name; Date.parse would read "-4" as a year.
  const date = text !== null && /^\s*[A-Za-z]{3}/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

function numberIn(text: string | null): number | null {
  return text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : null;
}
