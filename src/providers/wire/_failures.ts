import { ProviderError } from "../../domain/errors.ts";
import { isLoopback } from "../../domain/kit/addresses.ts";
import { asRecord, readLaxJson } from "../../domain/kit/json.ts";
import type { Endpoint } from "./_endpoint.ts";
import type { Advice, JsonFields } from "./wire.ts";

export interface ServiceError extends Said {
  readonly headers: Headers;
}

interface FailureFacts {
  readonly endpoint: Endpoint;
  readonly advice: Advice;
  readonly api: string;
  readonly now: () => number;
}

const CONTEXT =
  /context[_ ]?(length|window|size)|maximum context|too many tokens|(prompt|input|request) is too (long|large)|exceeds? .{0,40}context|exceeds? max length|token count .{0,60}exceeds|range of input length|reduce the length/i;
/** Texts about a rate limit may link to billing pages, so Vis matches only codes with this pattern. */
const OUT_OF_MONEY = /insufficient_quota|billing/i;
const NO_CREDIT = /credit balance is too low/i;
const NO_FUNDS = /insufficient[_ ](quota|funds|balance|credits)|payment required/i;
const NO_MODEL = /model_not_found|unknown_model|model_not_supported|not a valid model|unknown model|no such model/i;
const BAD_KEY = /API_KEY_INVALID|API key not valid/;
const FILTERED =
  /content_filter|content_policy|content management policy|data_?inspection|requires moderation|was flagged/i;

export class Failures {
  readonly #facts: FailureFacts;

  constructor(facts: FailureFacts) {
    this.#facts = facts;
  }

  refused(refusal: ServiceError, asked: { readonly model: string | null; readonly path: string }): ProviderError {
    const { status, code, text } = refusal;
    const at = this.#facts.endpoint.base, withStatus = statusText(refusal);
    // Some local servers report a full context as their own failure, or without a status.
    const isContext = status <= 500 && status !== 429 && CONTEXT.test(`${code} ${text}`);
    if (status === 413 && !isContext) {
      const message =
        `Cannot get a reply from ${at}: it refused the model call as too large${withStatus && `,${withStatus}`}${
          this.#said(text)
        }; ` +
        "ask about less at once";
      return new ProviderError(message, { code: "context", retryable: false, status });
    }
    if (isContext) {
      const message = `Cannot fit the prompt into the model's context: ${at} refused the model call` +
        `${withStatus}${this.#said(text)}; choose a model with a larger context or ask about less at once`;
      return new ProviderError(message, { code: "context", retryable: false, status });
    }
    if ([400, 403, 500].includes(status) && FILTERED.test(`${code} ${text}`)) return this.declined(text, status);
    if (status === 401 || status === 403 || (status === 400 && BAD_KEY.test(`${code} ${text}`))) {
      const { endpoint: { hasKey }, advice: { key } } = this.#facts;
      const why = hasKey
        ? `it refused ${status === 403 ? "the key or its use" : "the key"}${withStatus}`
        : `it refused access without a key${withStatus && `,${withStatus}`}`;
      const message = `Cannot sign in to ${at}: ${why}${this.#said(text)}; ${hasKey ? "check" : "set"} ${key}`;
      return new ProviderError(message, { code: "auth", retryable: false, status });
    }
    const isAboutMoney = OUT_OF_MONEY.test(code) || NO_CREDIT.test(text) || (status === 429 && NO_FUNDS.test(text));
    if (status === 402 || isAboutMoney) {
      const message = `Cannot get a reply from ${at}: ${refusedText(asked)}${withStatus}, because the account has no ` +
        `credit left or no active billing${this.#said(text)}; check the account`;
      return new ProviderError(message, { code: "auth", retryable: false, status });
    }
    const isNoModel = status === 400 && asked.model !== null && NO_MODEL.test(`${code} ${text}`);
    if (status === 404 || status === 405 || isNoModel) return this.#notFound(refusal, asked);
    return this.#unserved(refusal, refusedText(asked));
  }

  #unserved(refusal: ServiceError, refused: string): ProviderError {
    const { status, text } = refusal;
    const wait = waitMs(refusal, this.#facts.now());
    const at = this.#facts.endpoint.base, withStatus = statusText(refusal);
    if (status === 407) return this.#byProxy();
    if (status === 429) {
      const advice = wait === null ? "try again later" : `it asks Vis to wait ${waitText(wait)}`;
      const message = `Cannot get a reply from ${at}: ${refused}${withStatus}, too many requests${
        this.#said(text)
      }; ${advice}`;
      const brief = this.#brief(refusal.isGuess ? "rate limit" : "rate limit (429)", text);
      return new ProviderError(message, { code: "rate", retryable: true, status, retryAfterMs: wait, brief });
    }
    if (status >= 500 || status === 408) {
      const message = `Cannot get a reply from ${at}: the server failed${withStatus}${
        this.#said(text)
      }; try again later`;
      const brief = this.#brief(refusal.isGuess ? "server error" : `status ${status}`, text);
      return new ProviderError(message, { code: "server", retryable: true, status, retryAfterMs: wait, brief });
    }
    const { model, baseUrl } = this.#facts.advice;
    const reason = this.#said(text) || `, without a reason; check ${model} and ${baseUrl}`;
    return new ProviderError(
      `Cannot get a reply from ${at}: ${refused}${withStatus}${reason}`,
      {
        code: "server",
        retryable: false,
        status,
      },
    );
  }

  unreachable(error: unknown): ProviderError {
    const { endpoint: { base }, advice } = this.#facts;
    if (/proxy auth/i.test(chainText(error))) return this.#byProxy();
    const message = `Cannot reach ${base}: ${networkReason(error, { base, advice })}`;
    return new ProviderError(message, { code: "network", retryable: true });
  }

  #byProxy(): ProviderError {
    const { base } = this.#facts.endpoint;
    const variable = base.startsWith("https:") ? "HTTPS_PROXY" : "HTTP_PROXY";
    const message = `Cannot reach ${base}: the proxy requires a login (407); set it in ${variable}, as ` +
      "http://USER:PASSWORD@HOST:PORT, or name the host in NO_PROXY";
    return new ProviderError(message, { code: "auth", retryable: false, status: 407 });
  }

  cut(): ProviderError {
    return new ProviderError(
      `Cannot read the complete reply of ${this.#facts.endpoint.base}: the connection ended too early; try again`,
      { code: "network", retryable: true },
    );
  }

  tooLong(why: string): ProviderError {
    const message =
      `Cannot use the reply of ${this.#facts.endpoint.base}: ${why}, the limit, so Vis ended it; ask for a shorter ` +
      "reply or choose another model";
    return new ProviderError(message, { code: "reply", retryable: false });
  }

  notCompressed(): ProviderError {
    const { endpoint, advice } = this.#facts;
    const message = `Cannot read the reply of ${endpoint.base}: its content-encoding names a compression, but Vis ` +
      `could not decompress it; correct this in the gateway, or check ${advice.baseUrl}`;
    return new ProviderError(message, { code: "server", retryable: false });
  }

  empty(status: number | null): ProviderError {
    return new ProviderError(
      `Cannot read the reply of ${this.#facts.endpoint.base}: the reply was empty; check ` +
        `${this.#facts.advice.baseUrl} or try again`,
      { code: "server", retryable: true, status },
    );
  }

  unreadable(excerpt: string): ProviderError {
    const shown = this.#facts.endpoint.clean(excerpt).slice(0, 160);
    return new ProviderError(
      `Cannot read the reply of ${this.#facts.endpoint.base}: it does not have the format of ` +
        `${this.#facts.api} (${shown}); check ${this.#facts.advice.baseUrl}`,
      { code: "server", retryable: true },
    );
  }

  webPage(status: number): ProviderError {
    const hint = this.#facts.endpoint.hasVersion
      ? `check ${this.#facts.advice.baseUrl}`
      : `try ${this.#facts.endpoint.base}/v1 in ${this.#facts.advice.baseUrl}`;
    return new ProviderError(
      `Cannot read the reply of ${this.#facts.endpoint.base}: it is a web page, not the API; ${hint}`,
      { code: "server", retryable: false, status },
    );
  }

  redirected(status: number, to: string): ProviderError {
    const message = `Cannot get a reply from ${this.#facts.endpoint.base}: it redirects to ` +
      `${this.#facts.endpoint.clean(to)} (status ${status}); check ${this.#facts.advice.baseUrl}`;
    return new ProviderError(message, { code: "server", retryable: false, status });
  }

  declined(text: string, status: number | null = null): ProviderError {
    return new ProviderError(
      `Cannot get an answer: the model or a filter refused the request${this.#said(text)}; rephrase it`,
      { code: "refused", retryable: false, status },
    );
  }

  #notFound(refusal: ServiceError, asked: { readonly model: string | null; readonly path: string }): ProviderError {
    const { status } = refusal, withStatus = statusText(refusal);
    const response = withStatus && `: the server responded${withStatus}`;
    const url = `${this.#facts.endpoint.base}${asked.path}`;
    const hint = this.#facts.endpoint.hasVersion ? "" : `, for example ${this.#facts.endpoint.base}/v1`;
    const { baseUrl, model } = this.#facts.advice;
    const isUnpulled = /\bpull/i.test(refusal.text);
    const fix = isUnpulled ? `fetch it with ollama pull ${asked.model}` : `check ${model} and ${baseUrl}${hint}`;
    const message = asked.model === null
      ? `Cannot find ${url}${response}` +
        `${this.#said(refusal.text)}; check ${baseUrl}${hint}`
      : `Cannot find model "${asked.model}" or the path ${url}${response}` +
        `${this.#said(refusal.text)}; ${fix} (vis models lists the models that exist)`;
    return new ProviderError(message, { code: "server", retryable: false, status });
  }

  #brief(cause: string, text: string): string {
    const words = this.#words(text);
    return `${cause}${words && `: ${words}`} · ${this.#facts.endpoint.base}`;
  }

  #said(text: string): string {
    const words = this.#words(text);
    return words && ` (the server replied: ${words})`;
  }

  #words(text: string): string {
    return /^\s*(<!doctype|<html)/i.test(text) ? "" : this.#facts.endpoint.clean(text).replace(/\.$/, "");
  }
}

function statusText({ status, isGuess }: ServiceError): string {
  return isGuess ? "" : ` with status ${status}`;
}

function refusedText({ model }: { readonly model: string | null }): string {
  return model === null ? "it refused to list its models" : "it refused the model call";
}

function networkReason(
  error: unknown,
  { base, advice: { baseUrl, proxy: own = "" } }: { readonly base: string; readonly advice: Advice },
): string {
  const text = chainText(error), host = URL.parse(base)?.hostname ?? "";
  // A failed connection to the proxy has the same error as a failed connection to the service.
  const proxy = own !== ""
    ? `, or the proxy of ${own}, or name ${host} in NO_PROXY`
    : isLoopback(host)
    ? ""
    : ", and the proxy if HTTPS_PROXY or HTTP_PROXY is set";
  if (/connection refused|ECONNREFUSED/i.test(text)) {
    return `the connection was refused; start the server or check ${baseUrl}${proxy}`;
  }
  if (/dns error|failed to lookup|ENOTFOUND/i.test(text)) {
    return `Vis could not resolve its host name; check the network and ${baseUrl}${proxy}`;
  }
  if (/certificate|UnknownIssuer/i.test(text)) {
    return `Vis does not trust its TLS certificate; check ${baseUrl}, or trust the certificates of this machine with DENO_TLS_CA_STORE=system`;
  }
  if (/tls|ssl|handshake|InvalidContentType/i.test(text)) {
    return `Vis could make no TLS connection; check http:// or https:// in ${baseUrl}`;
  }
  if (/unsuccessful tunnel/i.test(text)) {
    return `the proxy could not connect to it; check HTTPS_PROXY and its login, and ${baseUrl}, or name the ` +
      "host in NO_PROXY";
  }
  if (/timed? ?out|ETIMEDOUT/i.test(text)) return `the connection timed out; check ${baseUrl} and the network`;
  if (/requests to port \d+ are blocked/i.test(text)) return `Vis may not use this port for HTTP; check ${baseUrl}`;
  if (/unreachable/i.test(text)) return `the network or the host is unreachable; check ${baseUrl} and the network`;
  if (/NotCapable|requires net access/i.test(text)) {
    return "Deno gave this process no permission for the network; add --allow-net";
  }
  return `the connection failed before a reply came; check ${baseUrl} or try again`;
}

function chainText(error: unknown): string {
  let text = "";
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    text += ` ${at.name} ${at.message}`;
  }
  return text;
}

interface Said {
  readonly text: string;
  readonly code: string;
  readonly fields: readonly string[];
  /** The service refused text of the model because it took the text for a tool call. */
  readonly toolCall: string | null;
  readonly status: number;
  /** True if the body names no status, so that its words decide. */
  readonly isGuess: boolean;
  readonly waits: readonly string[];
}

const REPLY = ["choices", "candidates", "promptFeedback", "content", "output", "delta", "response", "item", "part"];
const FINE = new Set(["", "0", "200", "ok", "success"]);

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

export function said(body: unknown): Said {
  if (typeof body === "string") {
    try {
      return said(readLaxJson(body));
    } catch {
      return { text: body, code: "", fields: [], toolCall: null, status: 500, isGuess: true, waits: [] };
    }
  }
  const value = asRecord(Array.isArray(body) ? body[0] : body);
  const inner = typeof value.error === "string" ? { message: value.error } : asRecord(value.error ?? value);
  const faults = Array.isArray(inner.detail) ? inner.detail.map(asRecord) : [];
  const detail = typeof inner.detail === "string" ? inner.detail : faults.map(faultText).join("; ") || undefined;
  const details = Array.isArray(inner.details) ? inner.details.map(asRecord) : [];
  const first = asRecord(Array.isArray(value.errors) ? value.errors[0] : undefined);
  const base = asRecord(value.base_resp);
  // Gateways copy the error of the service behind them into `metadata`.
  const raw = asRecord(inner.metadata).raw;
  const all = [inner.message, detail, value.message, value.msg, first.message, base.status_msg];
  const texts = all.filter((text) => typeof text === "string");
  const text = typeof raw === "string" && texts[0] !== undefined ? `${texts[0]}: ${raw}` : texts[0];
  const codes = [inner.code, inner.type, inner.status, base.status_code, ...details.map(({ reason }) => reason)];
  const code = codes.filter((code) => typeof code === "string" || typeof code === "number").join(" ");
  const violations = details.flatMap((one) => Array.isArray(one.fieldViolations) ? one.fieldViolations : []);
  const fields = [inner.param, ...faults.map(pathOf), ...violations.map((one) => asRecord(one).field)];
  return {
    text: text ?? JSON.stringify(body) ?? "",
    code,
    fields: fields.filter((field): field is string => typeof field === "string" && field !== ""),
    toolCall: code.includes("tool_use_failed") ? String(inner.failed_generation || "a tool") : null,
    ...statusIn(code),
    waits: waitsIn(inner, details),
  };
}

function faultText(fault: Readonly<Record<string, unknown>>): string {
  const { msg } = fault;
  const path = pathOf(fault);
  return [path, msg].filter((part) => typeof part === "string" && part !== "").join(": ");
}

function pathOf({ loc }: Readonly<Record<string, unknown>>): string {
  return Array.isArray(loc) ? loc.filter((part) => part !== "body").join(".") : "";
}

function waitsIn(error: JsonFields, details: readonly JsonFields[]): readonly string[] {
  const metadata = asRecord(error.metadata);
  const fields = [
    error,
    metadata,
    asRecord(metadata.headers),
    ...details,
    ...details.map((one) => asRecord(one.metadata)),
  ];
  return fields.flatMap((one) => Object.entries(one)).filter(([name]) => WAIT_FIELD.test(name))
    .map(([, value]) => String(value));
}

const WAIT_FIELD =
  /^(?:retry_?after|retry_?delay|resets?_?(?:in_seconds|at)|quotaReset(?:Delay|TimeStamp)|retry-after|x-ratelimit-reset)$/i;

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

function statusIn(code: string): Pick<Said, "status" | "isGuess"> {
  const digits = /\b[45]\d\d\b/.exec(code);
  if (digits) return { status: Number(digits[0]), isGuess: false };
  return { status: STATUS.find(([words]) => words.test(code))?.[1] ?? 500, isGuess: true };
}

/** Returns milliseconds: the longest stated wait, for status 429 without a stated wait the reset of a limit, or null. */
function waitMs({ headers, waits, text, status }: ServiceError, now: number): number | null {
  const stated = [headerMs(headers, now), ...waits.map((one) => momentIn(one, now)), textMs(text, now)];
  const found = stated.filter((ms) => ms !== null).map((ms) => Math.max(0, ms));
  if (found.length > 0) return Math.max(...found);
  return status === 429 ? resetMs(headers, now) : null;
}

/** `retry-after` is seconds or a date (RFC 9110, 10.2.3), and `retry-after-ms` has precedence. */
function headerMs(headers: Headers, now: number): number | null {
  const exact = numberIn(headers.get("retry-after-ms"));
  if (exact !== null) return Math.ceil(exact);
  const text = headers.get("retry-after");
  const seconds = numberIn(text);
  if (seconds !== null) return Math.ceil(seconds * 1000);
  // An HTTP date starts with a weekday; `Date.parse` would read "-4" as a year.
  const date = text !== null && /^\s*[A-Za-z]{3}/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(date) ? null : date - now;
}

const COUNT = String.raw`(\d+(?:\.\d+)?|\b(?:an?|one)\s)`;
const PART = String
  .raw`${COUNT}\s*(milliseconds?|msecs?|ms|weeks?|w|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)(?![a-z])`;
const PARTS = new RegExp(PART, "gi");
const DURATION = String.raw`${PART}(?:[\s,]*(?:and\s+)?${PART})*`.replace(/\((?!\?)/g, "(?:");
const ASKS = String
  .raw`(?:\b(?:re-?try(?:ing)?|again|resets?|renew(?:s|ed)?|refresh(?:es|ed)?|available|restored)\b[^.;:\d]{0,24}?\b(?:in|after|within)|` +
  String.raw`\bwait(?:\s+for)?|\b(?:retry|reset|wait)[ _-]?(?:after|time|delay)?\s*[:=])`;
const WAIT_TEXT = new RegExp(
  String.raw`${ASKS}[:\s]*(?:about|around|approximately|at least|another|~)?\s*(${DURATION})`,
  "i",
);
const DATE_TEXT =
  /\b(?:resets?|again|re-?try|until|available|renews?)\b[^.;]{0,40}?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?\s*(?:Z|UTC|GMT|[+-]\d\d:?\d\d))/i;

function textMs(text: string, now: number): number | null {
  const begin = text.slice(0, 4_000);
  const [, said] = WAIT_TEXT.exec(begin) ?? DATE_TEXT.exec(begin) ?? [];
  return said === undefined ? null : momentIn(said, now);
}

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

/** Parses durations, seconds or milliseconds since 1970 (GitHub, OpenRouter), seconds from now, and dates (Anthropic).
 * Returns milliseconds from now, or null. */
function momentIn(text: string, now: number): number | null {
  const number = numberIn(text);
  if (number !== null) {
    if (number > 1e11) return number - now;
    return number > 1e9 ? number * 1000 - now : Math.ceil(number * 1000);
  }
  const parts = [...text.matchAll(PARTS)];
  const countIn = (count = "") => /^\d/.test(count) ? Number(count) : 1;
  if (parts.length > 0 && text.replace(PARTS, "").replace(/\band\b|[\s,]/g, "") === "") {
    return Math.ceil(parts.reduce((sum, [, count, unit = "s"]) => sum + countIn(count) * unitMs(unit), 0));
  }
  const date = /^\d{4}-\d\d-\d\d[T ]/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(date) ? null : date - now;
}

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

function unitMs(unit: string): number {
  return /^m(?:s|illi)/i.test(unit) ? 1 : UNIT_MS[unit.charAt(0).toLowerCase()] ?? 0;
}

function waitText(ms: number): string {
  if (ms <= 120_000) return `${Math.ceil(ms / 1000)} s`;
  const minutes = Math.ceil(ms / 60_000);
  const parts = [[Math.floor(minutes / 1440), "d"], [Math.floor(minutes / 60) % 24, "h"], [
    minutes % 60,
    "min",
  ]] as const;
  return parts.filter(([count]) => count > 0).slice(0, 2).map(([count, unit]) => `${count} ${unit}`).join(" ");
}

function numberIn(text: string | null): number | null {
  return text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : null;
}
