import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { HttpConfig } from "./server_config.ts";

const MAX_ANSWER = 64 << 20;

/** A server over streamable HTTP. The size of an answer is bounded; redirects stay within the server's origin. */
export function httpTransport({ url, headers }: HttpConfig): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    redirectPolicy: "same-origin",
    fetch: async (input, init) => bounded(await fetch(input, init)),
  });
}

function bounded(answer: Response): Response {
  if (!answer.body) return answer;
  let length = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      length += chunk.length;
      if (length > MAX_ANSWER) controller.error(new RangeError(`Cannot read an answer of over ${MAX_ANSWER} bytes`));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = answer;
  return new Response(answer.body.pipeThrough(counter), { status, statusText, headers });
}
