import { Client, type ClientOptions, SdkHttpError } from "@modelcontextprotocol/client";
import { abortable, type EnvironmentView, messageOf, settledWithin } from "@vis/extension";
import { addressHint, programHint } from "./connect_hint.ts";
import { httpTransport } from "./http_transport.ts";
import { LoginError } from "./login/login_error.ts";
import type { ServerLogin } from "./login/server_login.ts";
import type { ServerConfig } from "./server_config.ts";
import { ServerError } from "./server_error.ts";
import { StdioTransport } from "./stdio_transport.ts";

export interface McpConnection {
  readonly client: Client;
  /** The known reason why it is unusable; "" if there is none. */
  readonly why: string;
  /** Requests that were sent and not answered. */
  readonly running: Set<Promise<unknown>>;
  /** Whether a request failed because the server no longer has the session; it did not run that request. */
  hasLost(error: unknown): boolean;
  close(): Promise<void>;
}

export interface ConnectOptions {
  readonly name: string;
  readonly config: ServerConfig;
  readonly login: ServerLogin | null;
  readonly onToolsChanged: () => void;
  readonly onEnd: () => void;
  readonly onStderr: (text: string) => void;
  /** Ends a start that goes on. */
  readonly signal: AbortSignal;
}

type Validator = NonNullable<ClientOptions["jsonSchemaValidator"]>;

/** Results are data for code: no schema of a server is compiled or run here, where its patterns could hang the process. */
const UNCHECKED: Validator = {
  getValidator:
    (() => (data: unknown) => ({ valid: true, data, errorMessage: undefined })) as Validator["getValidator"],
};
const CLOSE_MS = 3_000;
/** A server that supports only the older protocol may not answer the first request. */
const PROBE_MS = 3_000;

/** Starts a server and negotiates the protocol version. If it rejects, everything is cleaned up. Rejects with LoginError
 * if a login is missing. */
export async function connect(env: EnvironmentView, options: ConnectOptions): Promise<McpConnection> {
  const { config, login, onToolsChanged, onEnd } = options;
  const client = new Client({ name: "vis", version: "1.0.0" }, {
    capabilities: {},
    jsonSchemaValidator: UNCHECKED,
    listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onToolsChanged } },
    versionNegotiation: { mode: "auto", probe: { timeoutMs: Math.min(PROBE_MS, config.startMs / 4) } },
  });
  client.onclose = onEnd;
  client.onerror = () => {}; // relevant errors surface through requests
  let status = 0;
  const transport = "url" in config
    ? httpTransport(config, { login, onStatus: (now) => status = now })
    : stdioTransport(env, { ...options, config });
  const closeAll = async (): Promise<void> => {
    if ("terminateSession" in transport) await settledWithin(transport.terminateSession(), CLOSE_MS);
    await settledWithin(client.close(), CLOSE_MS);
  };
  const ended = (): boolean => transport instanceof StdioTransport && transport.ended;
  const why = (): string => transport instanceof StdioTransport ? transport.why : "";
  try {
    await abortable(client.connect(transport, { timeout: config.startMs }), options.signal);
  } catch (error) {
    const message = messageOf(error);
    const known = why(); // read before the server is ended because of it
    const hint = "url" in config
      ? addressHint(options.name, status, config)
      : programHint(`${message}\n${known}`, config);
    const reasons = [...(ended() ? [known] : [message, known]), hint].filter((one) => one !== "");
    await settledWithin(Promise.allSettled([client.close(), transport.close()]), CLOSE_MS);
    if (error instanceof LoginError) throw error;
    throw new Error(`It did not start: ${reasons.join("; ")}`);
  }
  return {
    client,
    running: new Set(),
    get why() {
      return why();
    },
    hasLost: (error) => "sessionId" in transport && transport.sessionId !== undefined && isSessionFault(error),
    close: closeAll,
  };
}

/** The HTTP status of an error, or null. */
export function httpStatusOf(error: unknown): number | null {
  return error instanceof SdkHttpError ? error.status ?? null : null;
}

/** The protocol wants 404 for a session that has ended. Many servers answer 400 or 410 instead, with an error that is
 * no answer to the request: those have the number that the library gave the request. */
function isSessionFault(error: unknown): boolean {
  const status = httpStatusOf(error);
  if (status === 404 || status === 410) return true;
  if (status !== 400 || !(error instanceof SdkHttpError)) return false;
  try {
    return typeof Object(JSON.parse(String(error.data.text))).id !== "number";
  } catch {
    return true;
  }
}

function stdioTransport(
  { spawn, workspace }: EnvironmentView,
  { name, config, onStderr }: ConnectOptions,
): StdioTransport {
  if (!spawn) throw new ServerError(name, "this conversation has no wall for programs");
  if ("url" in config) throw new TypeError("Cannot start a program: the server has an address");
  return new StdioTransport({ spawn, config, workspace, onStderr });
}
