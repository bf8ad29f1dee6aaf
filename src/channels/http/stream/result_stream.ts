import type { QueryResult } from "../../../domain/query/query_result.ts";
import { textStream } from "./text_stream.ts";

/** A result as JSON once it is there. Its head is sent at once and white space until then, which is how it is seen that
 * the client has left. */
export function resultStream(
  ended: Promise<QueryResult>,
  { heartbeatMs, left }: { readonly heartbeatMs: number; readonly left: () => void },
): Response {
  ended.catch(() => {}); // whoever leaves before does not hear of it
  const body = textStream(resultText(ended), { heartbeatMs, alive: " ", left });
  return new Response(body, {
    headers: { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" },
  });
}

async function* resultText(ended: Promise<QueryResult>): AsyncGenerator<string> {
  yield " ";
  yield JSON.stringify(await ended);
}
