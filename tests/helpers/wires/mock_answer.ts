import type { MockEvent, MockWire } from "./mock_wire.ts";
import type { MockReply, MockRequest } from "./wire_mock.ts";

/** Even an endless reply ends after this many pieces, for a client that never leaves. */
const ENDLESS_PIECES = 8_192;

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | AsyncGenerator<Uint8Array>;
}

interface Call {
  readonly asked: MockRequest;
  readonly signal: AbortSignal;
  readonly wire: MockWire;
}

/** Resolves with null if the server must close the connection. The signal aborts when the client has left. */
export async function answerOf(reply: MockReply, call: Call): Promise<Answer | null> {
  const { fault } = reply;
  if (fault === "no_answer") return null;
  if (fault === "no_headers") await pause(Infinity, call.signal);
  const events = { "content-type": "text/event-stream", ...reply.headers };
  if (fault === "endless_body") {
    const body = endless(`{"error": {"message": "`, PIECE);
    return { status: reply.status ?? 200, headers: { "content-type": "application/json" }, body };
  }
  if (reply.status !== undefined && reply.body === undefined) {
    const error = reply.error ?? { message: `Mock failure ${reply.status}` };
    return json(reply.status, call.wire.failure(reply.status, error), reply.headers);
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
  const isWhole = fault === "not_streamed" || !call.wire.isStreamed(call.asked);
  return isWhole
    ? json(200, call.wire.whole(reply, call.asked))
    : { status: 200, headers: events, body: play(reply, call) };
}

async function* play(reply: MockReply, call: Call): AsyncGenerator<Uint8Array> {
  const { fault } = reply;
  const write = writer(reply);
  // The first comment makes the headers leave at once, as the headers of a slow server do.
  yield* write(": stream\n\n");
  if (fault === "no_token") await pause(Infinity, call.signal);
  if (reply.delayMs) await pause(reply.delayMs, call.signal);
  const atEnd = fault === "stays_open" || fault === "cut_at_end";
  const events = [...call.wire.events(reply, call.asked)].filter((event) => !atEnd || !call.wire.isMark(event));
  const half = Math.ceil(events.length / 2);
  const repeated = Math.floor(events.length * 0.3);
  for (const [at, event] of events.entries()) {
    if (fault === "endless" && at === repeated) yield* endless("", frame(event));
    if (at === half) {
      if (fault === "silence") await pause(Infinity, call.signal);
      if (fault === "ends_early") return;
      if (fault === "garbage_chunk") yield* write(`data: {"type": "response.output_text.delta", "delt\n\n`);
      if (fault === "endless_line") yield* endless("data: ", PIECE);
      if (fault === "endless_event") yield* endless("", `data: ${PIECE}\n`);
      if (fault === "endless_comments") yield* endless("", `: ${PIECE}\n\n`);
      if (fault === "endless_pings") {
        yield* endless("", `: ${PIECE.slice(0, 2000)}\n${frame(call.wire.ping)}`.repeat(30));
      }
      if (fault === "ping") yield* write(frame(call.wire.ping));
      if (fault === "error_chunk") {
        yield* write(frame(call.wire.errorEvent(reply.error ?? { message: "Overloaded", code: 503 })));
        return;
      }
    }
    // A reset may drop earlier writes, so the mock waits until these writes have arrived.
    if (fault === "cut" && at >= half) {
      await pause(20, call.signal);
      throw new Error("Connection reset by the mock");
    }
    if (reply.comment !== undefined) yield* write(`: ${reply.comment}\n\n`);
    yield* write(frame(event));
  }
  if (reply.endsAfterMs) await pause(reply.endsAfterMs, call.signal);
  if (fault === "cut_at_end") {
    await pause(20, call.signal);
    throw new Error("Connection reset by the mock");
  }
  if (reply.holdsOpen || fault === "stays_open") await pause(Infinity, call.signal);
}

const PIECE = "x".repeat(65_536);

async function* endless(begin: string, more: string): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  yield encoder.encode(begin);
  const bytes = encoder.encode(more);
  for (let sent = 0; sent < ENDLESS_PIECES; sent++) yield await Promise.resolve(bytes);
}

function frame({ event, data }: MockEvent): string {
  return `${event ? `event: ${event}\n` : ""}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}

function writer({ fault, lineEnd = "\n" }: MockReply): (text: string) => Generator<Uint8Array> {
  const encoder = new TextEncoder();
  return function* (text) {
    const bytes = encoder.encode(text.replaceAll("\n", lineEnd));
    if (fault !== "bytewise") yield bytes;
    else for (const byte of bytes) yield Uint8Array.of(byte);
  };
}

export function json(status: number, body: object, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
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
