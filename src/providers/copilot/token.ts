import { Cancelled, ProviderError } from "../../domain/errors.ts";
import { abortable } from "../../domain/kit/concurrency.ts";
import { asRecord } from "../../domain/kit/json.ts";
import { type Clock, REAL_CLOCK } from "../../domain/kit/time.ts";
import { COPILOT_HEADERS, type CopilotEndpoints } from "./endpoints.ts";

/** A short-lived token and the address that it is valid for. */
export interface CopilotToken {
  readonly token: string;
  readonly api: string;
}

interface Kept extends CopilotToken {
  readonly renewAt: number;
}

/** Renewed this long before it expires. */
const EARLY_MS = 120_000;
const SHORTEST_LIFE_MS = 30_000;

/** Exchanges the token of a login for short-lived ones, one exchange at a time regardless of the number of callers. */
export class CopilotTokens {
  readonly #endpoints: Pick<CopilotEndpoints, "exchange" | "api">;
  readonly #githubToken: string;
  readonly #clock: Clock;
  #kept: Kept | null = null;
  #running: Promise<Kept> | null = null;

  constructor(
    endpoints: Pick<CopilotEndpoints, "exchange" | "api">,
    options: { readonly githubToken: string; readonly clock?: Clock },
  ) {
    this.#endpoints = endpoints;
    this.#githubToken = options.githubToken;
    this.#clock = options.clock ?? REAL_CLOCK;
  }

  /** A token that stays valid for a while. Throws `ProviderError`, and `Cancelled` once `signal` is aborted. */
  async get(signal: AbortSignal): Promise<CopilotToken> {
    if (this.#kept !== null && this.#clock.now() < this.#kept.renewAt) return this.#kept;
    if (signal.aborted) throw new Cancelled("Cancelled");
    // The exchange is shared by all callers that wait: one that leaves does not end it.
    this.#running ??= this.#exchange().finally(() => this.#running = null);
    return await abortable(this.#running, signal).catch((error: unknown) => {
      throw signal.aborted ? new Cancelled("Cancelled") : error;
    });
  }

  /** Call it when the service refused this token, even if it has not expired. */
  drop(token: string): void {
    if (this.#kept?.token === token) this.#kept = null;
  }

  async #exchange(): Promise<Kept> {
    const { exchange } = this.#endpoints;
    let response: Response;
    try {
      response = await fetch(exchange, {
        headers: { ...COPILOT_HEADERS, accept: "application/json", authorization: `token ${this.#githubToken}` },
        signal: AbortSignal.timeout(15_000),
      });
    } catch (error) {
      const reason = error instanceof Error ? error.name : "unknown";
      throw new ProviderError(`Cannot reach ${new URL(exchange).origin} for a Copilot token: ${reason}`, {
        code: "network",
        retryable: true,
        cause: error,
      });
    }
    const answer = asRecord(await response.json().catch(() => null));
    if (!response.ok) throw refusal(response.status, answer);
    this.#kept = this.#read(answer);
    return this.#kept;
  }

  #read(answer: Readonly<Record<string, unknown>>): Kept {
    const { token, expires_at: expiresAt, refresh_in: refreshIn, endpoints } = answer;
    if (typeof token !== "string" || token === "") throw unusable("the answer contains none");
    const now = this.#clock.now();
    // `refresh_in` counts from now and takes precedence: `expires_at` is by the service's clock, which may differ from
    // ours.
    const life = typeof refreshIn === "number"
      ? refreshIn * 1000
      : typeof expiresAt === "number"
      ? expiresAt * 1000 - now - EARLY_MS
      : 0;
    const { api: named } = asRecord(endpoints);
    const api = typeof named === "string" && /^https?:$/.test(URL.parse(named)?.protocol ?? "") ? named : null;
    return {
      token,
      api: (api ?? this.#endpoints.api).replace(/\/+$/, ""),
      renewAt: now + Math.max(SHORTEST_LIFE_MS, life),
    };
  }
}

function refusal(status: number, answer: Readonly<Record<string, unknown>>): ProviderError {
  const words = typeof answer.message === "string" ? `: ${answer.message.slice(0, 200)}` : "";
  if (status === 401) {
    const message = `Cannot get a Copilot token (401): the login has expired; run vis auth login github-copilot`;
    return new ProviderError(message, { code: "auth", retryable: false, status });
  }
  if (status === 403 || status === 404) {
    const message = `Cannot get a Copilot token (${status}): this account has no access to GitHub Copilot${words}`;
    return new ProviderError(message, { code: "auth", retryable: false, status });
  }
  const code = status === 429 ? "rate" : "server";
  const retryable = status === 429 || status >= 500;
  return new ProviderError(`Cannot get a Copilot token (${status})${words}`, { code, retryable, status });
}

function unusable(why: string): ProviderError {
  return new ProviderError(`Cannot use the Copilot token: ${why}`, { code: "server", retryable: true });
}
