import assert from "node:assert/strict";
import { createServer, request as forward } from "node:http";
import { proxyVariables } from "../../src/app.ts";
import { withMock } from "../helpers/wires/wire_rig.ts";

const MAIN = new URL("../helpers/wires/ask_provider_main.ts", import.meta.url).pathname;

class Proxy {
  readonly seen: string[] = [];
  isClosed = false;
  readonly #server;

  constructor(target: string) {
    this.#server = createServer((request, response) => {
      this.seen.push(`${request.method} ${request.url}`);
      if (this.isClosed) return void response.writeHead(407, { "proxy-authenticate": "Basic realm=corp" }).end("no");
      const to = new URL(request.url ?? "");
      const { hostname, port } = new URL(target);
      const options = { hostname, port, path: to.pathname, method: request.method, headers: request.headers };
      request.pipe(forward(options, (reply) => {
        response.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(response);
      }));
    });
    this.#server.on("connect", (request, socket) => {
      this.seen.push(`CONNECT ${request.url}`);
      socket.end(`HTTP/1.1 ${this.isClosed ? "407 Proxy Authentication Required" : "502 Bad Gateway"}\r\n\r\n`);
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", () => resolve()));
    const address = this.#server.address();
    assert.ok(address !== null && typeof address === "object");
    return `http://127.0.0.1:${address.port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Replaces the environment of the process, so that proxies of the machine do not count. If the process takes long, the
 * runtime would request its own newest version, through the proxy too. The process sets the variables that Vis sets. */
async function ask(baseUrl: string, env: Readonly<Record<string, string>>): Promise<string> {
  const { HOME = "", PATH = "", DENO_DIR } = Deno.env.toObject();
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-lock", MAIN, "openai-chat", baseUrl, JSON.stringify(proxyVariables(env))],
    clearEnv: true,
    env: { HOME, PATH, ...(DENO_DIR ? { DENO_DIR } : {}), NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", ...env },
    stdin: "null",
  }).output();
  return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
}

async function withProxy(
  body: (at: { proxy: Proxy; proxyUrl: string; baseUrl: string; asked: () => number }) => Promise<void>,
): Promise<void> {
  await withMock("openai-chat", { reply: "through" }, async ({ baseUrl, requests }) => {
    const proxy = new Proxy(baseUrl);
    try {
      await body({ proxy, proxyUrl: await proxy.listen(), baseUrl, asked: () => requests.length });
    } finally {
      await proxy.close();
    }
  });
}

Deno.test("createProvider() asks through HTTP_PROXY", async () => {
  await withProxy(async ({ proxy, proxyUrl, asked }) => {
    const said = await ask("http://vis-test.invalid/v1", { HTTP_PROXY: proxyUrl });
    assert.equal(said.trim(), "through");
    assert.deepEqual(proxy.seen, ["POST http://vis-test.invalid/v1/chat/completions"]);
    assert.equal(asked(), 1);
  });
});

Deno.test("createProvider() tunnels through HTTPS_PROXY and names the service that it cannot reach", async () => {
  await withProxy(async ({ proxy, proxyUrl }) => {
    const said = await ask("https://vis-test.invalid/v1", { HTTPS_PROXY: proxyUrl });
    assert.match(said, /^ProviderError: Cannot reach https:\/\/vis-test\.invalid\/v1: /);
    assert.deepEqual([...new Set(proxy.seen)], ["CONNECT vis-test.invalid:443"]);
  });
});

Deno.test("createProvider() goes past the proxy to the hosts of NO_PROXY", async () => {
  await withProxy(async ({ proxy, proxyUrl, baseUrl, asked }) => {
    const said = await ask(baseUrl, { HTTP_PROXY: proxyUrl, NO_PROXY: "localhost,127.0.0.1" });
    assert.equal(said.trim(), "through");
    assert.deepEqual(proxy.seen, []);
    assert.equal(asked(), 1);
  });
});

Deno.test("createProvider() names the proxy if it may be the unreachable part", async () => {
  const gone = "http://127.0.0.1:1";
  const said = await ask("http://vis-test.invalid/v1", { HTTP_PROXY: gone });
  assert.match(
    said,
    /the connection was refused; start the server or check .+, and the proxy if HTTPS_PROXY or HTTP_PROXY is set/,
  );
  assert.doesNotMatch(await ask(`${gone}/v1`, {}), /proxy/);
});

Deno.test("createProvider() names a proxy that wants a login, and asks no second time", async () => {
  await withProxy(async ({ proxy, proxyUrl }) => {
    proxy.isClosed = true;
    for (const scheme of ["http", "https"]) {
      const variable = `${scheme.toUpperCase()}_PROXY`;
      const said = await ask(`${scheme}://vis-test.invalid/v1`, { [variable]: proxyUrl });
      assert.ok(
        said.startsWith(
          `ProviderError: Cannot reach ${scheme}://vis-test.invalid/v1: the proxy requires a login (407); ` +
            `set it in ${variable}, as http://USER:PASSWORD@HOST:PORT, or name the host in NO_PROXY`,
        ),
        said,
      );
    }
  });
});

Deno.test("createProvider() reads NO_PROXY as other programs do", async () => {
  await withProxy(async ({ proxy, proxyUrl, baseUrl }) => {
    const { host } = new URL(baseUrl);
    for (const NO_PROXY of ["*", host]) {
      assert.equal((await ask(baseUrl, { HTTP_PROXY: proxyUrl, NO_PROXY })).trim(), "through", NO_PROXY);
    }
    for (const NO_PROXY of ["*", "*.invalid", "VIS-test.invalid:80"]) {
      const said = await ask("http://vis-test.invalid/v1", { HTTP_PROXY: proxyUrl, NO_PROXY });
      assert.match(said, /could not resolve its host name/, NO_PROXY);
    }
    assert.deepEqual(proxy.seen, []);
    const lower = await ask("http://vis-test.invalid/v1", { http_proxy: proxyUrl });
    assert.deepEqual([lower.trim(), proxy.seen.length], ["through", 1]);
  });
});
