import { ServerMessages } from "./server_messages.ts";
import { httpTransport } from "./http_transport.ts";
import { isSigned, loginAdvice, LoginError, type ServerLogin } from "./login/stored_logins.ts";
import { type HttpConfig, type ServerConfig, ServerError, type StdioConfig } from "./settings.ts";
import { StdioTransport } from "./stdio_transport.ts";
import { Client, type ClientOptions, SdkHttpError } from "@modelcontextprotocol/client";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { abortable, type EnvironmentView, messageOf, settledWithin } from "@vis/extension";

export interface McpConnection {
  readonly client: Client;
  readonly why: string;
  readonly running: Set<Promise<unknown>>;
  /** Returns whether a request failed because the session has ended, so that the server did not run the request. */
  hasLost(error: unknown): boolean;
  readonly wholeResult: ServerMessages["whole"];
  close(): Promise<void>;
}

interface ConnectOptions {
  readonly name: string;
  readonly config: ServerConfig;
  readonly login: ServerLogin | null;
  readonly onToolsChanged: () => void;
  readonly onEnd: () => void;
  readonly onStderr: (text: string) => void;
  readonly signal: AbortSignal;
}

type Validator = NonNullable<ClientOptions["jsonSchemaValidator"]>;

/** The patterns of a server's schema could hang the process, so Vis does not check results against schemas. */
const UNCHECKED: Validator = {
  getValidator:
    (() => (data: unknown) => ({ valid: true, data, errorMessage: undefined })) as Validator["getValidator"],
};
const CLOSE_MS = 3_000;
const PROBE_MS = 3_000;

export async function connect(env: EnvironmentView, options: ConnectOptions): Promise<McpConnection> {
  const { config, login, onToolsChanged, onEnd } = options;
  const client = new Client({ name: "vis", version: "1.0.0" }, {
    capabilities: {},
    jsonSchemaValidator: UNCHECKED,
    listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onToolsChanged } },
    versionNegotiation: { mode: "auto", probe: { timeoutMs: Math.min(PROBE_MS, config.startMs / 4) } },
  });
  client.onclose = onEnd;
  client.onerror = () => {};
  let status = 0;
  const answers = new ServerMessages();
  const transport = "url" in config
    ? httpTransport(config, { answers, login, onStatus: (now) => status = now })
    : stdioTransport(env, { ...options, config, answers });
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
    const known = why(); // The end of the server would change the reason, so Vis reads the reason first.
    const hint = "url" in config
      ? addressHint(options.name, status, config)
      : hiddenFileHint(`${message}\n${known}`, config, { workspace: env.workspace }) ||
        programHint(`${message}\n${known}`, config);
    const reason = (ended() ? [known] : [message, known]).filter((one) => one !== "").join(", ");
    await settledWithin(Promise.allSettled([client.close(), transport.close()]), CLOSE_MS);
    if (error instanceof LoginError) throw error;
    const failed = `Vis could not connect (${reason})`;
    throw new Error(hint === "" ? failed : `${failed}; ${hint}`);
  }
  return {
    client,
    running: new Set(),
    get why() {
      return why();
    },
    hasLost: (error) => "sessionId" in transport && transport.sessionId !== undefined && isSessionFault(error),
    wholeResult: (result) => answers.whole(result),
    close: closeAll,
  };
}

export function httpStatusOf(error: unknown): number | null {
  return error instanceof SdkHttpError ? error.status ?? null : null;
}

/** The protocol requires status 404 after the end of a session, but some servers respond with 410 or 400. A JSON error
 * with a numeric `id` belongs to one request. */
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
  { name, config, onStderr, answers }: ConnectOptions & { readonly answers: ServerMessages },
): StdioTransport {
  if (!spawn) throw new ServerError(name, "Vis starts no programs in the locked profile; use a server with a url");
  if ("url" in config) throw new TypeError(`Cannot start MCP server ${name}: it has a url, not a command`);
  return new StdioTransport({ spawn, config, workspace, answers, onStderr });
}

const STOPPED = /EACCES|EPERM|EROFS|permission denied|operation not permitted|read-only file system/i;
const OFFLINE = /EAI_AGAIN|ENOTFOUND|ENETUNREACH|ECONNREFUSED|getaddrinfo|network is unreachable|resolve host/i;

const NOT_FOUND = /ENOENT|no such file|cannot find module|module not found|no module named/i;
const PROJECT_FILES = ["package.json", "pyproject.toml"];

/** Names the folder that a server must read if a file of its command line exists, but the server did not find it. */
export function hiddenFileHint(
  said: string,
  { command, args, read, write }: Pick<StdioConfig, "command" | "args" | "read" | "write">,
  { workspace, home = homedir() }: { readonly workspace: string; readonly home?: string },
): string {
  if (!NOT_FOUND.test(said) && !said.includes("does not exist")) return "";
  const open = [...read, ...write].map((path) => resolve(workspace, path));
  const path = [command, ...args].map((word) => /\/[^/].*/.exec(word)?.[0] ?? "").find((path) =>
    path !== "" && said.includes(path) && [workspace, ...open].every((one) => !isIn(path, one)) && existsSync(path)
  );
  if (path === undefined) return "";
  const project = projectOf(path, home);
  const folder = isIn(home, project) ? path : project; // No program may read the whole home folder.
  return `the command wall hides ${path}, so allow ${folder} with the setting read (vis mcp add --read ${folder})`;
}

function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/** The libraries of a server are in the folder of its project. */
function projectOf(path: string, home: string): string {
  for (let folder = dirname(path); folder !== dirname(folder) && folder !== home; folder = dirname(folder)) {
    if (PROJECT_FILES.some((name) => existsSync(join(folder, name)))) return folder;
  }
  return dirname(path);
}

export function programHint(
  said: string,
  { network, write, cwd }: Pick<StdioConfig, "network" | "write" | "cwd">,
): string {
  if (!network && OFFLINE.test(said)) return "it has no network, so set network to true, or install what it downloads";
  if (cwd === undefined && NOT_FOUND.test(said)) {
    return 'it started outside the workspace, so set cwd to "." if it is a program of the workspace';
  }
  if (!STOPPED.test(said)) return "";
  const missing = write.length === 0 ? "write, for its changes, or read" : "read, for its other files";
  return `its wall may have stopped it, so allow more with the settings ${missing}`;
}

export function addressHint(name: string, status: number, { headers }: Pick<HttpConfig, "headers">): string {
  if (status === 401 || status === 403) {
    return isSigned(headers)
      ? `the server refused the request with status ${status}, so check the token of the Authorization header`
      : loginAdvice(name);
  }
  if (status !== 404 && status !== 405) return "";
  return "use the address of the server for streamable HTTP, for example an address that ends with /mcp, because Vis does " +
    "not support the older SSE transport";
}
