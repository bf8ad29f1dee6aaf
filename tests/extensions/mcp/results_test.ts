import assert from "node:assert/strict";
import * as fc from "fast-check";
import { ServerMessages } from "../../../extensions/mcp/server_messages.ts";
import { exactText } from "../../../extensions/mcp/exact_json.ts";
import { denoServer, missing, ownServer, withServers } from "./_place.ts";
import { runs } from "../../helpers/long_part.ts";

const SAID = "the sum is 41";

const test = (name: string, fn: () => Promise<void>): void =>
  Deno.test({ name: missing ? `${name} (${missing})` : name, ignore: missing !== "", fn });

const odd = fc.oneof(
  fc.constantFrom(null, true, false, 0, -1.5, "", "text", "no base64 %"),
  fc.constant({ toString: null, valueOf: 1, __proto__: null }),
  fc.jsonValue({ maxDepth: 2 }),
);
const OPTIONAL = ["annotations", "_meta", "isError", "resultType", "structuredContent", "task", "nextCursor"];
const part = fc.record({
  type: fc.oneof(fc.constantFrom("text", "image", "audio", "resource", "resource_link", "hologram"), odd),
  text: odd,
  data: odd,
  mimeType: odd,
  resource: fc.oneof(odd, fc.record({ uri: odd, blob: odd, text: odd }, { requiredKeys: [] })),
  uri: odd,
  name: odd,
  annotations: odd,
  _meta: odd,
}, { requiredKeys: [] });
const readable = fc.constant({ type: "text", text: SAID });
const optional = fc.record(Object.fromEntries(OPTIONAL.map((key) => [key, odd])), { requiredKeys: [] });

const saying = fc.oneof(
  fc.tuple(optional, fc.array(part, { maxLength: 3 }), fc.array(part, { maxLength: 3 })).chain((
    [more, before, after],
  ) => readable.map((text) => ({ ...more, structuredContent: null, content: [...before, text, ...after] }))),
  optional.map((more) => ({ ...more, structuredContent: null, content: SAID })),
  optional.map((more) => ({ ...more, structuredContent: null, content: { type: "text", text: SAID } })),
  fc.tuple(optional, odd).map(([more, content]) => ({ ...more, content, structuredContent: [SAID] })),
  fc.tuple(optional, odd).map(([more, content]) => ({ ...more, content, structuredContent: { said: SAID } })),
  fc.constantFrom<unknown>(SAID, [SAID], { toolResult: SAID }, { content: null, said: SAID }),
).map((result) => Object(result).resultType === "input_required" ? SAID : result);

/** Generates an answer whose envelope has missing, null or excess keys. */
const envelope = fc.record({
  jsonrpc: fc.constantFrom<unknown>("2.0", undefined, "1.0", null),
  id: fc.constantFrom<unknown>("same", "text", undefined, null),
  more: fc.constantFrom<object>({}, { error: null }, { extra: 1 }, { error: null, method: null }),
});

const cases = fc.record({ result: saying, envelope }).map(({ result, envelope: { more, ...rest } }) => (
  { ...JSON.parse(JSON.stringify(rest)), ...more, result: JSON.parse(JSON.stringify(result)) }
));

async function holds(call: (answer: unknown) => Promise<unknown>, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(cases, async (answer) => {
      const isError = Object(answer.result).isError === true;
      let given = "";
      try {
        given = exactText(await call(answer)) ?? "undefined";
      } catch (error) {
        assert.ok(error instanceof Error);
        assert.ok(isError, error.message);
        assert.match(error.message, /^Cannot finish run: /);
        given = error.message;
      }
      assert.ok(given.includes(SAID), given);
    }),
    { numRuns },
  );
}

Deno.test("mcp: any result of a call is read, whatever its server writes into the keys of the protocol", async () => {
  await withHttp(async (call, respond) => {
    for (const kind of ["json", "stream", "stream as json", "json as stream", "text", "cut stream"] as const) {
      await holds(async (answer) => {
        respond.with = (id) => reply(kind, { ...answer as object, ...idOf(answer, id) });
        return await call();
      }, runs(20, 60));
    }
  });
});

test("mcp: any result of a call to a program is read", async () => {
  await withServers({ s: denoServer(ownServer("faulty.js"), "given") }, async ({ call }) => {
    await holds((answer) => call("mcp.call", ["s", "run", { answer }]), runs(50, 150));
  });
});

Deno.test("mcp: an answer without a result is one, and no end of its stream is waited for", async () => {
  const open = (text: string, type: string): Response => {
    const start = (controller: ReadableStreamDefaultController) => {
      for (const piece of text.match(/.{1,7}/gs) ?? []) controller.enqueue(new TextEncoder().encode(piece));
    };
    return new Response(new ReadableStream({ start }), { headers: { "content-type": type } });
  };
  await withHttp(async (call, respond) => {
    for (const kind of ["json", "stream", "json as stream", "text", "cut stream"]) {
      for (const own of ["same", "text", "none"]) {
        respond.with = (id) => reply(kind, { jsonrpc: "2.0", ...idOf({ id: own }, id) });
        assert.equal(await call(), null, `${kind} ${own}`);
      }
    }
    for (const type of ["text/event-stream", "application/json"]) {
      respond.with = (id) => {
        const content = [{ type: "text", text: 'said "}]" \\' }];
        return open(JSON.stringify({ jsonrpc: "2.0", id, result: { content } }, null, 1), type);
      };
      assert.equal(await call(), 'said "}]" \\', type);
    }
  }, { timeoutMs: 600_000 });
});

Deno.test("mcp: the error of an unanswered call never suggests that the call was not made", async () => {
  const refused: readonly (readonly [string, (id: unknown) => Response])[] = [
    ["no such method", (id) => Response.json({ jsonrpc: "2.0", id, error: { code: -32601, message: "unknown" } })],
    ["not allowed", () => new Response("no", { status: 403 })],
  ];
  const lost: readonly (readonly [string, (id: unknown) => Response])[] = [
    ["500", () => new Response("it broke", { status: 500 })],
    ["503 of a proxy", () => new Response("<html>", { status: 503, headers: { "content-type": "text/html" } })],
    ["half of JSON", () => new Response('{"jsonrpc":"2.0","id":', { headers: { "content-type": "application/json" } })],
    ["a page", () => new Response("<html>", { headers: { "content-type": "text/html" } })],
    ["nothing", () => new Response("", { headers: { "content-type": "application/json" } })],
    ["an empty stream", () => new Response("", { headers: { "content-type": "text/event-stream" } })],
    ["a stream that breaks off", () => new Response(broken(), { headers: { "content-type": "text/event-stream" } })],
    ["an error of the server", (id) => Response.json({ jsonrpc: "2.0", id, error: { code: -32000, message: "full" } })],
    ["an error without an id", () => Response.json({ jsonrpc: "2.0", id: null, error: "full" })],
    ["a result that is too deep", (id) => deep(id)],
  ];
  await withHttp(async (call, respond) => {
    for (const [name, answer] of lost) {
      respond.with = answer;
      await assert.rejects(
        call(),
        /Cannot finish run of MCP server s: .* \(the tool may have run\); check before/s,
        name,
      );
    }
    for (const [name, answer] of refused) {
      respond.with = answer;
      await assert.rejects(call(), (error: Error) => !/may have run/.test(error.message), name);
    }
  });
});

Deno.test("mcp: the server's answer to a probe, lists and an error text are read in spite of nulls", () => {
  const answers = new ServerMessages();
  const read = (message: unknown): unknown => answers.read(JSON.stringify(message));
  answers.sent({ jsonrpc: "2.0", id: 1, method: "resources/list" });
  assert.deepEqual(
    read({ id: 1, error: null, result: { _meta: null, resources: [{ uri: "a", size: null }] } }),
    {
      jsonrpc: "2.0",
      id: 1,
      result: { resources: [{ uri: "a" }] },
    },
  );
  answers.sent({ jsonrpc: "2.0", id: 2, method: "tools/list" });
  const schema = { enum: [null], default: null };
  assert.deepEqual(
    read({ id: "2", result: { nextCursor: null, tools: [{ name: "a", inputSchema: schema }] } }),
    {
      jsonrpc: "2.0",
      id: 2,
      result: { tools: [{ name: "a", inputSchema: schema }] },
    },
  );
  answers.sent({ jsonrpc: "2.0", id: 3, method: "tools/call" });
  assert.deepEqual(read({ id: null, error: { code: "E_FULL", reason: "full" } }), {
    jsonrpc: "2.0",
    id: 3,
    error: { code: -32603, message: '{"code":"E_FULL","reason":"full"}' },
  });
  const other = { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 1, _meta: null } };
  assert.deepEqual(read(other), { ...other, params: { progressToken: 1 } });
  answers.sent({ jsonrpc: "2.0", id: 4, method: "tools/call" });
  answers.sent({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 4 } });
  assert.equal(answers.waits(4), false);
  assert.equal(answers.whole({}), undefined);
});

/** A number rounds 2^63 - 1. */
const LONG = "9223372036854775807";

test("mcp: integers beyond 2^53 keep their digits in arguments, data, text and errors", async () => {
  await withServers({ s: denoServer(ownServer("faulty.js"), "echo") }, async ({ call }) => {
    const id = BigInt(LONG);
    const sent = { id, list: [-id, 7n, 1.5], how: "data" };
    assert.deepEqual(await call("mcp.call", ["s", "run", sent]), { ...sent, list: [-id, 7, 1.5] });
    assert.deepEqual(await call("mcp.call", ["s", "run", { id, how: "text" }]), { id, how: "text" });
    await assert.rejects(call("mcp.call", ["s", "run", { id, how: "error" }]), new RegExp(LONG));
  });
  await withHttp(async (call, respond) => {
    for (const kind of ["json", "stream", "json as stream"]) {
      const data = { id: 0, short: 9007199254740991, text: "12345678901234567890", more: [1e300] };
      respond.with = (id) => {
        const response = reply(kind, { jsonrpc: "2.0", id, result: { content: [], structuredContent: data } });
        return new Response(
          response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(
            new TransformStream({
              transform: (text, out) => out.enqueue(text.replace(/"id":\s?0/, `"id":${LONG}`)),
            }),
          ).pipeThrough(new TextEncoderStream()),
          response,
        );
      };
      assert.deepEqual(await call(), { ...data, id: BigInt(LONG) }, kind);
    }
  });
});

test("mcp: an argument that JSON cannot carry is named before the server gets anything", async () => {
  await withServers({ s: denoServer(ownServer("faulty.js"), "echo") }, async ({ call }) => {
    const self: unknown[] = [];
    self.push(self);
    const table: readonly (readonly [unknown, RegExp])[] = [
      [{ a: [1, NaN] }, /^Cannot call run: args\.a\[1\] is NaN, which JSON cannot represent$/],
      [{ a: { "b c": -Infinity } }, /args\.a\["b c"\] is -Infinity/],
      [{ a: [undefined] }, /args\.a\[0\] is undefined/],
      [{ a: new Uint8Array(3) }, /args\.a is bytes \(pass text, such as base64\)/],
      [{ a: new Map([[{}, 1]]) }, /args\.a is a Map whose keys are not text/],
      [{ a: new Date(NaN) }, /args\.a is an invalid Date/],
      [{ a: /x/ }, /args\.a is a RegExp/],
      [{ self }, /args has more than 500 levels, or contains itself/],
    ];
    for (const [args, expected] of table) {
      const said = await call("mcp.call", ["s", "run", args]).then(() => "sent", (error: Error) => error.message);
      assert.match(said, expected);
      assert.doesNotMatch(said, /may have run/);
    }
    const given = {
      at: new Date(0),
      map: new Map([["k", new Set([1, 2])]]),
      url: new URL("http://a.example/"),
      none: undefined,
    };
    assert.deepEqual(await call("mcp.call", ["s", "run", given]), {
      at: "1970-01-01T00:00:00.000Z",
      map: { k: [1, 2] },
      url: "http://a.example/",
    });
  });
});

test("mcp: an error that answers no request fails none, and is logged", async () => {
  await withServers({ s: denoServer(ownServer("faulty.js"), "errors") }, async ({ call, log }) => {
    assert.match(String(await call("mcp.tools", ["s"])), /s: 1 tool\./);
    assert.match(String(await call("mcp.call", ["s", "run"])), /^run of/);
    assert.match(JSON.stringify(log), /an error that answers no request: /);
  });
  await withHttp(async (call, respond) => {
    respond.with = (id) => Response.json({ jsonrpc: "2.0", id, result: { content: SAID } });
    for (const status of [200, 400, 405, 500]) {
      respond.notified = () =>
        Response.json({ jsonrpc: "2.0", id: null, error: { code: -32601, message: "no" } }, { status });
      assert.equal(await call(), SAID);
    }
  });
});

function idOf(answer: unknown, id: unknown): object {
  const said = Object(answer).id;
  return said === "same" ? { id } : said === "text" ? { id: String(id) } : {};
}

function reply(kind: string, answer: unknown): Response {
  const json = JSON.stringify(answer);
  const event = `event: message\r\ndata: ${json}\r\n\r\n`;
  const [text, type] = ({
    json: [json, "application/json"],
    stream: [`: hello\n\n${event}`, "text/event-stream; charset=utf-8"],
    "stream as json": [event, "application/json"],
    "json as stream": [JSON.stringify(answer, null, 1), "text/event-stream"],
    text: [json, "text/plain"],
    "cut stream": [`data: ${json}`, "text/event-stream"],
  } as const)[kind] ?? [];
  return new Response(text, { headers: { "content-type": type ?? "" } });
}

function broken(): ReadableStream<Uint8Array> {
  let pieces = 0;
  return new ReadableStream({
    pull: (controller) => {
      if (pieces++ === 0) controller.enqueue(new TextEncoder().encode(": hello\n\n"));
      else controller.error(new Error("gone"));
    },
  });
}

function deep(id: unknown): Response {
  const text = `${"[".repeat(600)}${"]".repeat(600)}`;
  return new Response(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":{"a":${text}}}}`, {
    headers: { "content-type": "application/json" },
  });
}

/** Runs a server `s` with the tool `run`, which returns `respond.with`. */
async function withHttp(
  run: (
    call: () => Promise<unknown>,
    respond: { with: (id: unknown) => Response; notified: () => Response },
  ) => Promise<void>,
  { timeoutMs = 20_000 } = {},
): Promise<void> {
  const respond = {
    with: (_id: unknown): Response => new Response(),
    notified: (): Response => new Response(null, { status: 202 }),
  };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    if (request.method !== "POST") return new Response(null, { status: 405 });
    const { id, method } = await request.json();
    if (id === undefined) return respond.notified();
    if (method === "tools/call") return respond.with(id);
    const capabilities = { tools: {} };
    const results: Readonly<Record<string, unknown>> = {
      initialize: { protocolVersion: "2025-11-25", capabilities, serverInfo: { name: "s", version: "1", title: null } },
      "tools/list": { tools: [{ name: "run", inputSchema: { type: "object" } }] },
    };
    const result = results[method];
    return Response.json({ jsonrpc: "2.0", id, ...result ? { result } : { error: { code: -32601, message: "no" } } });
  });
  try {
    const url = `http://127.0.0.1:${server.addr.port}/mcp`;
    await withServers(
      { s: { url, timeoutMs } },
      ({ call }) => run(() => call("mcp.call", ["s", "run"]), respond),
    );
  } finally {
    await server.shutdown();
  }
}
