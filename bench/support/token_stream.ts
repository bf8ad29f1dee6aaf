const EVERY_MS = 5;

export interface TokenStream {
  readonly baseUrl: string;
  close(): Promise<void>;
}

/** A model of OpenAI's wire format on loopback: a step whose thinking and code arrive at `perSecond` tokens. */
export function startTokenStream(
  { perSecond, tokens }: { readonly perSecond: number; readonly tokens: number },
): TokenStream {
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (request) => {
    if (!request.url.endsWith("/chat/completions")) return Response.json({ data: [{ id: "stream" }] });
    return new Response(events(step(tokens), perSecond), { headers: { "content-type": "text/event-stream" } });
  });
  return { baseUrl: `http://127.0.0.1:${server.addr.port}/v1`, close: () => server.shutdown() };
}

/** Half of it is thinking, half of it code. */
function step(tokens: number): readonly string[] {
  const half = Math.ceil(tokens / 2);
  const thought = Array.from({ length: half }, (_, at) => at % 12 === 11 ? "then.\\n" : `word${at % 97} `);
  const code = Array.from(
    { length: half },
    (_, at) => at % 6 === 5 ? `n${at};\\n` : at % 6 === 0 ? "const " : `n${at} = `,
  );
  return ['{"thinking":"', ...thought, '","code":[{"expr":"/* ', ...code, '*/ 1","timeMs":1000}]}'];
}

function events(parts: readonly string[], perSecond: number): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const begun = performance.now();
  let sent = 0;
  let timer: ReturnType<typeof setInterval> | undefined;
  const chunk = (delta: object, finish: string | null): Uint8Array => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    return encoder.encode(
      `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "stream", choices })}\n\n`,
    );
  };
  return new ReadableStream({
    start: (controller) => {
      timer = setInterval(() => {
        const due = Math.min(parts.length, Math.ceil((performance.now() - begun) / 1000 * perSecond));
        for (; sent < due; sent++) controller.enqueue(chunk({ content: parts[sent] }, null));
        if (sent < parts.length) return;
        clearInterval(timer);
        controller.enqueue(chunk({}, "stop"));
        controller.enqueue(encoder.encode("data: [DONE]\n\n"));
        controller.close();
      }, EVERY_MS);
    },
    cancel: () => clearInterval(timer),
  });
}
