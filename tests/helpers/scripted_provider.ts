import { Cancelled } from "../../src/domain/errors.ts";
import { abortable, REAL_CLOCK } from "../../src/domain/kit/concurrency.ts";
import type { WebSource } from "../../src/domain/query/model_call.ts";
import type { Usage } from "../../src/domain/query/query_schemas.ts";
import {
  type Capabilities,
  type ModelEvent,
  type ModelRequest,
  type Provider,
  UNKNOWN_MODEL,
} from "../../src/providers/provider.ts";

export interface ScriptedReplyParts {
  readonly text: string;
  readonly reasoning?: string;
  /** Missing fields count one token per 4 characters. With `usage`, the provider reports usage before the reply, so that
   * even a cut reply has usage. */
  readonly usage?: Partial<Usage>;
  readonly delayMs?: number;
  /** The first event waits until this promise settles. An abort ends the wait. */
  readonly after?: Promise<unknown>;
  /** The second half of the text waits until this promise settles. An abort ends the wait. */
  readonly between?: Promise<unknown>;
  readonly chunk?: number;
  readonly finish?: string;
  readonly sources?: readonly WebSource[];
  readonly failAfter?: Error;
}

export type ScriptedReply =
  | string
  | Error
  | ScriptedReplyParts
  | ((request: ScriptedRequest) => string | Error | ScriptedReplyParts);

export interface ScriptedRequest {
  readonly model: string;
  readonly reasoning: ModelRequest["reasoning"];
  readonly search: boolean;
  readonly messages: ModelRequest["messages"];
  readonly texts: readonly string[];
  readonly context: string;
  readonly bytes: number;
}

export interface ScriptedProvider extends Provider {
  readonly requests: readonly ScriptedRequest[];
  readonly remaining: number;
  /** A call counts if its caller aborted or left the stream before the end. */
  readonly aborted: number;
  push(...replies: readonly ScriptedReply[]): void;
}

export interface ScriptedOptions {
  readonly name?: string;
  readonly model?: string;
  readonly capabilities?: Partial<Capabilities>;
  readonly otherwise?: ScriptedReply;
}

export function scriptedProvider(
  replies: readonly ScriptedReply[],
  options: ScriptedOptions = {},
): ScriptedProvider {
  return new Scripted(replies, options);
}

/** A block of a test takes less time, even on a busy machine. */
const BLOCK_MS = 30_000;

export function replyJson(
  code: string | readonly string[],
  rest: { readonly thinking?: string; readonly final?: string | object; readonly next?: object } = {},
): string {
  const blocks = (typeof code === "string" ? [code] : code).map((expr) => ({ expr, timeMs: BLOCK_MS }));
  const final = typeof rest.final === "string"
    ? { answer: rest.final, answerType: "text", confidence: "high" }
    : rest.final;
  return JSON.stringify({
    thinking: rest.thinking ?? "",
    code: blocks,
    ...(rest.next ? { next: rest.next } : {}),
    ...(final ? { final } : {}),
  });
}

export function final(answer: string): string {
  return replyJson([], { final: answer });
}

class Scripted implements ScriptedProvider {
  readonly name: string;
  readonly defaultModel: string;
  readonly #capabilities: Capabilities;
  readonly #queue: ScriptedReply[];
  readonly #otherwise: ScriptedReply | null;
  readonly #requests: ScriptedRequest[] = [];
  #aborted = 0;

  constructor(replies: readonly ScriptedReply[], options: ScriptedOptions) {
    this.name = options.name ?? "scripted";
    this.defaultModel = options.model ?? "script";
    this.#capabilities = { ...UNKNOWN_MODEL, ...options.capabilities };
    this.#queue = [...replies];
    this.#otherwise = options.otherwise ?? null;
  }

  get requests(): readonly ScriptedRequest[] {
    return this.#requests;
  }

  get remaining(): number {
    return this.#queue.length;
  }

  get aborted(): number {
    return this.#aborted;
  }

  push(...replies: readonly ScriptedReply[]): void {
    this.#queue.push(...replies);
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
    let ended = false;
    try {
      throwIfAborted(request.signal);
      const asked = record(request);
      this.#requests.push(asked);
      yield* this.#play(asked, request);
      ended = true;
    } catch (error) {
      ended = !(error instanceof Cancelled);
      throw error;
    } finally {
      if (!ended) this.#aborted++;
    }
  }

  models(options: { readonly signal: AbortSignal }): Promise<readonly string[]> {
    if (options.signal.aborted) return Promise.reject(new Cancelled("Cancelled"));
    return Promise.resolve([this.defaultModel]);
  }

  capabilities(_model: string): Capabilities {
    return this.#capabilities;
  }

  async *#play(asked: ScriptedRequest, request: ModelRequest): AsyncGenerator<ModelEvent> {
    const reply = this.#next(asked);
    const usage = { ...countUsage(asked, reply), ...reply.usage };
    if (reply.usage) request.onUsage?.(usage);
    if (reply.delayMs) await REAL_CLOCK.sleep(reply.delayMs, request.signal);
    if (reply.after) await abortable(reply.after, request.signal);
    for (const delta of pieces(reply.reasoning ?? "", reply.chunk)) {
      throwIfAborted(request.signal);
      yield { type: "reasoning", delta };
    }
    const texts = [...pieces(reply.text, reply.chunk)];
    for (const [at, delta] of texts.entries()) {
      if (reply.between && at === texts.length >> 1) await abortable(reply.between, request.signal);
      throwIfAborted(request.signal);
      yield { type: "text", delta };
    }
    throwIfAborted(request.signal);
    if (reply.failAfter) throw reply.failAfter;
    const { finish = "stop", sources = [] } = reply;
    yield { type: "end", usage, model: request.model, finish, sources };
  }

  #next(asked: ScriptedRequest): ScriptedReplyParts {
    const scripted = this.#queue.shift() ?? this.#otherwise;
    if (scripted === null) {
      const number = this.#requests.length;
      throw new Error(
        `Cannot reply: request ${number} came after the last scripted reply. Its context was:\n${asked.context}`,
      );
    }
    const reply = typeof scripted === "function" ? scripted(asked) : scripted;
    if (reply instanceof Error) throw reply;
    return typeof reply === "string" ? { text: reply } : reply;
  }
}

function record(request: ModelRequest): ScriptedRequest {
  const texts = request.messages.map((message) => message.text);
  return {
    model: request.model,
    reasoning: request.reasoning,
    search: request.search ?? false,
    messages: request.messages,
    texts,
    context: texts.at(-1) ?? "",
    bytes: texts.reduce((sum, text) => sum + new TextEncoder().encode(text).byteLength, 0),
  };
}

function countUsage(asked: ScriptedRequest, reply: ScriptedReplyParts): Usage {
  const reasoning = Math.ceil((reply.reasoning ?? "").length / 4);
  const input = asked.texts.reduce((sum, text) => sum + Math.ceil(text.length / 4), 0);
  return { input, output: Math.ceil(reply.text.length / 4) + reasoning, cached: 0, reasoning, calls: 1 };
}

/** By default, a text arrives in at most 4096 pieces. */
function* pieces(text: string, size = Math.max(16, Math.ceil(text.length / 4096))): Generator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new Cancelled("Cancelled");
}
