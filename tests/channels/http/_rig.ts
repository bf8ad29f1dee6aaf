import { ownConnections } from "../../../src/app/services/serve.ts";
import type { HttpLimits, HttpParts } from "../../../src/channels/http/http_parts.ts";
import { startHttp } from "../../../src/channels/http/start_http.ts";
import { oneToken, type Quota, type TokenSource } from "../../../src/channels/http/tokens.ts";
import { type Engine, type EngineOptions, startEngine } from "../../helpers/engine.ts";
import type { ScriptedReply } from "../../helpers/scripted_provider.ts";
import { type SseEvent, sseEvents } from "../../helpers/wires/sse_events.ts";

export const TOKEN = "test-token-0123456789";

export interface Rig extends AsyncDisposable {
  readonly url: string;
  readonly engine: Engine;
  readonly logged: Engine["logged"];
  ask(path: string, init?: RequestInit): Promise<Response>;
  post(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
  conversation(): Promise<string>;
  close(): Promise<void>;
}

export const LIMITS: HttpLimits = {
  bodyBytes: 1 << 20,
  bodyMs: 30_000,
  idle: { headMs: 30_000, idleMs: 300_000 },
  headerBytes: 8_192,
  chunked: true,
  urlBytes: 4_096,
  shutdownMs: 50,
  heartbeatMs: 15_000,
  lookMs: 5,
  useMs: 5,
  perToken: { perMinute: 1e9, burst: 1e9 },
  perAddress: { perMinute: 1e9, burst: 1e9 },
  wrongTokens: { perMinute: 1e9, burst: 1e9 },
};

export const NO_QUOTA: Quota = { queriesPerDay: null, costUsdPerDay: null, concurrent: null };

const MODELS = [{ provider: "scripted", source: "config" as const, detail: "", models: [] }];
const EXTENSIONS = [{
  ...{ name: "vis.fs", place: "shipped" as const, state: "loaded" as const, version: "1.0.0", alias: "fs" },
  ...{ doc: "Files", path: "", reason: "", commands: [] },
}];

const SUGGESTIONS: HttpParts["suggestions"] = {
  files: (_workspace, letters) => Promise.resolve([`src/${letters}.ts`]),
  prompts: ({ workspace }) => Promise.resolve([{ name: "review", detail: workspace, text: "Review $ARGUMENTS" }]),
};

export async function startRig(
  replies: readonly ScriptedReply[],
  options: {
    readonly ready?: HttpParts["ready"];
    readonly limits?: Partial<HttpLimits>;
    readonly hosts?: readonly string[];
    readonly proxies?: readonly string[];
    readonly tokens?: TokenSource;
    readonly usedToday?: NonNullable<HttpParts["usedToday"]>;
    readonly now?: () => number;
    readonly undo?: HttpParts["undo"];
    readonly workspaces?: readonly string[];
    readonly models?: Awaited<ReturnType<HttpParts["admin"]["models"]>>;
    readonly engine?: EngineOptions;
  } = {},
): Promise<Rig> {
  const engine = await startEngine(replies, { workspace: "/work", ...options.engine });
  const at = (level: string) => (event: string, data: Record<string, unknown> = {}): void => {
    engine.logged.push({ level, event, data });
  };
  const server = startHttp({
    conversations: engine.conversations,
    workspace: "/work",
    provider: "scripted",
    model: "script",
    version: "1.2.3",
    admin: { models: () => Promise.resolve(options.models ?? MODELS) },
    suggestions: SUGGESTIONS,
    ...(options.undo ? { undo: options.undo } : {}),
    ...(options.workspaces ? { workspaces: options.workspaces } : {}),
    extensions: { list: () => Promise.resolve(EXTENSIONS) },
    log: { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") },
    now: options.now ?? Date.now,
    ...(options.usedToday ? { usedToday: options.usedToday } : {}),
    tokens: options.tokens ?? oneToken(TOKEN, NO_QUOTA),
    hosts: options.hosts ?? [],
    proxies: options.proxies ?? [],
    ...(options.ready ? { ready: options.ready } : {}),
    limits: { ...LIMITS, ...options.limits },
    ownConnections: ownConnections(),
  }, { host: "127.0.0.1", port: 0 });
  const closed = { done: false };
  const close = async (): Promise<void> => {
    if (closed.done) return;
    closed.done = true;
    await server.close();
    await engine.close();
  };
  const ask = (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    if (!headers.has("authorization")) headers.set("authorization", `Bearer ${TOKEN}`);
    return fetch(new URL(path, server.url), { ...init, headers });
  };
  const post: Rig["post"] = (path, body = {}, headers = {}) =>
    ask(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  return {
    url: server.url,
    engine,
    logged: engine.logged,
    ask,
    post,
    conversation: async () => (await (await post("/api/v1/conversations", { title: "A test" })).json()).conversationId,
    close,
    [Symbol.asyncDispose]: close,
  };
}

export function onCall(rig: Rig, name: "ask" | "steer" | "check", then: () => void): void {
  const { conversations } = rig.engine;
  const of = conversations.of.bind(conversations);
  conversations.of = (view) => {
    const seen = of(view);
    const method = seen[name].bind(seen) as (...args: unknown[]) => unknown;
    return Object.assign(seen, {
      [name]: (...args: unknown[]) => {
        then();
        return method(...args);
      },
    });
  };
}

export const SSE = { accept: "text/event-stream" } as const;

export async function allEvents(response: Response): Promise<readonly SseEvent[]> {
  return await Array.fromAsync(sseEvents(response));
}
