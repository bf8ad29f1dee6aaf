import type { MockReply, MockRequest } from "./openai_mock.ts";

/** A response before it is sent. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | AsyncGenerator<Uint8Array>;
}

/** What a reply is on the wire. Waits as long as the reply's faults want; `signal` says that the client is gone. */
export async function answerOf(reply: MockReply, call: { asked: MockRequest; signal: AbortSignal }): Promise<Answer> {
  const { fault } = reply;
  if (fault === "no_headers") await pause(Infinity, call.signal);
  const events = { "content-type": "text/event-stream", ...reply.headers };
  if (reply.status !== undefined && reply.body === undefined) {
    return failure(reply.status, reply.error ?? { message: `Mock failure ${reply.status}` }, reply.headers);
  }
  if (reply.body !== undefined) {
    const headers = { "content-type": "application/json", ...reply.headers };
    return { status: reply.status ?? 200, headers, body: reply.body };
  }
  if (fault === "html") {
    const headers = { "content-type": "text/html; charset=utf-8" };
    return { status: 200, headers, body: "<!doctype html><html><body>Welcome to nginx</body></html>" };
  }
  if (fault === "empty") return { status: 200, headers: events, body: "" };
  if (fault === "prose") return { status: 200, headers: { "content-type": "text/plain" }, body: "It works!" };
  if (call.asked.body.stream !== true || fault === "not_streamed") return json(200, whole(reply, call.asked));
  return { status: 200, headers: events, body: play(reply, call) };
}

async function* play(
  reply: MockReply,
  call: { asked: MockRequest; signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  const { fault } = reply;
  const bytes = new TextEncoder();
  // A first comment makes the headers leave at once, as a slow server's would.
  yield bytes.encode(": stream\n\n");
  if (fault === "no_token") await pause(Infinity, call.signal);
  if (reply.delayMs) await pause(reply.delayMs, call.signal);
  const events = [...chunks(reply, call.asked)];
  const half = Math.ceil(events.length / 2);
  for (const [at, event] of events.entries()) {
    if (at === half) {
      if (fault === "silence") await pause(Infinity, call.signal);
      if (fault === "ends_early") return;
      if (fault === "garbage_chunk") yield bytes.encode(`data: {"choices": [{"delta": {"cont\n\n`);
      if (fault === "ping") yield bytes.encode(`data: {"type":"ping"}\n\n`);
      if (fault === "error_chunk") {
        yield bytes.encode(
          `data: ${JSON.stringify({ error: reply.error ?? { message: "Overloaded", code: 503 } })}\n\n`,
        );
        return;
      }
    }
    // What was written before a reset may be lost with it: let it arrive first.
    if (fault === "cut" && at >= half) {
      await pause(20, call.signal);
      throw new Error("Connection reset by the mock");
    }
    const line = bytes.encode(`data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`);
    if (fault !== "bytewise") yield line;
    else for (const byte of line) yield Uint8Array.of(byte);
  }
}

function* chunks(reply: MockReply, asked: MockRequest): Generator<object | string> {
  const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_700_000_000 };
  const base = { ...head, model: reply.model ?? asked.body.model };
  const delta = (fields: object, finish: string | null = null) => ({
    ...base,
    choices: [{ index: 0, delta: fields, finish_reason: finish }],
  });
  yield delta({ role: "assistant", content: "" });
  for (const part of pieces(reply.reasoning ?? "", reply.chunk)) {
    yield delta({ [reply.reasoningField ?? "reasoning_content"]: part });
  }
  for (const part of pieces(reply.text ?? "", reply.chunk)) yield delta({ content: part });
  for (const part of pieces(reply.refusal ?? "", reply.chunk)) yield delta({ refusal: part });
  if (reply.fault !== "no_finish") yield delta({}, reply.finish ?? "stop");
  if (asked.body.stream_options?.include_usage && reply.usage !== null) {
    yield { ...base, choices: [], usage: usageOf(reply, asked) };
  }
  yield "[DONE]";
}

function whole(reply: MockReply, asked: MockRequest): object {
  const message = {
    role: "assistant",
    content: reply.text ?? "",
    ...(reply.reasoning ? { [reply.reasoningField ?? "reasoning_content"]: reply.reasoning } : {}),
    ...(reply.refusal ? { refusal: reply.refusal } : {}),
  };
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_700_000_000,
    model: reply.model ?? asked.body.model,
    choices: [{ index: 0, message, finish_reason: reply.finish ?? "stop" }],
    ...(reply.usage === null ? {} : { usage: usageOf(reply, asked) }),
  };
}

function usageOf(reply: MockReply, asked: MockRequest): object {
  if (reply.usage) return reply.usage;
  const input = asked.texts.reduce((sum, text) => sum + Math.ceil(text.length / 4), 0);
  const output = Math.ceil(((reply.text ?? "").length + (reply.reasoning ?? "").length) / 4);
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

export function json(status: number, body: object, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
}

export function failure(
  status: number,
  error: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return json(status, { error: { type: null, code: null, ...error } }, headers);
}

function* pieces(text: string, size = 24): Generator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = Number.isFinite(ms) ? setTimeout(resolve, ms) : undefined;
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    }, { once: true });
  });
}
