import type { HttpLimits } from "./http_parts.ts";
import type { Run } from "./run.ts";
import { textStream } from "./text_stream.ts";

/** The result of a run as JSON. Its head is sent at once and white space while it runs, which is how it is seen that the
 * client has left: then the run is cancelled. */
export function resultStream(run: Run, { heartbeatMs }: Pick<HttpLimits, "heartbeatMs">): Response {
  const body = textStream(resultText(run), { heartbeatMs, alive: " ", left: () => run.cancel() });
  return new Response(body, {
    headers: { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" },
  });
}

async function* resultText(run: Run): AsyncGenerator<string> {
  yield " ";
  yield JSON.stringify(await run.ended);
}
