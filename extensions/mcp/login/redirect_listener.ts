interface RedirectListener extends AsyncDisposable {
  /** Where the browser is sent after the login. */
  readonly address: string;
  /** The parameters of the first request with the right state. */
  readonly answer: Promise<URLSearchParams>;
}

const PAGE_HEADERS = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" };

/** Listens on a free port of the loopback interface until it is disposed. `page` is what the browser shows. */
export function redirectListener(state: string, page: string): RedirectListener {
  const { promise: answer, resolve } = Promise.withResolvers<URLSearchParams>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, ({ method, url }) => {
    const { pathname, searchParams } = new URL(url);
    if (method !== "GET" || pathname !== "/callback") return new Response(null, { status: 404 });
    if (searchParams.get("state") !== state) {
      return new Response("This is not the login that was started.\n", { status: 400, headers: PAGE_HEADERS });
    }
    resolve(searchParams);
    return new Response(`${page}\n`, { headers: PAGE_HEADERS });
  });
  return {
    address: `http://127.0.0.1:${server.addr.port}/callback`,
    answer,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
