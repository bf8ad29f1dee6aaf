import { Cancelled, ProviderError } from "../../domain/errors.ts";
import { asRecord } from "../../domain/kit/json.ts";
import { type Clock, REAL_CLOCK } from "../../domain/kit/time.ts";
import { COPILOT_HEADERS, type CopilotEndpoints } from "./endpoints.ts";

/** The client id of the editors' Copilot extension: the exchange accepts no other client. */
const CLIENT_ID = "Iv1.b507a08c87ecfe98";
const SCOPE = "read:user";
const GRANT = "urn:ietf:params:oauth:grant-type:device_code";

/** What the user has to do. */
export interface DeviceCode {
  readonly userCode: string;
  readonly verificationUri: string;
  readonly expiresInMs: number;
}

/** GitHub's device flow (RFC 8628): shows a code, waits until the user has entered it, and resolves with a token that
 * is valid until it is revoked. Throws `ProviderError` of kind auth if it is declined or expires, and `Cancelled`. */
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
    throw refused(`it gave no code${said(asked)}`);
  }
  const expiresInMs = seconds(asked.expires_in, 900);
  const end = clock.now() + expiresInMs;
  options.onCode({ userCode, verificationUri: uri, expiresInMs });
  const body = { client_id: CLIENT_ID, device_code: deviceCode, grant_type: GRANT };
  let pauseMs = seconds(asked.interval, 5);
  for (;;) {
    await clock.sleep(pauseMs, signal);
    if (clock.now() >= end) throw refused("the code expired; run it again");
    const answer = await post(endpoints.accessToken, body, signal);
    if (typeof answer.access_token === "string") return answer.access_token;
    pauseMs = nextPause(answer, pauseMs);
  }
}

/** The pause before the next poll. Throws for a response that ends the flow. */
function nextPause(answer: Readonly<Record<string, unknown>>, pauseMs: number): number {
  switch (answer.error) {
    case "authorization_pending":
      return pauseMs;
    case "slow_down":
      return Math.max(pauseMs + 5_000, seconds(answer.interval, 0));
    case "expired_token":
      throw refused("the code expired; run it again");
    case "access_denied":
      throw refused("it was declined on the page");
    default:
      throw refused(`GitHub does not continue${said(answer)}`);
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
    const reason = error instanceof Error ? error.name : "unknown";
    throw new ProviderError(`Cannot reach ${new URL(url).origin} to log in: ${reason}`, {
      code: "network",
      retryable: true,
    });
  }
  const answer = asRecord(await response.json().catch(() => null));
  if (response.ok || "error" in answer) return answer;
  throw refused(`${new URL(url).origin} answered ${response.status}`, response.status);
}

function refused(why: string, status: number | null = null): ProviderError {
  return new ProviderError(`Cannot log in to GitHub Copilot: ${why}`, { code: "auth", retryable: false, status });
}

/** GitHub's error text only; the whole response may contain a token. */
function said({ error, error_description: text }: Readonly<Record<string, unknown>>): string {
  const words = typeof text === "string" ? text : error;
  return typeof words === "string" ? `: ${words.slice(0, 200)}` : "";
}

function isWeb(uri: unknown): uri is string {
  return typeof uri === "string" && /^https?:$/.test(URL.parse(uri)?.protocol ?? "");
}

function seconds(value: unknown, otherwise: number): number {
  return (typeof value === "number" && value > 0 ? value : otherwise) * 1000;
}
