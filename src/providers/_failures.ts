import { ProviderError } from "../domain/errors.ts";
import type { Endpoint } from "./_endpoint.ts";
import { retryAfterMs } from "./_retry_after.ts";

/** What a service said about a failed call. */
export interface Refusal {
  readonly status: number;
  /** Its own text, not yet cleaned; "" where it gave none. */
  readonly text: string;
  /** Its own error code or type. */
  readonly code: string;
  readonly headers: Headers;
}

const CONTEXT =
  /context[_ ]?(length|window|size)|maximum context|too many tokens|(prompt|input|request) is too (long|large)|exceeds? .{0,40}context|reduce the length/i;
const OUT_OF_MONEY = /insufficient_quota|insufficient (quota|funds|balance|credits)|billing|payment required/i;

/** Turns what services and networks do into `ProviderError`s that say what to do. */
export class Failures {
  readonly #endpoint: Endpoint;
  readonly #now: () => number;
  constructor(endpoint: Endpoint, now: () => number) {
    this.#endpoint = endpoint;
    this.#now = now;
  }

  /** An HTTP status that is no success, or an error object inside a stream (status from its code, else 500). */
  refused(refusal: Refusal, asked: { readonly model: string | null; readonly path: string }): ProviderError {
    const { status } = refusal;
    const wait = retryAfterMs(refusal.headers, this.#now());
    const said = this.#said(refusal.text);
    const at = this.#endpoint.base;
    if (status === 413 || (status < 500 && status !== 429 && CONTEXT.test(`${refusal.code} ${refusal.text}`))) {
      const message = `Cannot fit the request into the model's context (${status} from ${at})${said}; ` +
        `choose a model with a larger context or ask about less at once`;
      return new ProviderError(message, { kind: "context", retryable: false, status });
    }
    if (status === 401 || status === 403) {
      const advice = this.#endpoint.hasKey ? "check VIS_API_KEY" : "set VIS_API_KEY";
      return new ProviderError(`Cannot sign in to ${at} (${status}): ${advice}${said}`, {
        kind: "auth",
        retryable: false,
        status,
      });
    }
    if (status === 402 || OUT_OF_MONEY.test(`${refusal.code} ${status === 429 ? refusal.text : ""}`)) {
      const message = `Cannot get a reply from ${at} (${status}): the account has no credit left${said}`;
      return new ProviderError(message, { kind: "auth", retryable: false, status });
    }
    if (status === 404 || status === 405) return this.#notFound(refusal, asked);
    if (status === 429) {
      const asks = wait === null ? "" : `; it asks to wait ${Math.ceil(wait / 1000)} s`;
      const message = `Cannot get a reply from ${at} (429): too many requests${asks}${said}`;
      return new ProviderError(message, { kind: "rate", retryable: true, status, retryAfterMs: wait });
    }
    if (status >= 500 || status === 408) {
      const message = `Cannot get a reply from ${at} (${status}): the server failed; try again later${said}`;
      return new ProviderError(message, { kind: "server", retryable: true, status, retryAfterMs: wait });
    }
    const message = `Cannot use the request (${status} from ${at})${said || ": the server gave no reason"}`;
    return new ProviderError(message, { kind: "server", retryable: false, status });
  }

  /** The connection could not be made, or ended before any byte of a reply. */
  unreachable(error: unknown): ProviderError {
    const message = `Cannot reach ${this.#endpoint.base}: ${networkReason(error)}`;
    return new ProviderError(message, { kind: "network", retryable: true });
  }

  /** The reply stopped before its end. */
  cut(): ProviderError {
    return new ProviderError(
      `Cannot read the whole reply of ${this.#endpoint.base}: the connection ended in the middle; try again`,
      { kind: "network", retryable: true },
    );
  }

  empty(status: number | null): ProviderError {
    return new ProviderError(
      `Cannot read the reply of ${this.#endpoint.base}: it was empty; check VIS_BASE_URL or try again`,
      { kind: "server", retryable: true, status },
    );
  }

  unreadable(excerpt: string): ProviderError {
    const shown = this.#endpoint.clean(excerpt).slice(0, 160);
    return new ProviderError(
      `Cannot read the reply of ${this.#endpoint.base}: it is not what the chat completions API sends: ${shown}`,
      { kind: "server", retryable: true },
    );
  }

  webPage(status: number): ProviderError {
    const hint = this.#endpoint.hasVersion ? "check VIS_BASE_URL" : `try VIS_BASE_URL=${this.#endpoint.base}/v1`;
    return new ProviderError(
      `Cannot read the reply of ${this.#endpoint.base}: it is a web page, not the API; ${hint}`,
      { kind: "server", retryable: false, status },
    );
  }

  /** The model or a filter declined to answer. */
  declined(text: string): ProviderError {
    return new ProviderError(
      `Cannot get an answer: the model refused the request${this.#said(text)}; put it another way`,
      { kind: "refused", retryable: false },
    );
  }

  #notFound(refusal: Refusal, asked: { readonly model: string | null; readonly path: string }): ProviderError {
    const { status } = refusal;
    const url = `${this.#endpoint.base}${asked.path}`;
    const hint = this.#endpoint.hasVersion ? "" : `, for example ${this.#endpoint.base}/v1`;
    const message = asked.model === null
      ? `Cannot find ${url} (${status}): check VIS_BASE_URL${hint}${this.#said(refusal.text)}`
      : `Cannot find model "${asked.model}" or the path ${url} (${status}): ` +
        `check VIS_MODEL and VIS_BASE_URL${hint}${this.#said(refusal.text)}`;
    return new ProviderError(message, { kind: "server", retryable: false, status });
  }

  #said(text: string): string {
    if (/^\s*(<!doctype|<html)/i.test(text)) return "";
    const shown = this.#endpoint.clean(text).replace(/\.$/, "");
    return shown === "" ? "" : `; it says: ${shown}`;
  }
}

function networkReason(error: unknown): string {
  const text = chainText(error);
  if (/connection refused|ECONNREFUSED/i.test(text)) {
    return "connection refused; start the server or check VIS_BASE_URL";
  }
  if (/dns error|failed to lookup|ENOTFOUND/i.test(text)) return "the host name is not known; check VIS_BASE_URL";
  if (/certificate|UnknownIssuer/i.test(text)) return "its TLS certificate is not trusted; check VIS_BASE_URL";
  if (/tls|ssl|handshake|InvalidContentType/i.test(text)) {
    return "no TLS connection; check http:// or https:// in VIS_BASE_URL";
  }
  if (/timed? ?out|ETIMEDOUT/i.test(text)) return "the connection timed out; check VIS_BASE_URL and the network";
  if (/requests to port \d+ are blocked/i.test(text)) return "this port is blocked for HTTP; check VIS_BASE_URL";
  if (/unreachable/i.test(text)) return "the network or the host is unreachable; check VIS_BASE_URL and the network";
  if (/NotCapable|requires net access/i.test(text)) return "this process has no permission to use the network";
  return "the connection failed before a reply came; check VIS_BASE_URL or try again";
}

function chainText(error: unknown): string {
  let text = "";
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    text += ` ${at.name} ${at.message}`;
  }
  return text;
}
