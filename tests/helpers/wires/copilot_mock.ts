export interface CopilotMock extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly { readonly path: string; readonly headers: Headers; readonly body: string }[];
  readonly polls: Record<string, unknown>[];
  interval: number;
  exchange: {
    readonly status?: number;
    readonly refreshIn?: number;
    readonly expiresAt?: number;
    readonly api?: string;
  };
  readonly good: Set<string>;
  readonly exchanged: number;
}

export function startCopilotMock(): CopilotMock {
  const requests: { path: string; headers: Headers; body: string }[] = [];
  const polls: Record<string, unknown>[] = [];
  const good = new Set<string>();
  let exchanged = 0;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const path = new URL(request.url).pathname;
    requests.push({ path, headers: request.headers, body: await request.text() });
    switch (path) {
      case "/login/device/code":
        return Response.json({
          device_code: "device-4711",
          user_code: "ABCD-1234",
          verification_uri: "https://github.com/login/device",
          expires_in: 900,
          interval: mock.interval,
        });
      case "/login/oauth/access_token":
        return Response.json(polls.length > 1 ? polls.shift() : polls[0]);
      case "/copilot_internal/v2/token":
        return exchange();
      case "/chat/completions":
      case "/responses":
      case "/models":
        return serve(path, request.headers.get("authorization") ?? "");
    }
    return new Response(null, { status: 404 });
  });
  const url = `http://127.0.0.1:${server.addr.port}`;

  function exchange(): Response {
    const { status = 200, refreshIn, expiresAt, api } = mock.exchange;
    exchanged++;
    if (status !== 200) return Response.json({ message: "No access" }, { status });
    const token = `tid=${exchanged};exp=1`;
    good.add(token);
    return Response.json({
      token,
      ...(refreshIn === undefined ? {} : { refresh_in: refreshIn }),
      ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
      endpoints: { api: api ?? url },
    });
  }

  function serve(path: string, authorization: string): Response {
    if (!good.has(authorization.replace(/^Bearer /, ""))) {
      return Response.json({ error: { message: "token expired" } }, { status: 401 });
    }
    if (path === "/models") return Response.json({ data: [{ id: "gpt-6-luna" }] });
    const chunk = { id: "1", model: "gpt-6-luna", choices: [{ delta: { content: "hello" }, finish_reason: "stop" }] };
    return new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, {
      headers: { "content-type": "text/event-stream" },
    });
  }

  const mock: CopilotMock = {
    url,
    requests,
    polls,
    good,
    interval: 5,
    exchange: { refreshIn: 1500 },
    get exchanged() {
      return exchanged;
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
  return mock;
}
