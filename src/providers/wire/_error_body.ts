import { asRecord, readForeignJson } from "../../domain/kit/json.ts";

/** What an error body, or an error within a stream, contains, in the shapes that services use. */
export interface Said {
  /** Not yet cleaned; "" if there is none. */
  readonly text: string;
  /** The service's code and type; "" if there are none. */
  readonly code: string;
  /** Names of the fields of the request that it is about, with their paths. */
  readonly fields: readonly string[];
  /** What the model wrote, if the service refused it as a call of a tool that was not offered. */
  readonly toolCall: string | null;
  /** The HTTP status that matches the code, for errors that came with a success status. */
  readonly status: number;
  /** Milliseconds that it asks to wait; null if it does not. */
  readonly waitMs: number | null;
}

/** Fields of a reply, or of a part of one, in any format. */
const REPLY = ["choices", "candidates", "promptFeedback", "content", "output", "delta", "response", "item", "part"];
const FINE = new Set(["", "0", "200", "ok", "success"]);

/** Whether JSON of a reply is an error instead: most services wrap it, others name it in `object`, `detail`, `errors`
 * or `message`. */
export function isError(body: unknown): boolean {
  const value = asRecord(body);
  const { error, object, detail, errors, message, msg, code, type, success } = value;
  if (error !== undefined && error !== null && error !== false && error !== "") return true;
  if (object === "error") return true;
  if (REPLY.some((name) => Object.hasOwn(value, name))) return false;
  const status = asRecord(value.base_resp).status_code;
  if (typeof detail === "string" || (Array.isArray(detail) && detail.length > 0)) return true;
  if (Object.keys(value).some((name) => name.startsWith("error "))) return true;
  if ((Array.isArray(errors) && errors.length > 0) || (typeof status === "number" && status !== 0)) return true;
  if (typeof message !== "string" && typeof msg !== "string") return false;
  const isBad = (typeof code === "string" || typeof code === "number") && !FINE.has(String(code).toLowerCase());
  return isBad || type === "error" || success === false || Object.keys(value).length === 1;
}

/** Parses an error body: JSON text, a parsed value, or any other text. */
export function said(body: unknown): Said {
  if (typeof body === "string") {
    try {
      return said(readForeignJson(body));
    } catch {
      return { text: body, code: "", fields: [], toolCall: null, status: 500, waitMs: null };
    }
  }
  const value = asRecord(Array.isArray(body) ? body[0] : body);
  const inner = typeof value.error === "string" ? { message: value.error } : asRecord(value.error ?? value);
  const faults = Array.isArray(inner.detail) ? inner.detail.map(asRecord) : [];
  const detail = typeof inner.detail === "string" ? inner.detail : faults.map(faultText).join("; ") || undefined;
  const details = Array.isArray(inner.details) ? inner.details.map(asRecord) : [];
  const first = asRecord(Array.isArray(value.errors) ? value.errors[0] : undefined);
  const base = asRecord(value.base_resp);
  // Gateways put the response of the service behind them into the metadata.
  const raw = asRecord(inner.metadata).raw;
  const all = [inner.message, detail, value.message, value.msg, first.message, base.status_msg];
  const texts = all.filter((text) => typeof text === "string");
  const text = typeof raw === "string" && texts[0] !== undefined ? `${texts[0]}: ${raw}` : texts[0];
  const codes = [inner.code, inner.type, inner.status, base.status_code, ...details.map(({ reason }) => reason)];
  const code = codes.filter((code) => typeof code === "string" || typeof code === "number").join(" ");
  const violations = details.flatMap((one) => Array.isArray(one.fieldViolations) ? one.fieldViolations : []);
  const fields = [inner.param, ...faults.map(pathOf), ...violations.map((one) => asRecord(one).field)];
  const waitMs = details.map(({ retryDelay }) => secondsIn(retryDelay)).find((ms) => ms !== null) ?? null;
  return {
    text: text ?? JSON.stringify(body) ?? "",
    code,
    fields: fields.filter((field): field is string => typeof field === "string" && field !== ""),
    toolCall: code.includes("tool_use_failed") ? String(inner.failed_generation || "a tool") : null,
    status: statusIn(code),
    waitMs,
  };
}

/** One fault that FastAPI found in a request. */
function faultText(fault: Readonly<Record<string, unknown>>): string {
  const { msg } = fault;
  const path = pathOf(fault);
  return [path, msg].filter((part) => typeof part === "string" && part !== "").join(": ");
}

function pathOf({ loc }: Readonly<Record<string, unknown>>): string {
  return Array.isArray(loc) ? loc.filter((part) => part !== "body").join(".") : "";
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
  [/invalid_request|invalid_prompt|invalid_?argument|invalid_?parameter|bad_?request|context_length/i, 400],
  [/timeout|deadline/i, 504],
  [/unavailable/i, 503],
];

function statusIn(code: string): number {
  const digits = /\b[45]\d\d\b/.exec(code);
  if (digits) return Number(digits[0]);
  return STATUS.find(([words]) => words.test(code))?.[1] ?? 500;
}
