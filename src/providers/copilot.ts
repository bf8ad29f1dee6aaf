import { Cancelled, ConfigError, ProviderError } from "../domain/errors.ts";
import { abortable, type Clock, REAL_CLOCK } from "../domain/kit/concurrency.ts";
import { asRecord } from "../domain/kit/json.ts";
import type { Capabilities, ModelEvent, ModelRequest, Provider } from "./provider.ts";
import type { ProviderOptions, WireProtocol } from "./wire/wire.ts";

interface CopilotOptions
  extends Pick<ProviderOptions, "name" | "defaultModel" | "headers">, Required<Pick<ProviderOptions, "capabilities">> {
  readonly endpoints: Pick<CopilotEndpoints, "exchange" | "api">;
  readonly githubToken: string;
  readonly usesResponses: (model: string) => boolean;
  readonly create: (protocol: WireProtocol, options: ProviderOptions) => Provider | Promise<Provider>;
  readonly clock?: Clock;
}

export class CopilotProvider implements Provider {
  readonly name: string;
  readonly defaultModel: string;
  readonly #options: CopilotOptions;
  readonly #tokens: CopilotTokens;
  readonly #inner = new Map<string, Promise<Provider>>();

  constructor(options: CopilotOptions) {
    this.name = options.name;
    this.defaultModel = options.defaultModel;
    this.#options = options;
    const { githubToken, clock = REAL_CLOCK } = options;
    this.#tokens = new CopilotTokens(options.endpoints, { githubToken, clock });
  }

  capabilities(model: string): Capabilities {
    return this.#options.capabilities(model);
  }

  async models(options: { readonly signal: AbortSignal }): Promise<readonly string[]> {
    const token = await this.#tokens.get(options.signal);
    const inner = await this.#provider(token, { protocol: "openai-chat", images: false });
    return await inner.models(options);
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
    const protocol = this.#options.usesResponses(request.model) ? "openai-responses" : "openai-chat";
    const images = request.messages.some((message) => (message.images?.length ?? 0) > 0);
    for (let attempt = 1;; attempt++) {
      const token = await this.#tokens.get(request.signal);
      const inner = await this.#provider(token, { protocol, images });
      let emitted = false;
      try {
        for await (const event of inner.stream(request)) {
          emitted = true;
          yield event;
        }
        return;
      } catch (error) {
        if (emitted || attempt > 1 || !(error instanceof ProviderError) || error.status !== 401) throw error;
        this.#tokens.drop(token.token);
      }
    }
  }

  #provider(
    { api }: CopilotToken,
    { protocol, images }: { readonly protocol: WireProtocol; readonly images: boolean },
  ): Promise<Provider> {
    const key = `${protocol} ${api} ${images}`;
    const made = this.#inner.get(key) ?? this.#create(api, { protocol, images });
    this.#inner.set(key, made);
    return made;
  }

  async #create(
    api: string,
    { protocol, images }: { readonly protocol: WireProtocol; readonly images: boolean },
  ): Promise<Provider> {
    const { name, defaultModel, capabilities, headers } = this.#options;
    return await this.#options.create(protocol, {
      name,
      defaultModel,
      capabilities,
      baseUrl: api,
      token: async (signal) => (await this.#tokens.get(signal)).token,
      headers: {
        ...COPILOT_HEADERS,
        "openai-intent": "conversation-edits",
        "x-initiator": "user",
        ...(images ? { "copilot-vision-request": "true" } : {}),
        ...headers,
      },
      advice: {
        key: "the login (vis auth login github-copilot)",
        baseUrl: "the GitHub domain",
        model: "the model (vis models --provider github-copilot)",
      },
    });
  }
}

interface CopilotToken {
  readonly token: string;
  readonly api: string;
}

interface Kept extends CopilotToken {
  readonly renewAt: number;
}

const EARLY_MS = 120_000;
const SHORTEST_LIFE_MS = 30_000;
const EXCHANGE_MS = 15_000;

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

  async get(signal: AbortSignal): Promise<CopilotToken> {
    if (this.#kept !== null && this.#clock.now() < this.#kept.renewAt) return this.#kept;
    if (signal.aborted) throw new Cancelled("Cancelled");
    // Other callers may wait for the same exchange, so a cancelled caller does not stop the exchange.
    this.#running ??= this.#exchange().finally(() => this.#running = null);
    return await abortable(this.#running, signal).catch((error: unknown) => {
      throw signal.aborted ? new Cancelled("Cancelled") : error;
    });
  }

  drop(token: string): void {
    if (this.#kept?.token === token) this.#kept = null;
  }

  async #exchange(): Promise<Kept> {
    const { exchange } = this.#endpoints;
    let response: Response;
    try {
      response = await fetch(exchange, {
        headers: { ...COPILOT_HEADERS, accept: "application/json", authorization: `token ${this.#githubToken}` },
        signal: AbortSignal.timeout(EXCHANGE_MS),
      });
    } catch (error) {
      const isLate = error instanceof Error && error.name === "TimeoutError";
      const why = isLate ? `it sent no reply within ${EXCHANGE_MS / 1000} s, the limit` : "the connection failed";
      throw new ProviderError(
        `Cannot reach ${new URL(exchange).origin} for a Copilot token: ${why}; check the network`,
        {
          code: "network",
          retryable: true,
          cause: error,
        },
      );
    }
    const answer = asRecord(await response.json().catch(() => null));
    if (!response.ok) throw refusal(response.status, answer);
    this.#kept = this.#read(answer);
    return this.#kept;
  }

  #read(answer: Readonly<Record<string, unknown>>): Kept {
    const { token, expires_at: expiresAt, refresh_in: refreshIn, endpoints } = answer;
    if (typeof token !== "string" || token === "") throw withoutToken();
    const now = this.#clock.now();
    // `expires_at` depends on the clock of the service, which may differ from the clock of this machine, so
    // `refresh_in` has precedence.
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
  const words = typeof answer.message === "string" ? `, ${answer.message.slice(0, 200)}` : "";
  if (status === 401) {
    const message =
      `Cannot get a Copilot token: GitHub does not accept the login (status 401); run vis auth login github-copilot`;
    return new ProviderError(message, { code: "auth", retryable: false, status });
  }
  if (status === 403 || status === 404) {
    const message =
      `Cannot get a Copilot token: GitHub refuses access to Copilot (status ${status}${words}); check the account and its ` +
      "subscription";
    return new ProviderError(message, { code: "auth", retryable: false, status });
  }
  const code = status === 429 ? "rate" : "server";
  const retryable = status === 429 || status >= 500;
  const advice = retryable ? "; try again later" : "";
  const said = words === "" ? "" : ` (${words.slice(2)})`;
  return new ProviderError(`Cannot get a Copilot token: GitHub responded with status ${status}${said}${advice}`, {
    code,
    retryable,
    status,
  });
}

function withoutToken(): ProviderError {
  return new ProviderError("Cannot get a Copilot token: the response of GitHub contains no token; try again later", {
    code: "server",
    retryable: true,
  });
}

const CLIENT_ID = "Iv1.b507a08c87ecfe98";
const SCOPE = "read:user";
const GRANT = "urn:ietf:params:oauth:grant-type:device_code";

export interface DeviceCode {
  readonly userCode: string;
  readonly verificationUri: string;
  readonly expiresInMs: number;
}

/** Rejects with `ProviderError`, of code "network" if Vis cannot reach GitHub and otherwise of code "auth". Rejects
 * with `Cancelled` after `signal` aborts. */
export async function copilotDeviceLogin(
  endpoints: Pick<CopilotEndpoints, "deviceCode" | "accessToken">,
  options: {
    readonly signal: AbortSignal;
    readonly onCode: (code: DeviceCode) => void;
    readonly clock?: Clock;
  },
): Promise<string> {
  const { signal, clock = REAL_CLOCK } = options;
  const asked = await post(endpoints.deviceCode, { client_id: CLIENT_ID, scope: SCOPE }, signal);
  const { device_code: deviceCode, user_code: userCode, verification_uri: uri } = asked;
  if (typeof deviceCode !== "string" || typeof userCode !== "string" || !isWeb(uri)) {
    throw refused(`GitHub gave no code${said(asked)}; try again later`);
  }
  const expiresInMs = seconds(asked.expires_in, 900);
  const end = clock.now() + expiresInMs;
  options.onCode({ userCode, verificationUri: uri, expiresInMs });
  const body = { client_id: CLIENT_ID, device_code: deviceCode, grant_type: GRANT };
  let pauseMs = seconds(asked.interval, 5);
  for (;;) {
    await clock.sleep(pauseMs, signal);
    if (clock.now() >= end) throw refused("the code expired; run the login again");
    const answer = await post(endpoints.accessToken, body, signal);
    if (typeof answer.access_token === "string") return answer.access_token;
    pauseMs = nextPause(answer, pauseMs);
  }
}

function nextPause(answer: Readonly<Record<string, unknown>>, pauseMs: number): number {
  switch (answer.error) {
    case "authorization_pending":
      return pauseMs;
    case "slow_down":
      return Math.max(pauseMs + 5_000, seconds(answer.interval, 0));
    case "expired_token":
      throw refused("the code expired; run the login again");
    case "access_denied":
      throw refused("you declined the login on the page; run the login again to accept it");
    default:
      throw refused(`GitHub refused to continue${said(answer)}; run the login again`);
  }
}

async function post(
  url: string,
  body: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  let response: Response;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { accept: "application/json", "user-agent": COPILOT_HEADERS["user-agent"] ?? "" },
      body: new URLSearchParams(body),
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw new Cancelled("Cancelled");
    throw new ProviderError(`Cannot reach ${new URL(url).origin} to log in: the connection failed; check the network`, {
      code: "network",
      retryable: true,
      cause: error,
    });
  }
  const answer = asRecord(await response.json().catch(() => null));
  if (response.ok || "error" in answer) return answer;
  throw refused(`${new URL(url).origin} responded with status ${response.status}; try again later`, response.status);
}

function refused(why: string, status: number | null = null): ProviderError {
  return new ProviderError(`Cannot log in to GitHub Copilot: ${why}`, { code: "auth", retryable: false, status });
}

/** A response may contain a token, so an error message quotes only the error fields. */
function said({ error, error_description: text }: Readonly<Record<string, unknown>>): string {
  const words = typeof text === "string" ? text : error;
  return typeof words === "string" ? ` (${words.slice(0, 200)})` : "";
}

function isWeb(uri: unknown): uri is string {
  return typeof uri === "string" && /^https?:$/.test(URL.parse(uri)?.protocol ?? "");
}

function seconds(value: unknown, otherwise: number): number {
  return (typeof value === "number" && value > 0 ? value : otherwise) * 1000;
}

const COPILOT_HEADERS: Readonly<Record<string, string>> = {
  "user-agent": "GitHubCopilotChat/0.35.0",
  "editor-version": "vscode/1.107.0",
  "editor-plugin-version": "copilot-chat/0.35.0",
  "copilot-integration-id": "vscode-chat",
};

export interface CopilotEndpoints {
  readonly deviceCode: string;
  readonly accessToken: string;
  readonly exchange: string;
  readonly api: string;
}

export function copilotEndpoints(domain: string): CopilotEndpoints {
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(domain)) {
    throw new ConfigError(
      `Cannot use the GitHub domain "${domain}": it is not a domain such as github.com or company.ghe.com`,
    );
  }
  return {
    deviceCode: `https://${domain}/login/device/code`,
    accessToken: `https://${domain}/login/oauth/access_token`,
    exchange: `https://api.${domain}/copilot_internal/v2/token`,
    api: domain === "github.com" ? "https://api.githubcopilot.com" : `https://copilot-api.${domain}`,
  };
}
