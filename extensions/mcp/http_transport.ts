import { type AuthProvider, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { reasonOf } from "@vis/extension";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import type { ServerMessages } from "./server_messages.ts";
import type { HttpConfig } from "./settings.ts";

const MAX_ANSWER = 64 << 20;
const EVENTS = "text/event-stream";
const KEPT_STATUSES: readonly number[] = [401, 403, 404, 410];

interface Reading {
  readonly answers: ServerMessages;
  readonly id: unknown;
}

export function httpTransport(
  { url, headers }: Pick<HttpConfig, "url" | "headers">,
  { answers, login, onStatus }: {
    readonly answers: ServerMessages;
    readonly login: AuthProvider | null;
    readonly onStatus: (status: number) => void;
  },
): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    ...(login ? { authProvider: login } : {}),
    redirectPolicy: "same-origin",
    fetch: async (input, init) => {
      const sent = typeof init?.body === "string" ? JSON.parse(init.body) : {};
      answers.sent(sent);
      const answer = await fetch(input, init);
      onStatus(answer.status);
      if (init?.method === "GET" && answer.ok && !isEvents(answer)) {
        // For a page that is no stream of events, the library would repeat the request endlessly.
        await answer.body?.cancel();
        return new Response(null, { status: 405 });
      }
      const whole = bounded(answer, init?.signal);
      const { id, method } = Object(sent);
      if (!answer.ok) {
        const isIgnored = method !== undefined && id === undefined && !KEPT_STATUSES.includes(answer.status);
        if (!isIgnored) return whole;
        await whole.body?.cancel();
        return new Response(null, { status: 202 });
      }
      return await readable(whole, { answers, id: method === undefined ? undefined : id });
    },
  });
}

/** `fetch` does not end the body of a garbage-collected Response, so the signal ends the body. */
function bounded(answer: Response, signal: AbortSignal | null | undefined): Response {
  if (!answer.body) return answer;
  let length = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      length += chunk.length;
      if (length > MAX_ANSWER) {
        controller.error(new RangeError(`Its response is larger than ${MAX_ANSWER >> 20} MiB, the limit`));
      } else controller.enqueue(chunk);
    },
  });
  return withBody(answer, answer.body.pipeThrough(counter, signal ? { signal } : {}));
}

async function readable(answer: Response, reading: Reading): Promise<Response> {
  if (!answer.body) return answer;
  if (isEvents(answer)) {
    return withBody(answer, ReadableStream.from(readableEvents(answer.body, reading)), EVENTS);
  }
  if (reading.id === undefined) return answer;
  const text = await wholeText(answer.body);
  if (text.trim() === "") return withBody(answer, null);
  if (/^\s*(?:event|data|id|retry)?:/.test(text)) {
    return withBody(answer, ReadableStream.from(readableEvents(new Blob([text]).stream(), reading)), EVENTS);
  }
  const message = readIn(text, reading);
  if (message === undefined) return withBody(answer, text);
  return withBody(answer, JSON.stringify(message), "application/json");
}

function isEvents({ headers }: Response): boolean {
  return /event-stream/i.test(headers.get("content-type") ?? "");
}

/** The server may keep the body open, so the text ends with its JSON. */
async function wholeText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  const pieces = new JsonPieces();
  let text = "", isJson: boolean | null = null;
  for await (const bytes of body) {
    const more = decoder.decode(bytes, { stream: true });
    text += more;
    if (isJson === null && more.trim() !== "") isJson = JSON_START.test(more);
    if (isJson && pieces.push(more).length > 0) break;
  }
  return text;
}

const JSON_START = /^\s*[{[]/;

class JsonPieces {
  #text = "";
  #depth = 0;
  #isQuoted = false;
  #isEscaped = false;

  push(piece: string): readonly string[] {
    const found: string[] = [];
    let from = 0;
    for (let at = 0; at < piece.length; at++) {
      const char = piece[at];
      if (this.#isEscaped) this.#isEscaped = false;
      else if (this.#isQuoted) [this.#isEscaped, this.#isQuoted] = [char === "\\", char !== '"'];
      else if (char === '"') this.#isQuoted = true;
      else if (char === "{" || char === "[") this.#depth++;
      else if ((char === "}" || char === "]") && --this.#depth <= 0) {
        found.push(this.rest() + piece.slice(from, at + 1));
        this.#depth = 0;
        from = at + 1;
      }
    }
    this.#text += piece.slice(from);
    return found;
  }

  rest(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }
}

/** If the stream ends without a response and the library cannot resume the stream, the last event is an error for the
 * request. */
async function* readableEvents(
  body: AsyncIterable<Uint8Array>,
  reading: Reading,
): AsyncGenerator<Uint8Array> {
  const { answers, id } = reading;
  const found: string[] = [];
  const pieces = new JsonPieces();
  let isResumable = false, isJson: boolean | null = null;
  const parser = createParser({
    onEvent: (event) => {
      isResumable ||= event.id !== undefined;
      found.push(eventText(event, reading));
    },
    onRetry: (ms) => found.push(`retry: ${ms}\n\n`),
    onComment: () => found.push(":\n\n"),
  });
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const taken = (): Uint8Array => encoder.encode(found.splice(0).join(""));
  let why = "the server ended its response without a result";
  try {
    for await (const bytes of body) {
      const text = decoder.decode(bytes, { stream: true });
      if (isJson === null && text.trim() !== "") isJson = JSON_START.test(text);
      if (isJson) found.push(...pieces.push(text).map((data) => eventText({ data }, reading)));
      else parser.feed(text);
      if (found.length > 0) yield taken();
    }
    if (isJson) {
      found.push(...[pieces.rest()].filter((data) => data.trim()).map((data) => eventText({ data }, reading)));
    } else parser.feed("\n\n");
  } catch (error) {
    if (isResumable || id === undefined || !answers.waits(id)) throw error;
    why = `the response of the server ended too early (${reasonOf(error)})`;
  }
  if (!isResumable && id !== undefined && answers.waits(id)) {
    found.push(eventText({ data: JSON.stringify({ id, error: { message: why } }) }, reading));
  }
  if (found.length > 0) yield taken();
}

function eventText({ event, id, data }: EventSourceMessage, reading: Reading): string {
  const message = readIn(data, reading);
  if (message === null) return "";
  const own = message === undefined ? data : JSON.stringify(message);
  const lines = own.split("\n").map((line) => `data: ${line}\n`);
  // The library ignores events that have a name other than "message".
  const name = event === undefined || message !== undefined && typeof message === "object" ? "" : `event: ${event}\n`;
  return `${id === undefined ? "" : `id: ${id}\n`}${name}${lines.join("")}\n`;
}

function readIn(text: string, { answers, id }: Reading): unknown {
  try {
    return answers.read(text, id);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function withBody({ status, statusText, headers }: Response, body: BodyInit | null, type?: string): Response {
  const own = new Headers(headers);
  if (type !== undefined) own.set("content-type", type);
  for (const name of ["content-length", "content-encoding"]) own.delete(name);
  // The library ignores the body of a response with status 202.
  return new Response(body, { status: status === 202 && type !== undefined ? 200 : status, statusText, headers: own });
}
