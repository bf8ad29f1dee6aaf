import { record } from "./_record.ts";

/** What an error body or an error inside a stream says, in the shapes that services use. */
export interface Said {
  readonly text: string;
  /** Its own code and type, "" where it has none. */
  readonly code: string;
  /** The HTTP status that the code amounts to, for errors that came with a success. */
  readonly status: number;
}

/** Reads an error body: JSON text, a parsed value, or text of any other kind. */
export function said(body: unknown): Said {
  if (typeof body === "string") {
    try {
      return said(JSON.parse(body));
    } catch {
      return { text: body, code: "", status: 500 };
    }
  }
  const value = record(Array.isArray(body) ? body[0] : body);
  const inner = typeof value.error === "string" ? { message: value.error } : record(value.error ?? value);
  const detail = Array.isArray(inner.detail) ? record(inner.detail[0]).msg : inner.detail;
  const text = [inner.message, detail, value.message].find((text) => typeof text === "string");
  const codes = [inner.code, inner.type].filter((code) => typeof code === "string" || typeof code === "number");
  const code = codes.join(" ");
  return { text: typeof text === "string" ? text : JSON.stringify(body) ?? "", code, status: statusIn(code) };
}

function statusIn(code: string): number {
  const digits = /\b[45]\d\d\b/.exec(code);
  if (digits) return Number(digits[0]);
  if (/rate|quota|too_many/i.test(code)) return 429;
  if (/auth|api_key/i.test(code)) return 401;
  return /invalid_request|context_length/i.test(code) ? 400 : 500;
}
