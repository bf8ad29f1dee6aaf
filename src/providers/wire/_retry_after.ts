/** Milliseconds that a response asks to wait; null if it states nothing readable, 0 for a time in the past. Reads
 * `retry-after-ms`, then `retry-after` as seconds or as a date (RFC 9110, 10.2.3). For a 429 without these, the time
 * when the used-up limit is reset (`x-ratelimit-reset…`, `anthropic-ratelimit-…-reset`). */
export function retryAfterMs(
  headers: Headers,
  facts: { readonly now: number; readonly status: number },
): number | null {
  const exact = numberIn(headers.get("retry-after-ms"));
  if (exact !== null) return Math.ceil(exact);
  const text = headers.get("retry-after");
  const seconds = numberIn(text);
  if (seconds !== null) return Math.ceil(seconds * 1000);
  // An HTTP date starts with a weekday; Date.parse would read "-4" as a year.
  const date = text !== null && /^\s*[A-Za-z]{3}/.test(text) ? Date.parse(text) : NaN;
  if (!Number.isNaN(date)) return Math.max(0, date - facts.now);
  return facts.status === 429 ? resetMs(headers, facts.now) : null;
}

/** The longest wait of all limits that are used up or do not state what remains. */
function resetMs(headers: Headers, now: number): number | null {
  const waits: number[] = [];
  for (const [name, value] of headers) {
    if (!/^(x|anthropic)-ratelimit-(.*-)?reset(-.*)?$/.test(name)) continue;
    const left = numberIn(headers.get(name.replace("reset", "remaining")));
    const wait = left === null || left === 0 ? momentIn(value, now) : null;
    if (wait !== null) waits.push(Math.max(0, wait));
  }
  return waits.length === 0 ? null : Math.max(...waits);
}

/** Parses "6m0s" and "250ms" (OpenAI), seconds or milliseconds since 1970 (GitHub, OpenRouter), seconds from now, or a
 * date (Anthropic). Returns milliseconds from now. */
function momentIn(text: string, now: number): number | null {
  const number = numberIn(text);
  if (number !== null) {
    if (number > 1e11) return number - now;
    return number > 1e9 ? number * 1000 - now : number * 1000;
  }
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|d|h|m|s)/g)];
  if (parts.length > 0 && parts.map(([part]) => part).join("") === text.trim()) {
    return Math.ceil(parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNIT_MS[unit ?? "s"]!, 0));
  }
  const date = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(date) ? null : date - now;
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function numberIn(text: string | null): number | null {
  return text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : null;
}
