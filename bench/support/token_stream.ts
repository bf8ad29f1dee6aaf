const EVERY_MS = 5;

export interface TokenStream {
  readonly baseUrl: string;
  readonly answers: Promise<number>;
  close(): Promise<void>;
}

export const FIRST_WORD = "Firstly";

export function startTokenStream(
  { perSecond, tokens }: { readonly perSecond: number; readonly tokens: number },
): TokenStream {
  const { promise: answers, resolve } = Promise.withResolvers<number>();
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (request) => {
    if (!request.url.endsWith("/chat/completions")) return Response.json({ data: [{ id: "stream" }] });
    return new Response(ReadableStream.from(events(step(tokens), { perSecond, resolve })), {
      headers: { "content-type": "text/event-stream" },
    });
  });
  return { baseUrl: `http://127.0.0.1:${server.addr.port}/v1`, answers, close: () => server.shutdown() };
}

function step(tokens: number): readonly string[] {
  const third = Math.ceil(tokens / 3);
  const thought = Array.from({ length: third }, (_, at) => at % 12 === 11 ? "then.\\n" : `word${at % 97} `);
  const code = Array.from(
    { length: third },
    (_, at) => at % 6 === 5 ? `n${at};\\n` : at % 6 === 0 ? "const " : `n${at} = `,
  );
  const answer = Array.from({ length: third }, (_, at) => at % 15 === 14 ? "so.\\n\\n" : `**said${at % 89}** and `);
  const blocks = ['","code":[{"expr":"/* ', ...code, '*/ 1","timeMs":1000}],"final":{"answer":"'];
  return ['{"thinking":"', ...thought, ...blocks, `${FIRST_WORD} it `, ...answer, '"}}'];
}

async function* events(
  parts: readonly string[],
  { perSecond, resolve }: { readonly perSecond: number; readonly resolve: (at: number) => void },
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  const chunk = (delta: object, finish: string | null): Uint8Array => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    const value = { id: "1", object: "chat.completion.chunk", model: "stream", choices };
    return encoder.encode(`data: ${JSON.stringify(value)}\n\n`);
  };
  const begun = performance.now();
  for (let sent = 0; sent < parts.length;) {
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    const due = Math.min(parts.length, Math.ceil((performance.now() - begun) / 1000 * perSecond));
    for (; sent < due; sent++) {
      if (parts[sent]?.startsWith(FIRST_WORD)) resolve(performance.now());
      yield chunk({ content: parts[sent] }, null);
    }
  }
  yield chunk({}, "stop");
  yield encoder.encode("data: [DONE]\n\n");
}
