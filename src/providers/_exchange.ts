import type { Endpoint } from "./_endpoint.ts";
import type { Failures, Refusal } from "./_failures.ts";
import { record } from "./_record.ts";
import { said } from "./_said.ts";

const MAX_ERROR_BYTES = 64 * 1024;
const MAX_JSON_BYTES = 32 * 1024 * 1024;

/** One HTTP call to a service: sends it, and makes every failure that HTTP itself shows a `ProviderError`. */
export class Exchange {
  readonly #endpoint: Endpoint;
  readonly #failures: Failures;
  readonly #asked: { readonly model: string | null; readonly path: string };
  #bytes = 0;
  #head = "";
  #tail = "";

  constructor(
    facts: { readonly endpoint: Endpoint; readonly failures: Failures },
    asked: { readonly model: string | null; readonly path: string },
  ) {
    this.#endpoint = facts.endpoint;
    this.#failures = facts.failures;
    this.#asked = asked;
  }

  /** Bytes of the body read so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The first bytes of the body as text, for messages. */
  get head(): string {
    return this.#head;
  }

  /** True once the stream said itself that it is complete. */
  get complete(): boolean {
    return this.#tail.includes("[DONE]");
  }

  /** A successful response whose body is an event stream. Throws `ProviderError`, or what `signal` was aborted with. */
  async stream(init: RequestInit): Promise<Response> {
    const response = await this.#send(init);
    if (!isJson(response)) return this.#watched(response, init.signal);
    const events = this.#asEvents(await this.#json(response, init.signal));
    return this.#watched(new Response(events, { headers: { "content-type": "text/event-stream" } }), init.signal);
  }

  /** The JSON of a successful response. */
  async json(init: RequestInit): Promise<unknown> {
    const response = await this.#send(init);
    return await this.#json(response, init.signal);
  }

  async #send(init: RequestInit): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(this.#endpoint.url(this.#asked.path), init);
    } catch (error) {
      if (init.signal?.aborted) throw error;
      throw this.#failures.unreachable(error);
    }
    const { status } = response;
    if (!response.ok) {
      const body = await readText(response, { maxBytes: MAX_ERROR_BYTES, signal: init.signal }).catch(() => "");
      throw this.#refused({ ...said(body), status, headers: response.headers });
    }
    if (response.body === null) throw this.#failures.empty(status);
    if (/\btext\/html\b/i.test(response.headers.get("content-type") ?? "")) {
      await response.body.cancel();
      throw this.#failures.webPage(status);
    }
    return response;
  }

  async #json(response: Response, signal: RequestInit["signal"]): Promise<unknown> {
    const text = await readText(response, { maxBytes: MAX_JSON_BYTES, signal }).catch(() => {
      throw this.#failures.cut();
    });
    if (text.trim() === "") throw this.#failures.empty(response.status);
    try {
      return JSON.parse(text);
    } catch {
      throw /^\s*(<!doctype|<html)/i.test(text)
        ? this.#failures.webPage(response.status)
        : this.#failures.unreadable(text);
    }
  }

  /** A completion that came whole, although a stream was asked for, as the stream it should have been. */
  #asEvents(completion: unknown): string {
    const { id, model, created, choices, usage, error } = record(completion);
    if (error !== undefined && error !== null) throw this.#refused({ ...said(completion), headers: new Headers() });
    if (!Array.isArray(choices)) throw this.#failures.unreadable(JSON.stringify(completion));
    const choice = record(choices[0]);
    const delta = { ...record(choice.message), tool_calls: undefined, role: "assistant" };
    const event = { id, model, created, usage, choices: [{ delta, finish_reason: choice.finish_reason ?? "stop" }] };
    return `data: ${JSON.stringify(event)}\n\ndata: [DONE]\n\n`;
  }

  #refused(refusal: Refusal): Error {
    return this.#failures.refused(refusal, this.#asked);
  }

  /** The same response; its body keeps count, and breaks with a `ProviderError` where the connection does. */
  #watched(response: Response, signal: RequestInit["signal"]): Response {
    const reader = response.body?.getReader();
    if (reader === undefined) throw this.#failures.empty(response.status);
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      start: (controller) => {
        // The runtime forgets to end the body once its Response is collected as garbage, so it is ended here.
        signal?.addEventListener("abort", () => {
          reader.cancel().catch(() => {});
          controller.error(signal.reason);
        }, { once: true });
      },
      pull: async (controller) => {
        const { done, value } = await reader.read().catch(() => {
          throw this.#failures.cut();
        });
        if (signal?.aborted) return;
        if (done) return controller.close();
        this.#note(value);
        controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    });
    return new Response(body, { status: response.status, headers: response.headers });
  }

  #note(chunk: Uint8Array): void {
    this.#bytes += chunk.byteLength;
    if (this.#head.length < 400) this.#head += new TextDecoder().decode(chunk.subarray(0, 400));
    this.#tail = (this.#tail + new TextDecoder().decode(chunk.subarray(-64))).slice(-64);
  }
}

function isJson(response: Response): boolean {
  return /\bapplication\/(\w+\+)?json\b/i.test(response.headers.get("content-type") ?? "");
}

/** At most about `maxBytes` of a body; what came so far once `signal` is aborted. */
async function readText(
  response: Response,
  options: { readonly maxBytes: number; readonly signal: RequestInit["signal"] },
): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const stop = () => void reader.cancel().catch(() => {});
  options.signal?.addEventListener("abort", stop, { once: true });
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (let bytes = 0; bytes < options.maxBytes;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      bytes += value.byteLength;
      text += decoder.decode(value, { stream: true });
    }
    return text;
  } finally {
    options.signal?.removeEventListener("abort", stop);
    stop();
  }
}
