import { Buffer } from "node:buffer";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type Answer, answerOf, json } from "./mock_answer.ts";
import type { MockWire } from "./mock_wire.ts";

export interface MockReply {
  readonly text?: string;
  readonly reasoning?: string;
  readonly reasoningField?: "reasoning_content" | "reasoning";
  readonly refusal?: string;
  readonly search?: MockSearch;
  /** The usage has the service's own format. By default, the mock counts one token per 4 characters; null means no
   * counts. */
  readonly usage?: Readonly<Record<string, unknown>> | null;
  readonly counts?: MockCounts;
  readonly chunk?: number;
  /** The mock translates "stop", the default, "length" and "content_filter" for each service. The mock sends other
   * values unchanged. */
  readonly finish?: string;
  readonly delayMs?: number;
  /** The mock sends this status instead of the reply. With `body`, even the status 200 replaces the reply. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly error?: Readonly<Record<string, unknown>>;
  readonly fault?: MockFault;
  readonly lineEnd?: "\n" | "\r\n" | "\r";
  readonly comment?: string;
  readonly holdsOpen?: true;
  readonly endsAfterMs?: number;
  readonly model?: string;
}

interface MockPage {
  readonly url: string;
  readonly title: string;
}

export interface MockSearch {
  readonly queries: readonly string[];
  readonly cited: readonly MockPage[];
  readonly found?: readonly MockPage[];
  readonly before?: string;
}

export interface MockCounts {
  readonly input: number;
  readonly output: number;
  readonly cached?: number;
  readonly cacheWrite?: number;
  readonly reasoning?: number;
}

export type MockFault =
  | "cut"
  | "ends_early"
  /** The stream ends with `[DONE]`, but has no finish reason. */
  | "no_finish"
  | "garbage_chunk"
  /** A JSON chunk of another shape precedes the rest of the reply. */
  | "ping"
  | "error_chunk"
  | "html"
  | "empty"
  /** The body is text that is neither events nor JSON. */
  | "prose"
  /** The server sends one JSON object, although the client requested a stream. */
  | "not_streamed"
  /** The server sends no bytes, not even headers, until the client leaves. */
  | "no_headers"
  | "no_answer"
  /** The server sends headers, and no more bytes until the client leaves. */
  | "no_token"
  /** The server sends half of the text, and no more bytes until the client leaves. */
  | "silence"
  /** After the finish reason, the server sends no mark of the end, and keeps the connection open. */
  | "stays_open"
  /** After the finish reason, the server sends no mark of the end, and resets the connection. */
  | "cut_at_end"
  | "endless"
  /** The server sends half of the text, then a line without an end. */
  | "endless_line"
  /** The server sends half of the text, then an event without an end. */
  | "endless_event"
  | "endless_comments"
  | "endless_pings"
  /** The server sends endless JSON instead of a stream, or with an error status. */
  | "endless_body"
  | "bytewise";

export interface MockRequest {
  readonly index: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  // deno-lint-ignore no-explicit-any
  readonly body: any;
  readonly texts: readonly string[];
  readonly context: string;
  readonly bytes: number;
}

export type MockHandler = (request: MockRequest) => string | MockReply | Promise<string | MockReply>;

export interface MockOptions {
  /** A list is a queue of replies. After the last reply, the mock sends the status 410. */
  readonly reply?: string | MockReply | readonly (string | MockReply)[];
  readonly handler?: MockHandler;
  readonly models?: readonly string[];
  readonly key?: string;
  readonly onRequest?: (request: MockRequest) => void;
  readonly onReplied?: () => void;
}

export interface WireMock {
  readonly baseUrl: string;
  readonly requests: readonly MockRequest[];
  readonly modelRequests: number;
  readonly connections: number;
  readonly left: number;
  waitForLeft(count: number): Promise<void>;
  close(): Promise<void>;
}

export async function startWireMock(wire: MockWire, options: MockOptions): Promise<WireMock> {
  const mock = new Mock(wire, options);
  await mock.listen();
  return mock;
}

class Mock implements WireMock {
  readonly requests: MockRequest[] = [];
  modelRequests = 0;
  left = 0;
  connections = 0;
  readonly #wire: MockWire;
  readonly #options: MockOptions;
  readonly #queue: (string | MockReply)[] | null;
  readonly #server: Server;
  readonly #waiting = new Set<() => void>();
  readonly #stop = new AbortController();

  constructor(wire: MockWire, options: MockOptions) {
    this.#wire = wire;
    this.#options = options;
    this.#queue = isList(options.reply) ? [...options.reply] : null;
    this.#server = createServer((request, response) => void this.#serve(request, response));
    this.#server.on("connection", () => this.connections++);
  }

  get baseUrl(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") {
      throw new Error("Cannot name the address of the mock: it does not listen");
    }
    return `http://127.0.0.1:${address.port}${this.#wire.base}`;
  }

  listen(): Promise<void> {
    return new Promise((resolve) => void this.#server.listen(0, "127.0.0.1", () => resolve()));
  }

  async waitForLeft(count: number): Promise<void> {
    const giveUp = AbortSignal.timeout(20_000);
    while (this.left < count) {
      await new Promise<void>((resolve, reject) => {
        this.#waiting.add(resolve);
        giveUp.addEventListener(
          "abort",
          () => reject(new Error(`Cannot wait longer: clients left ${this.left} of ${count} replies`)),
        );
      });
    }
  }

  close(): Promise<void> {
    this.#stop.abort();
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.on("close", () => {
      gone.abort();
      if (!response.writableFinished && !this.#stop.signal.aborted) this.#leave();
    });
    const signal = AbortSignal.any([gone.signal, this.#stop.signal]);
    const answer = await this.#answer(request, signal).catch((error) => {
      // A killed client aborts its request.
      if (!request.readableAborted) throw error;
      return null;
    });
    if (answer === null) return void response.destroy();
    response.writeHead(answer.status, answer.headers);
    if (typeof answer.body === "string") return void response.end(answer.body);
    response.flushHeaders();
    try {
      for await (const bytes of answer.body) {
        if (gone.signal.aborted) return;
        await new Promise((resolve) => response.write(bytes, resolve));
      }
      response.end();
      this.#options.onReplied?.();
    } catch {
      response.destroy();
    }
  }

  async #answer(request: IncomingMessage, signal: AbortSignal): Promise<Answer | null> {
    const path = request.url ?? "/";
    const { pathname } = new URL(path, "http://mock");
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const key = this.#wire.keyOf(headers);
    if (this.#options.key !== undefined && key !== this.#options.key) {
      return json(401, this.#wire.failure(401, { message: `Incorrect API key provided: ${key ?? "none"}.` }));
    }
    if (pathname === `${this.#wire.base}/models`) {
      this.modelRequests++;
      return json(200, this.#wire.listing(this.#options.models ?? ["mock-1"]));
    }
    if (!this.#wire.isRequest(pathname)) {
      return json(404, this.#wire.failure(404, { message: `Unknown path ${pathname}` }));
    }
    const asked = await readRequest(request, { index: this.requests.length, path, headers, wire: this.#wire });
    this.requests.push(asked);
    this.#options.onRequest?.(asked);
    const reply = await this.#reply(asked);
    return await answerOf(typeof reply === "string" ? { text: reply } : reply, { asked, signal, wire: this.#wire });
  }

  #reply(asked: MockRequest): string | MockReply | Promise<string | MockReply> {
    if (this.#options.handler) return this.#options.handler(asked);
    const { reply } = this.#options;
    if (this.#queue === null && reply !== undefined && !isList(reply)) return reply;
    // Clients do not retry this status.
    return this.#queue?.shift() ?? { status: 410, error: { message: "The mock has no scripted reply left" } };
  }

  #leave(): void {
    this.left++;
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

async function readRequest(
  request: IncomingMessage,
  facts: Pick<MockRequest, "index" | "path" | "headers"> & { readonly wire: MockWire },
): Promise<MockRequest> {
  const parts: Uint8Array[] = [];
  for await (const part of request) parts.push(part);
  const raw = Buffer.concat(parts);
  const body = JSON.parse(raw.toString("utf8"));
  const { wire, ...rest } = facts;
  const texts = wire.textsOf(body);
  const method = request.method ?? "";
  return { ...rest, method, body, texts, context: texts.at(-1) ?? "", bytes: raw.byteLength };
}

function isList(reply: MockOptions["reply"]): reply is readonly (string | MockReply)[] {
  return Array.isArray(reply);
}
