import { type AuthProvider, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { JsonMeter } from "@vis/extension";
import { MESSAGE_LIMITS } from "./message_limits.ts";
import type { HttpConfig } from "./server_config.ts";

const MAX_ANSWER = 64 << 20;

/** A server over streamable HTTP. `onStatus` gets the status of each answer. The size of an answer is bounded;
 * redirects stay within the server's origin. */
export function httpTransport(
  { url, headers }: Pick<HttpConfig, "url" | "headers">,
  { login, onStatus }: { readonly login: AuthProvider | null; readonly onStatus: (status: number) => void },
): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    ...(login ? { authProvider: login } : {}),
    redirectPolicy: "same-origin",
    fetch: async (input, init) => {
      const answer = await fetch(input, init);
      onStatus(answer.status);
      return bounded(answer, init?.signal);
    },
  });
}

/** The signal also ends the body: that of `fetch` no longer does once its Response is garbage-collected. */
function bounded(answer: Response, signal: AbortSignal | null | undefined): Response {
  if (!answer.body) return answer;
  let length = 0;
  const meter = new JsonMeter(MESSAGE_LIMITS),
    isStream = /event-stream/i.test(answer.headers.get("content-type") ?? "");
  // Any text in which the signs of JSON are the same bytes; of a stream, each line is a message.
  const decoder = new TextDecoder("latin1");
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      length += chunk.length;
      try {
        count(meter, { text: decoder.decode(chunk), isStream });
      } catch (error) {
        return controller.error(error);
      }
      if (length > MAX_ANSWER) controller.error(new RangeError(`Cannot read an answer of over ${MAX_ANSWER} bytes`));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = answer;
  return new Response(answer.body.pipeThrough(counter, signal ? { signal } : {}), { status, statusText, headers });
}

function count(meter: JsonMeter, { text, isStream }: { readonly text: string; readonly isStream: boolean }): void {
  if (!isStream) return meter.push(text);
  const [first = "", ...lines] = text.split("\n");
  meter.push(first);
  for (const line of lines) {
    meter.restart();
    meter.push(line);
  }
}
