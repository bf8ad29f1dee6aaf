import { asRecord } from "../../domain/kit/as_record.ts";
import { readForeignJson } from "../../domain/text/read_foreign_json.ts";

/** What an error body, or an error within a stream, contains, in the shapes that services use. */
export interface Said {
  /** Not yet cleaned; "" if there is none. */
  readonly text: string;
  /** The service's code and type; "" if there are none. */
  readonly code: string;
  /** The HTTP status that matches the code, for errors that came with a success status. */
  readonly status: number;
  /** Milliseconds that it asks to wait; null if it does not. */
  readonly waitMs: number | null;
}

/** Whether JSON of a reply is an error instead: most services wrap it, old vLLM names it in `object`. */
export function isError(body: unknown): boolean {
  const { error, object } = asRecord(body);
  return (error !== undefined && error !== null) || object === "error";
}

/** Parses an error body: JSON text, a parsed value, or any other text. */
export function said(body: unknown): Said {
  if (typeof body === "string") {
    try {
      return said(readForeignJson(body));
    } catch {
      return { text: body, code: "", status: 500, waitMs: null };
    }
  }
  const value = asRecord(Array.isArray(body) ? body[0] : body);
  const inner = typeof value.error === "string" ? { message: value.error } : asRecord(value.error ?? value);
  const detail = Array.isArray(inner.detail) ? asRecord(inner.detail[0]).msg : inner.detail;
  const details = Array.isArray(inner.details) ? inner.details.map(asRecord) : [];
  // Gateways put the response of the service behind them into the metadata.
  const raw = asRecord(inner.metadata).raw;
  const texts = [inner.message, detail, value.message].filter((text) => typeof text === "string");
  const text = typeof raw === "string" && texts[0] !== undefined ? `${texts[0]}: ${raw}` : texts[0];
  const codes = [inner.code, inner.type, inner.status, ...details.map(({ reason }) => reason)];
  const code = codes.filter((code) => typeof code === "string" || typeof code === "number").join(" ");
  const waitMs = details.map(({ retryDelay }) => secondsIn(retryDelay)).find((ms) => ms !== null) ?? null;
  return { text: text ?? JSON.stringify(body) ?? "", code, status: statusIn(code), waitMs };
}

/** Parses "37s" or "1.5s" to milliseconds, as in google.rpc.RetryInfo. */
function secondsIn(text: unknown): number | null {
  const match = typeof text === "string" ? /^(\d+(?:\.\d+)?)s$/.exec(text) : null;
  return match ? Math.ceil(Number(match[1]) * 1000) : null;
}

const STATUS: readonly (readonly [RegExp, number])[] = [
  [/overloaded/i, 529],
  [/rate|quota|too_many|exhausted/i, 429],
  [/billing|insufficient/i, 402],
  [/auth|api_key|permission/i, 401],
  [/not_found/i, 404],
  [/too_large/i, 413],
  [/invalid_request|invalid_prompt|invalid_argument|context_length/i, 400],
  [/timeout|deadline/i, 504],
  [/unavailable/i, 503],
];

function statusIn(code: string): number {
  const digits = /\b[45]\d\d\b/.exec(code);
  if (digits) return Number(digits[0]);
  return STATUS.find(([words]) => words.test(code))?.[1] ?? 500;
}
