/** Each request gets first a block, then an answer with the block's value. The words `key=…` distinguish requests. */
export interface SlowModel {
  readonly baseUrl: string;
  readonly calls: number;
  readonly firstByteAt: number;
  release(): void;
  close(): Promise<void>;
}

const BLOCK = JSON.stringify({ thinking: "One block", code: [{ expr: "const n = [1, 2, 3].length", timeMs: 3000 }] });
const FINAL = JSON.stringify({
  thinking: "",
  code: [],
  final: { answer: "It is {{n}}", answerType: "text", confidence: "high" },
});

export function startSlowModel({ latencyMs }: { readonly latencyMs: number }): SlowModel {
  const state = { calls: 0, firstByteAt: 0, held: Promise.withResolvers<void>() };
  const begun = new Set<string>();
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    if (!request.url.endsWith("/chat/completions")) return Response.json({ data: [{ id: "slow" }] });
    const body = await request.text();
    state.calls++;
    const [key = ""] = body.match(/key=[\w-]+/) ?? []; // The request is before the text about earlier requests.
    if (key === "key=held") await state.held.promise;
    const reply = begun.delete(key) ? FINAL : (begun.add(key), BLOCK);
    await new Promise((resolve) => setTimeout(resolve, latencyMs));
    state.firstByteAt = performance.now();
    return new Response(eventsOf(reply), { headers: { "content-type": "text/event-stream" } });
  });
  return {
    baseUrl: `http://127.0.0.1:${server.addr.port}/v1`,
    get calls() {
      return state.calls;
    },
    get firstByteAt() {
      return state.firstByteAt;
    },
    release: () => {
      state.held.resolve();
      state.held = Promise.withResolvers();
    },
    close: () => server.shutdown(),
  };
}

function eventsOf(text: string): string {
  const chunk = (delta: object, finish: string | null, usage?: object): string => {
    const choices = usage ? [] : [{ index: 0, delta, finish_reason: finish }];
    const value = {
      id: "1",
      object: "chat.completion.chunk",
      created: 0,
      model: "slow",
      choices,
      ...(usage ? { usage } : {}),
    };
    return `data: ${JSON.stringify(value)}\n\n`;
  };
  const middle = Math.ceil(text.length / 2);
  const parts = [text.slice(0, middle), text.slice(middle)].map((content) => chunk({ content }, null));
  const usage = { prompt_tokens: 1000, completion_tokens: 50, total_tokens: 1050 };
  return [...parts, chunk({}, "stop"), chunk({}, null, usage), "data: [DONE]\n\n"].join("");
}
