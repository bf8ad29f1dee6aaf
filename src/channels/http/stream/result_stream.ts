import type { QueryResult } from "../../../domain/query/query_result.ts";
import { textStream } from "./text_stream.ts";

/** A result as JSON once it is available. The headers are sent at once and white space until then; writing is how a
 * disconnected client is detected. */
export function resultStream(
  ended: Promise<QueryResult>,
  { heartbeatMs, left }: { readonly heartbeatMs: number; readonly left: () => void },
): Response {
  ended.catch(() => {}); // a client that left does not receive it
  const body = textStream(resultText(ended), { heartbeatMs, alive: " ", left });
  return new Response(body, {
    headers: { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" },
  });
}

async function* resultText(ended: Promise<QueryResult>): AsyncGenerator<string> {
  yield " ";
  yield JSON.stringify(await ended);
}
