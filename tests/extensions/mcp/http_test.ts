import assert from "node:assert/strict";
import { join } from "node:path";
import { McpServer, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { z } from "zod";
import { ServerMessages } from "../../../extensions/mcp/server_messages.ts";
import { httpTransport } from "../../../extensions/mcp/http_transport.ts";
import { ROOT } from "../../../scripts/_project.ts";
import { settledWithin } from "../../../src/domain/kit/concurrency.ts";
import { until } from "../../helpers/until.ts";
import { collectGarbage } from "../../helpers/wires/collect_garbage.ts";
import { ownServer, withServers } from "./_place.ts";

const COMMENT = new TextEncoder().encode(":\n\n");

interface HttpServer {
  readonly url: string;
  readonly requests: Request[];
  close(): Promise<void>;
}

function serve(handle: (request: Request) => Response | Promise<Response>): HttpServer {
  const requests: Request[] = [];
  const controller = new AbortController();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {}, signal: controller.signal },
    (request) => {
      requests.push(request);
      return handle(request);
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}/mcp`,
    requests,
    close: async () => {
      controller.abort();
      await server.finished;
    },
  };
}

function library(): HttpServer {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  return serve(async (request) => {
    const known = sessions.get(request.headers.get("mcp-session-id") ?? "");
    if (known) return await known.handleRequest(request);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    const server = new McpServer({ name: "t", version: "1.0.0" });
    server.registerTool("twice", { description: "Doubles.", inputSchema: z.object({ n: z.number() }) }, ({ n }) => (
      { content: [{ type: "text", text: `${2 * n}` }] }
    ));
    await server.connect(transport);
    return await transport.handleRequest(request);
  });
}

Deno.test("mcp: a server over streamable HTTP gets its headers, answers, and is notified of the end", async () => {
  const server = library();
  try {
    const headers = { authorization: "Bearer very-secret-key" };
    await withServers({ remote: { url: server.url, headers } }, async ({ call, close }) => {
      assert.equal(await call("mcp.call", ["remote", "twice", { n: 21 }]), "42");
      await assert.rejects(
        call("mcp.call", ["remote", "twice", { n: "x" }]),
        /Cannot finish twice: .*usage: mcp\.call\("remote", "twice", args: \{n: number\}\)/,
      );
      assert.ok(server.requests.every((one) => one.headers.get("authorization") === "Bearer very-secret-key"));
      await close();
    });
    await until(() => server.requests.some(({ method }) => method === "DELETE"));
    assert.equal(server.requests.filter(({ method }) => method === "DELETE").length, 1);
  } finally {
    await server.close();
  }
});

Deno.test("mcp: closing ends the stream of the server, also after a garbage collection", async () => {
  const opened = Promise.withResolvers<void>(), ended = Promise.withResolvers<void>();
  const stream = () => {
    const source = { start: (to: ReadableStreamDefaultController) => to.enqueue(COMMENT), cancel: ended.resolve };
    return new Response(new ReadableStream(source), { headers: { "content-type": "text/event-stream" } });
  };
  const server = serve(({ method }) => method === "GET" ? stream() : new Response(null, { status: 202 }));
  const transport = httpTransport({ url: server.url, headers: {} }, {
    answers: new ServerMessages(),
    login: null,
    onStatus: (status) => status === 200 && opened.resolve(),
  });
  try {
    await transport.start();
    await transport.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    await opened.promise;
    await collectGarbage();
    await transport.close();
    assert.ok(await settledWithin(ended.promise, 10_000), "the stream is still open");
  } finally {
    await server.close();
  }
});

Deno.test("mcp: a page in answer to GET is not read as a stream", async () => {
  const ended = Promise.withResolvers<void>();
  const page = () => {
    const source = { start: (to: ReadableStreamDefaultController) => to.enqueue(COMMENT), cancel: ended.resolve };
    return new Response(new ReadableStream(source), { headers: { "content-type": "text/plain" } });
  };
  const server = serve(({ method }) => method === "GET" ? page() : new Response(null, { status: 202 }));
  const transport = httpTransport({ url: server.url, headers: {} }, {
    answers: new ServerMessages(),
    login: null,
    onStatus: () => {},
  });
  try {
    await transport.start();
    await transport.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    assert.ok(await settledWithin(ended.promise, 10_000), "the page is still read");
  } finally {
    await transport.close();
    await server.close();
  }
});

Deno.test("mcp: a faulty HTTP server is an error with the reason, in time, without secrets", async () => {
  const table: readonly (readonly [(request: Request) => Response | Promise<Response>, RegExp])[] = [
    [() => new Response("no very-secret-key here", { status: 401 }), /Cannot use MCP server remote: /],
    [() => new Response("broken very-secret-key", { status: 500 }), /Cannot use MCP server remote: .*(500|broken)/],
    [() => new Response("<html>", { headers: { "content-type": "text/html" } }), /Cannot use MCP server remote: /],
    [() => new Response("{", { headers: { "content-type": "application/json" } }), /Cannot use MCP server remote: /],
    [() => new Promise(() => {}), /Cannot use MCP server remote: .*timed out/i],
    [() => Response.redirect("http://127.0.0.1:1/elsewhere", 307), /Cannot use MCP server remote: /],
  ];
  for (const [handle, expected] of table) {
    const server = serve(handle);
    try {
      const headers = { "x-api-key": "very-secret-key" };
      await withServers({ remote: { url: server.url, headers, startMs: 300 } }, async ({ call }) => {
        await assert.rejects(call("mcp.tools", ["remote"]), (error: Error) => {
          assert.match(error.message, expected);
          assert.doesNotMatch(error.message, /very-secret-key/);
          return true;
        });
      });
    } finally {
      await server.close();
    }
  }
  await withServers({ remote: { url: "http://127.0.0.1:1/mcp", startMs: 300 } }, async ({ call }) => {
    await assert.rejects(call("mcp.tools", ["remote"]), /Cannot use MCP server remote: /);
  });
});

Deno.test("mcp: a session that the server has lost is begun again, and each call runs once", async () => {
  const error = (id: unknown): object => ({ jsonrpc: "2.0", id, error: { code: -32000, message: "no valid session" } });
  const losses: readonly (() => Response)[] = [
    () => new Response("Session not found", { status: 404 }),
    () => Response.json(error(null), { status: 404 }),
    () => new Response(null, { status: 410 }),
    () => Response.json(error(null), { status: 400 }),
    () => Response.json(error("server-error"), { status: 400 }),
    () => new Response("Invalid session ID", { status: 400 }),
  ];
  for (const lost of losses) {
    const sessions = new Set<string>(), ran: unknown[] = [];
    let begun = 0;
    const server = serve(async (request) => {
      const known = sessions.has(request.headers.get("mcp-session-id") ?? "");
      if (request.method !== "POST") return new Response(null, { status: known ? 405 : 404 });
      const { id, method, params } = await request.json();
      if (method === "server/discover") return Response.json(error(id), { status: 400 });
      if (method === "initialize") {
        const session = `session-${++begun}`;
        sessions.add(session);
        const result = {
          protocolVersion: "2025-11-25",
          capabilities: { tools: {} },
          serverInfo: { name: "s", version: "1" },
        };
        return Response.json({ jsonrpc: "2.0", id, result }, { headers: { "mcp-session-id": session } });
      }
      if (!known) return lost();
      if (id === undefined) return new Response(null, { status: 202 });
      if (method === "tools/list") {
        const tools = ["run", "wrong"].map((name) => ({ name, inputSchema: { type: "object" } }));
        return Response.json({ jsonrpc: "2.0", id, result: { tools } });
      }
      if (params.name === "wrong") return Response.json(error(id), { status: 400 });
      ran.push(params.arguments.n);
      return Response.json({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "done" }] } });
    });
    try {
      await withServers({ remote: { url: server.url } }, async ({ call }) => {
        const run = (n: number) => call("mcp.call", ["remote", "run", { n }]);
        assert.equal(await run(1), "done");
        sessions.clear();
        assert.deepEqual(await Promise.all([run(2), run(3), run(4)]), ["done", "done", "done"]);
        assert.equal(begun, 2);
        assert.deepEqual(ran.sort(), [1, 2, 3, 4]);
        // An answer to the request itself is no sign of a lost session.
        const before = begun;
        await assert.rejects(call("mcp.call", ["remote", "wrong"]), /no valid session/);
        assert.equal(begun, before);
      });
    } finally {
      await server.close();
    }
  }
});

Deno.test("mcp: a server that never keeps a session fails the call after one new session", async () => {
  let begun = 0;
  const server = serve(async (request) => {
    if (request.method !== "POST") return new Response(null, { status: 405 });
    const { id, method } = await request.json();
    if (method === "server/discover") return new Response(null, { status: 404 });
    if (method !== "initialize") return new Response("Session not found", { status: id === undefined ? 202 : 404 });
    begun++;
    const result = {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "s", version: "1" },
    };
    return Response.json({ jsonrpc: "2.0", id, result }, { headers: { "mcp-session-id": `session-${begun}` } });
  });
  try {
    await withServers({ remote: { url: server.url } }, async ({ call }) => {
      await assert.rejects(call("mcp.tools", ["remote"]), /Cannot use MCP server remote: .*Session not found/);
      assert.equal(begun, 2);
    });
  } finally {
    await server.close();
  }
});

Deno.test("mcp: keys do not follow a redirect to another origin", async () => {
  const other = serve(() => new Response(null, { status: 500 }));
  const server = serve(() => Response.redirect(other.url, 307));
  try {
    await withServers(
      { remote: { url: server.url, headers: { "x-api-key": "very-secret-key" }, startMs: 300 } },
      async ({ call }) => {
        await assert.rejects(call("mcp.tools", ["remote"]));
      },
    );
    assert.equal(other.requests.length, 0);
  } finally {
    await Promise.all([server.close(), other.close()]);
  }
});

Deno.test("mcp: server-everything over streamable HTTP", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const port = (listener.addr as Deno.NetAddr).port;
  listener.close();
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "--config", join(ROOT, "deno.json"), ownServer("everything_http.ts")],
    env: { PORT: String(port) },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  try {
    const reader = child.stderr.getReader();
    for (let said = ""; !said.includes("listening");) {
      const { value } = await reader.read();
      assert.ok(value, "it ended");
      said += new TextDecoder().decode(value);
    }
    reader.releaseLock();
    void child.stderr.pipeTo(new WritableStream()).catch(() => {});
    await withServers({ everything: { url: `http://127.0.0.1:${port}/mcp` } }, async ({ call, close }) => {
      assert.match(String(await call("mcp.tools", ["everything"])), /get-sum/);
      assert.equal(await call("mcp.call", ["everything", "echo", { message: "hi" }]), "Echo: hi");
      await close();
    });
  } finally {
    try {
      child.kill("SIGKILL");
    } catch { /* The stream has ended. */ }
    await child.status;
  }
});

Deno.test("mcp: an address that requires a token or lacks streamable HTTP gives an error with a remedy", async () => {
  for (
    const [status, says] of [[401, /vis auth login remote/], [
      405,
      /Vis does not support the older SSE transport/,
    ]] as const
  ) {
    const server = serve(() => new Response("no", { status }));
    try {
      await withServers({ remote: { url: server.url } }, async ({ call }) => {
        await assert.rejects(call("mcp.tools", ["remote"]), (error: Error) => says.test(error.message));
      });
    } finally {
      await server.close();
    }
  }
});
