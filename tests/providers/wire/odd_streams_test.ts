import assert from "node:assert/strict";
import fc from "fast-check";
import type { ProviderError } from "../../../src/domain/errors.ts";
import type { ModelEvent } from "../../../src/providers/provider.ts";
import type { ProviderOptions, WireProtocol } from "../../../src/providers/wire/wire.ts";
import { collect, endOf, request, textOf } from "../../conformance/provider_calls.ts";
import type { MockReply, MockRequest } from "../../helpers/wires/wire_mock.ts";
import { eventsTo, failureTo, PROTOCOLS, provide, WIRES, withMock } from "../../helpers/wires/wire_rig.ts";

const STREAM = { "content-type": "text/event-stream" };
const JSON_TYPE = { "content-type": "application/json" };

async function withBytes(
  pieces: readonly Uint8Array[],
  headers: Readonly<Record<string, string>>,
  body: (baseUrl: string) => Promise<void>,
): Promise<void> {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (asked) => {
    await asked.arrayBuffer();
    return new Response(ReadableStream.from(pieces), { headers });
  });
  try {
    await body(`http://127.0.0.1:${server.addr.port}/v1`);
  } finally {
    await server.shutdown();
  }
}

async function replyOf(
  protocol: WireProtocol,
  body: string | readonly Uint8Array[],
  headers: Readonly<Record<string, string>> = STREAM,
) {
  let events: readonly ModelEvent[] = [];
  const pieces = typeof body === "string" ? [new TextEncoder().encode(body)] : body;
  await withBytes(pieces, headers, async (baseUrl) => {
    events = await collect(await provide(protocol, { baseUrl }));
  });
  const { finish, toolCall, usage } = endOf(events);
  return { text: textOf(events, "text"), reasoning: textOf(events, "reasoning"), finish, toolCall, usage };
}

function failureOf(protocol: WireProtocol, body: string, headers = STREAM): Promise<ProviderError> {
  return failureTo(protocol, { body, headers });
}

const line = (event: object | string): string => `data: ${typeof event === "string" ? event : JSON.stringify(event)}`;
const sse = (...events: readonly (object | string)[]): string => events.map((event) => `${line(event)}\n\n`).join("");
const chunk = (delta: object, rest: object = {}) => ({ choices: [{ index: 0, delta, finish_reason: null, ...rest }] });
const STOP = chunk({}, { finish_reason: "stop" });
const gemini = (part: object, rest: object = {}) => ({ candidates: [{ content: { parts: [part] }, ...rest }] });

const ASKED: MockRequest = {
  ...{ index: 0, method: "POST", path: "/v1beta/models/mock-1:streamGenerateContent?alt=sse", headers: {} },
  ...{ body: { model: "mock-1", stream: true, stream_options: { include_usage: true } }, texts: [], context: "" },
  bytes: 0,
};

Deno.test("a stream gives the same reply wherever its bytes are cut, with every line end, for every API", async () => {
  const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 });
  for (const protocol of PROTOCOLS) {
    const { wire } = WIRES[protocol];
    await fc.assert(
      fc.asyncProperty(
        text,
        text,
        fc.record({
          end: fc.constantFrom("\n", "\r\n", "\r"),
          gap: fc.constantFrom(1, 2, 3),
          mark: fc.boolean(),
          comments: fc.boolean(),
          chunk: fc.integer({ min: 1, max: 40 }),
        }),
        fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 5 }),
        async (said, thought, { end, gap, mark, comments, chunk }, sizes) => {
          const reply: MockReply = { text: said.toWellFormed(), reasoning: thought.toWellFormed(), chunk };
          const lines = [...wire.events(reply, ASKED)].map(({ event, data }) =>
            `${event ? `event: ${event}${end}` : ""}data: ${typeof data === "string" ? data : JSON.stringify(data)}`
          );
          const note = comments ? `: ping${end}${end}` : "";
          const whole = (mark ? "\ufeff" : "") + lines.map((one) => note + one + end.repeat(gap)).join("");
          const bytes = new TextEncoder().encode(whole);
          const pieces: Uint8Array[] = [];
          for (let at = 0, n = 0; at < bytes.length; n++) {
            const size = sizes[n % sizes.length] ?? 1;
            pieces.push(bytes.slice(at, at + size));
            at += size;
          }
          const found = await replyOf(protocol, pieces);
          assert.deepEqual([found.text, found.reasoning, found.finish], [reply.text, reply.reasoning, "stop"]);
          assert.ok(found.usage.output > 0);
        },
      ),
      { numRuns: 40 },
    );
  }
});

Deno.test("a finish reason counts at the end of a stream, also where it comes with every piece", async () => {
  const early = chunk({ role: "assistant" }, { finish_reason: "stop" });
  assert.deepEqual(
    (await replyOf("openai-chat", sse(early, chunk({ content: "a" }), chunk({ content: "b" }), "[DONE]"))).text,
    "ab",
  );
  for (const none of ["null", "", "none", null]) {
    const pieces = ["a", "b"].map((content) => chunk({ content }, { finish_reason: none }));
    const cut = await failureOf("openai-chat", sse(...pieces));
    assert.match(cut.message, /the connection ended too early; try again/, String(none));
    assert.equal((await replyOf("openai-chat", sse(...pieces, STOP))).finish, "stop");
  }
  const stop = { finishReason: "STOP" };
  const parts = [
    gemini({ text: "a" }, stop),
    gemini({ text: "b" }, stop),
    gemini({ text: "" }, { finishReason: "MAX_TOKENS" }),
  ];
  const { text, finish } = await replyOf("google", sse(...parts));
  assert.deepEqual([text, finish], ["ab", "length"]);
  assert.equal((await replyOf("openai-chat", sse(chunk({ content: "a" }, { finishReason: "stop" })))).finish, "stop");
});

Deno.test("a finish reason before any text does not end the wait for it", async () => {
  const sent = Promise.withResolvers<void>();
  const encoder = new TextEncoder();
  const pieces = async function* () {
    yield encoder.encode(sse(chunk({ role: "assistant" }, { finish_reason: "stop" })));
    await sent.promise;
    yield encoder.encode(sse(chunk({ content: "late" }), "[DONE]"));
  };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (asked) => {
    await asked.arrayBuffer();
    return new Response(ReadableStream.from(pieces()), { headers: STREAM });
  });
  const baseUrl = `http://127.0.0.1:${server.addr.port}/v1`;
  const provider = await provide("openai-chat", { baseUrl, graceMs: 1 });
  // The pause is longer than the time after an end.
  const onBytes = () => void setTimeout(() => sent.resolve(), 50);
  const events = await Array.fromAsync(provider.stream(request({ onBytes })));
  assert.equal(textOf(events, "text"), "late");
  await server.shutdown();
});

Deno.test("a whole reply on a connection that stays open waits five seconds for its counts, and no longer", async () => {
  const left = Promise.withResolvers<void>();
  const pieces = async function* () {
    yield new TextEncoder().encode(sse(chunk({ content: "all" }, { finish_reason: "stop" })));
    await left.promise;
  };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (asked) => {
    await asked.arrayBuffer();
    return new Response(ReadableStream.from(pieces()), { headers: STREAM });
  });
  const { timeout } = AbortSignal;
  const waits: number[] = [];
  AbortSignal.timeout = (ms) => {
    waits.push(ms);
    return timeout.call(AbortSignal, ms === 5_000 ? 1 : ms);
  };
  try {
    const provider = await provide("openai-chat", { baseUrl: `http://127.0.0.1:${server.addr.port}/v1` });
    const events = await Array.fromAsync(provider.stream(request()));
    assert.equal(textOf(events, "text"), "all");
    assert.ok(waits.includes(5_000), waits.join());
  } finally {
    AbortSignal.timeout = timeout;
    left.resolve();
    await server.shutdown();
  }
});

Deno.test("events that no empty line separates, JSON on lines, JSON as a stream and a stream as JSON are read", async () => {
  const events = [chunk({ content: "a" }), chunk({ content: "b" }), STOP];
  const whole = JSON.stringify({ choices: [{ message: { content: "ab" }, finish_reason: "stop" }] });
  const pretty = JSON.stringify(JSON.parse(whole), null, 2);
  const lines = events.map((event) => JSON.stringify(event)).join("\n");
  const bodies: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    [[...events, "[DONE]"].map(line).join("\n"), STREAM],
    [[...events, "[DONE]"].map(line).join("\r\n") + "\r\n", STREAM],
    [events.map((event) => `event: message\n${line(event)}\n`).join(""), STREAM],
    ...[whole, pretty, `\n\n${whole}\n`].map((body) => [body, STREAM] as const),
    ...[sse(...events), `: wait\n\n${sse(...events)}`].map((body) => [body, JSON_TYPE] as const),
    ...[STREAM, JSON_TYPE, { "content-type": "application/x-ndjson" }].map((type) => [lines, type] as const),
    ...[whole, sse(...events)].map((body) => [body, { "content-type": "text/html; charset=UTF-8" }] as const),
    [`: keep-alive\n\n${lines}\n`, STREAM],
  ];
  for (const [body, headers] of bodies) {
    const { text, finish } = await replyOf("openai-chat", body, headers);
    assert.deepEqual([text, finish], ["ab", "stop"], `${headers["content-type"]}: ${body}`);
  }
});

/** Errors in a stream with a success status, as servers send them, with the expected message for a user. */
const IN_STREAM: readonly (readonly [string, string, RegExp])[] = [
  ["event: error", `event: error\ndata: {"message":"boom","code":503}\n\n`, /status 503 .*boom/],
  ["event: error with text", "event: error\ndata: out of memory\n\n", /out of memory/],
  ["event: error with an error", `event: error\ndata: {"error":{"message":"boom"}}\n\n`, /boom/],
  ["llama.cpp, old", `error: {"code":500,"message":"the slot is gone","type":"server_error"}\n\n`, /the slot is gone/],
  [
    "llama.cpp",
    sse({ error: { code: 400, message: "failed to parse grammar", type: "invalid_request_error" } }),
    /grammar/,
  ],
  [
    "vLLM",
    sse({ error: { message: "EngineDead", type: "InternalServerError", param: null, code: 500 } }),
    /EngineDead/,
  ],
  [
    "vLLM, old",
    sse({ object: "error", message: "too busy", type: "ServiceUnavailable", code: 503 }),
    /status 503 .*too busy/,
  ],
  [
    "SGLang",
    sse({ error: { type: "BadRequestError", code: 400, message: "bad tokens" } }),
    /refused the model call with status 400 \(the server replied: bad tokens/,
  ],
  [
    "Ollama",
    `{"error":"model runner has unexpectedly stopped"}\n`,
    /the server failed \(the server replied: model runner has unexpectedly stopped\)/,
  ],
  [
    "LiteLLM",
    sse({ error: { message: "litellm.Timeout", type: null, param: null, code: "408" } }),
    /status 408 .*litellm\.Timeout/,
  ],
  [
    "OpenRouter",
    sse({ id: "x", error: { code: 502, message: "Provider gone" }, ...chunk({ content: "" }) }),
    /Provider gone/,
  ],
  ["FastAPI", sse({ detail: "Model is loading" }), /Model is loading/],
  [
    "FastAPI, faults",
    sse({ detail: [{ loc: ["body", "x"], msg: "bad" }, { loc: ["body", "y"], msg: "worse" }] }),
    /x: bad; y: worse/,
  ],
  [
    "DashScope",
    sse({ code: "InvalidParameter", message: "Range of x", request_id: "1" }),
    /refused the model call \(the server replied: Range of x/,
  ],
  ["Cloudflare", sse({ success: false, errors: [{ code: 7003, message: "No route" }], result: null }), /No route/],
  ["MiniMax", sse({ base_resp: { status_code: 1008, status_msg: "insufficient balance" } }), /insufficient balance/],
  ["Ollama, a call", sse({ "error parsing tool call": "raw='{}', err=unexpected end" }), /unexpected end/],
  ["a gateway", sse({ message: "Endpoint request timed out" }), /Endpoint request timed out/],
  [
    "a list",
    sse([{ error: { code: 503, message: "in a list", status: "UNAVAILABLE" } }] as object),
    /status 503 .*in a list/,
  ],
];

Deno.test("an error in a stream without a status names no status", async () => {
  const { message, brief } = await failureOf("openai-chat", `{"error":"model runner has unexpectedly stopped"}\n`);
  assert.match(brief, /^server error: model runner has unexpectedly stopped · /);
  assert.doesNotMatch(message, /status/);
});

for (const [name, body, says] of IN_STREAM) {
  Deno.test(`an error in a stream is named with its message: ${name}`, async () => {
    for (const begin of ["", ": ping\n\n", sse(chunk({ content: "ha" }))]) {
      const { message } = await failureOf("openai-chat", begin + body);
      assert.match(message, says);
      assert.doesNotMatch(message, /not what/);
    }
  });
}

Deno.test("an error as the whole reply is named, whatever type it is labelled with", async () => {
  const body = JSON.stringify({ detail: [{ type: "missing", loc: ["body", "prompt"], msg: "Field required" }] });
  for (const headers of [STREAM, JSON_TYPE, { "content-type": "text/plain" }]) {
    assert.match((await failureOf("openai-chat", body, headers)).message, /prompt: Field required/);
  }
});

Deno.test("no part of a reply is mistaken for an error", async () => {
  const odd = [
    { ...chunk({ content: "a" }), error: null, message: "fine", code: 0 },
    { type: "ping", message: "still here" },
    { ...chunk({ content: "b" }), error: false, detail: "" },
    { error: "", usage: { prompt_tokens: 1 } },
    STOP,
  ];
  assert.equal((await replyOf("openai-chat", sse(...odd))).text, "ab");
});

const REFUSALS: readonly (readonly [string, MockReply])[] = [
  ["stream_options", {
    status: 422,
    body:
      `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`,
  }],
  ["stream_options", {
    status: 400,
    error: { message: "Unsupported parameter", param: "stream_options", code: "unsupported_parameter" },
  }],
  ["stream_options", {
    status: 400,
    body: `{"object":"error","message":"[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options')}]","code":400}`,
  }],
  ["stream_options", { status: 400, body: `{"detail":"Extra parameters ['stream_options'] are not allowed"}` }],
  ["stream", {
    status: 400,
    error: { message: "Unsupported value: 'stream' does not support true with this model.", param: "stream" },
  }],
  ["stream", { status: 400, error: { message: "Streaming is not supported for this model" } }],
  ["stream", { status: 501, error: { message: "This server does not support streaming" } }],
  ["stream", {
    status: 422,
    body: `{"detail":[{"type":"literal_error","loc":["body","stream"],"msg":"Input should be False"}]}`,
  }],
  ["stream", { status: 400, error: { message: "stream must be false" } }],
  ["stream_options", {
    body: JSON.stringify({ error: { message: "Unknown parameter: 'stream_options'", code: "400" } }),
  }],
  [
    "stream_options",
    { body: sse({ error: { message: "Unknown parameter: 'stream_options'", code: 400 } }), headers: STREAM },
  ],
];

for (const [part, reply] of REFUSALS) {
  Deno.test(`a refused ${part} is omitted from then on: ${reply.body ?? JSON.stringify(reply.error)}`, async () => {
    const handler = ({ body }: MockRequest) => part in body ? reply : "yes";
    await withMock("openai-chat", { handler }, async ({ baseUrl, requests }) => {
      const provider = await provide("openai-chat", { baseUrl });
      for (const _ of [1, 2]) assert.equal(textOf(await collect(provider), "text"), "yes");
      assert.deepEqual(requests.map(({ body }) => part in body), [true, false, false]);
    });
  });
}

Deno.test("every API asks for a whole reply where a service refuses to stream", async () => {
  for (const protocol of PROTOCOLS) {
    const handler = (asked: MockRequest) =>
      WIRES[protocol].wire.isStreamed(asked)
        ? { status: 400, error: { message: "Streaming is not supported", code: 400 } }
        : { text: "whole", reasoning: "why" };
    await withMock(protocol, { handler }, async ({ baseUrl, requests }) => {
      const events = await collect(await provide(protocol, { baseUrl }));
      assert.deepEqual([textOf(events, "text"), textOf(events, "reasoning")], ["whole", "why"], protocol);
      assert.equal(requests.length, 2);
    });
  }
});

Deno.test("other optional parts that a service refuses are omitted as well", async () => {
  const cases: readonly (readonly [WireProtocol, string, (body: string) => boolean])[] = [
    ["openai-responses", "Unknown parameter: 'store'", (body) => body.includes('"store"')],
    [
      "anthropic",
      "messages.0.content.0.cache_control: Extra inputs are not permitted",
      (body) => body.includes("cache_control"),
    ],
    [
      "openai-chat",
      "'messages[0].role' does not support 'system' with this model",
      (body) => body.includes('"system"'),
    ],
  ];
  for (const [protocol, message, has] of cases) {
    const handler = ({ body }: MockRequest) => has(JSON.stringify(body)) ? { status: 400, error: { message } } : "yes";
    await withMock(protocol, { handler }, async ({ baseUrl, requests }) => {
      const provider = await provide(protocol, { baseUrl });
      const messages = request().messages.map((one) => ({ ...one, cache: one.text === "Hello" }));
      const events = await Array.fromAsync(provider.stream(request({ messages })));
      assert.equal(textOf(events, "text"), "yes", protocol);
      assert.equal(requests.length, 2, protocol);
    });
  }
});

/** Calls of tools that were never offered, and the name of each. */
const CALLS: readonly (readonly [WireProtocol, string, string])[] = [
  [
    "openai-chat",
    sse(
      chunk({ tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "grep", arguments: "" } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"q":' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '"x"}' } }, { index: 1, function: { name: "ls" } }] }),
      chunk({}, { finish_reason: "tool_calls" }),
    ),
    'grep({"q":"x"})',
  ],
  [
    "openai-chat",
    sse(chunk({ function_call: { name: "run", arguments: "{}" } }), chunk({}, { finish_reason: "function_call" })),
    "run({})",
  ],
  [
    "openai-chat",
    JSON.stringify({
      choices: [{ message: { content: null, tool_calls: [{ function: { name: "ls", arguments: "{}" } }] } }],
    }),
    "ls({})",
  ],
  [
    "openai-responses",
    sse(
      { type: "response.output_item.added", item: { type: "function_call", name: "grep", arguments: "" } },
      { type: "response.function_call_arguments.delta", delta: '{"q":"x"}' },
      {
        type: "response.completed",
        response: { output: [{ type: "function_call", name: "grep", arguments: '{"q":"x"}' }] },
      },
    ),
    'grep({"q":"x"}',
  ],
  [
    "anthropic",
    sse(
      { type: "message_start", message: { model: "m", usage: {} } },
      { type: "content_block_start", content_block: { type: "tool_use", id: "t", name: "bash", input: {} } },
      { type: "content_block_delta", delta: { type: "input_json_delta", partial_json: '{"command":' } },
      { type: "content_block_delta", delta: { type: "input_json_delta", partial_json: '"ls"}' } },
      { type: "message_delta", delta: { stop_reason: "tool_use" } },
      { type: "message_stop" },
    ),
    'bash({"command":"ls"})',
  ],
  [
    "google",
    sse(gemini({ functionCall: { name: "grep", args: { q: "x" } } }, { finishReason: "STOP" })),
    'grep({"q":"x"})',
  ],
  [
    "google",
    sse({
      candidates: [{
        content: {},
        finishReason: "MALFORMED_FUNCTION_CALL",
        finishMessage: "Malformed function call: print(x)",
      }],
    }),
    "print(x)",
  ],
  ["google", sse({ candidates: [{ finishReason: "UNEXPECTED_TOOL_CALL" }] }), "UNEXPECTED_TOOL_CALL"],
];

for (const [protocol, body, named] of CALLS) {
  Deno.test(`a call of a tool by ${protocol} ends the reply with its name: ${named}`, async () => {
    const { text, toolCall } = await replyOf(protocol, body);
    assert.equal(text, "");
    assert.ok(toolCall?.startsWith(named), toolCall);
  });
}

Deno.test("a service that refuses a reply since it calls a tool gives that call", async () => {
  const message = "Tool choice is none, but model called a tool";
  const error = { message, type: "invalid_request_error", code: "tool_use_failed" };
  const generation = '{"name": "open_file", "arguments": {"path": "a"}}';
  const replies: readonly (readonly [MockReply, string])[] = [
    [{ status: 400, error: { ...error, failed_generation: generation } }, generation],
    [{ status: 400, error }, "a tool"],
    [{ body: sse({ error: { ...error, failed_generation: generation } }), headers: STREAM }, generation],
  ];
  for (const [reply, named] of replies) {
    const events = await eventsTo("openai-chat", reply);
    assert.deepEqual([events.length, endOf(events).toolCall, endOf(events).usage.calls], [1, named, 1]);
  }
});

Deno.test("the arguments of a tool call are cut", async () => {
  const long = chunk({ tool_calls: [{ index: 0, function: { name: "write", arguments: "😀".repeat(5_000) } }] });
  const { toolCall = "" } = await replyOf("openai-chat", sse(long, STOP));
  assert.ok(toolCall.length === 300 && toolCall.isWellFormed());
});

Deno.test("a Responses stream is read whose text comes only at its end, once", async () => {
  const content = [{ type: "output_text", text: "yes" }];
  const reasoning = { type: "reasoning", summary: [{ type: "summary_text", text: "why" }] };
  const response = { model: "m", status: "completed", output: [reasoning, { type: "message", content }] };
  const completed = { type: "response.completed", response };
  const done = { type: "response.output_text.done", text: "yes" };
  const delta = (text: string) => ({ type: "response.output_text.delta", delta: text });
  const empty = { type: "response.completed", response: { ...response, output: [] } };
  const streams = [[completed], [done, completed], [done, empty], [delta("y"), delta("es"), done, completed]];
  for (const events of streams) assert.equal((await replyOf("openai-responses", sse(...events))).text, "yes");
  assert.equal((await replyOf("openai-responses", sse(completed))).reasoning, "why");
  const thought = [{ type: "message", content: [{ type: "reasoning", text: "why" }, ...content] }];
  const mixed = await replyOf("openai-responses", JSON.stringify({ status: "completed", output: thought }), JSON_TYPE);
  assert.deepEqual([mixed.text, mixed.reasoning], ["yes", "why"]);
});

Deno.test("reasoning among the parts of a content is not mistaken for the answer", async () => {
  const text = { type: "text", text: "yes" };
  const thoughts = [
    { type: "reasoning", text: "why" },
    { type: "reasoning", reasoning: "why" },
    { type: "reasoning", summary: [{ type: "summary_text", text: "why" }] },
    { type: "thinking", thinking: "why" },
    { type: "thinking", thinking: [{ type: "text", text: "why" }] },
  ];
  for (const thought of thoughts) {
    const found = await replyOf("openai-chat", sse(chunk({ content: [thought, text] }), STOP));
    assert.deepEqual([found.text, found.reasoning], ["yes", "why"], JSON.stringify(thought));
  }
});

Deno.test("chunks with a message instead of a delta are read", async () => {
  const piece = (content: string, rest: object = {}) => ({
    choices: [{ message: { role: "assistant", content }, ...rest }],
  });
  const { text, finish } = await replyOf("openai-chat", sse(piece("a"), piece("b", { finish_reason: "stop" })));
  assert.deepEqual([text, finish], ["ab", "stop"]);
});

Deno.test("every byte of a reply is reported, comments and pings included", async () => {
  const pieces = [": ping\n\n", ": ping\n\n", sse(chunk({}), chunk({ content: "a" }), STOP)];
  await withBytes(pieces.map((text) => new TextEncoder().encode(text)), STREAM, async (baseUrl) => {
    let seen = 0;
    const provider = await provide("openai-chat", { baseUrl });
    let before = 0;
    for await (const event of provider.stream(request({ onBytes: () => void seen++ }))) {
      if (event.type === "text") before = seen;
    }
    assert.ok(before >= 1 && seen >= before);
  });
});

Deno.test("a reply that is named compressed, and is not, is read", async () => {
  const body = sse(chunk({ content: "a" }), STOP);
  const asked: (string | null)[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    await request.arrayBuffer();
    asked.push(request.headers.get("accept-encoding"));
    return new Response(body, { headers: { ...STREAM, "content-encoding": "gzip" } });
  });
  const options: Partial<ProviderOptions> = { baseUrl: `http://127.0.0.1:${server.addr.port}/v1` };
  const provider = await provide("openai-chat", options);
  for (const _ of [1, 2]) assert.equal(textOf(await collect(provider), "text"), "a");
  await server.shutdown();
});

Deno.test("a reply that is compressed although it should not be is read", async () => {
  const stream = new Blob([sse(chunk({ content: "a" }), STOP)]).stream().pipeThrough(new CompressionStream("gzip"));
  const packed = new Uint8Array(await new Response(stream).arrayBuffer());
  for (const headers of [{ ...STREAM, "content-encoding": "gzip" }, STREAM]) {
    assert.equal((await replyOf("openai-chat", [packed.slice(0, 3), packed.slice(3)], headers)).text, "a");
  }
});

Deno.test("eventsTo() of every API ends a reply of thoughts only without a text", async () => {
  for (const protocol of PROTOCOLS) {
    const events = await eventsTo(protocol, { reasoning: "why" });
    assert.deepEqual([textOf(events, "text"), textOf(events, "reasoning")], ["", "why"], protocol);
  }
});

Deno.test("pieces of a stream that other clients stumbled over are read", async () => {
  const text = (content: string) => chunk({ content });
  const streams: Readonly<Record<string, readonly (object | string)[]>> = {
    "null instead of a chunk": [text("a"), "null", text("b"), STOP, "[DONE]"],
    "choices that are null": [{ choices: null }, text("a"), { choices: null, usage: null }, text("b"), STOP],
    "a first chunk without a choice": [{ choices: [], prompt_filter_results: [] }, text("a"), text("b"), STOP],
    "no index and no delta": [
      { choices: [{ finish_reason: null }] },
      { choices: [{ delta: { content: "ab" } }] },
      STOP,
    ],
    "an empty role": [chunk({ role: "", content: "a" }), chunk({ role: "", content: "b" }), STOP],
    "a delta that is null": [{ choices: [{ delta: null }] }, text("a"), text("b"), STOP],
    "a finish with each piece of reasoning": [
      chunk({ reasoning_content: "hm" }, { finish_reason: "stop" }),
      text("a"),
      text("b"),
      STOP,
    ],
    "a finish of another API": [text("a"), text("b"), chunk({}, { finish_reason: "end_turn" })],
    "usage after the end": [text("a"), text("b"), STOP, { choices: [], usage: { completion_tokens: 3 } }],
  };
  for (const [name, events] of Object.entries(streams)) {
    assert.equal((await replyOf("openai-chat", sse(...events))).text, "ab", name);
  }
});

Deno.test("an Anthropic reply is read whose thinking has no signature and is followed by a redacted part", async () => {
  const block = (index: number, part: object) => ({ type: "content_block_start", index, content_block: part });
  const { text, reasoning } = await replyOf(
    "anthropic",
    sse(
      { type: "message_start", message: { model: "m", usage: {} } },
      block(0, { type: "thinking", thinking: "why", signature: "" }),
      block(1, { type: "text", text: "yes" }),
      block(2, { type: "redacted_thinking", data: "xx" }),
      { type: "message_delta", delta: { stop_reason: "end_turn" } },
      { type: "message_stop" },
    ),
  );
  assert.deepEqual([text, reasoning], ["yes", "why"]);
});

Deno.test("an error that a gateway writes into an unfinished event is named", async () => {
  const begun = `data: {"type":"response.completed","response":{"output":[{"ty\n`;
  const error = `data: {"type":"error","error":{"type":"upstream_error","message":"stream_read_error"}}\n\n`;
  assert.match((await failureOf("openai-responses", begun + error)).message, /stream_read_error/);
});

const WHOLE = '{"final":{"answer":"a } b"}}';
const UNENDED: Readonly<Record<WireProtocol, (first: string, second: string) => readonly object[]>> = {
  "openai-chat": (...pieces) => [
    ...pieces.map((content) => chunk({ content })),
    { choices: [], usage: { prompt_tokens: 9, completion_tokens: 3 } },
  ],
  "openai-responses": (...pieces) => pieces.map((delta) => ({ type: "response.output_text.delta", delta })),
  "anthropic": (...pieces) =>
    pieces.map((text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
  "google": (...pieces) => pieces.map((text) => gemini({ text })),
};

Deno.test("a stream without an end is a reply if its text is one whole JSON object, for every API", async () => {
  for (const protocol of PROTOCOLS) {
    const events = sse(...UNENDED[protocol](WHOLE.slice(0, 9), WHOLE.slice(9)));
    const { text, finish } = await replyOf(protocol, events);
    assert.deepEqual([text, finish], [WHOLE, "stop"], protocol);
    for (const cut of [WHOLE.slice(0, -1), WHOLE.slice(0, 24), `[1, 2]`, "12", "yes"]) {
      const failure = await failureOf(protocol, sse(...UNENDED[protocol](cut.slice(0, 1), cut.slice(1))));
      assert.match(failure.message, /the connection ended too early; try again/, `${protocol} ${cut}`);
    }
  }
  const { usage } = await replyOf("openai-chat", sse(...UNENDED["openai-chat"](WHOLE, "")));
  assert.deepEqual([usage.input, usage.output], [9, 3]);
});

Deno.test("a connection that breaks after a whole JSON object does not affect it", async () => {
  const broken = async (text: string) => {
    const pieces = async function* () {
      yield new TextEncoder().encode(sse(...UNENDED["openai-chat"](text, "")));
      await new Promise((resolve) => setTimeout(resolve, 20));
      throw new Error("broken");
    };
    const headers = STREAM;
    const server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {}, onError: () => new Response() },
      () => new Response(ReadableStream.from(pieces()), { headers }),
    );
    try {
      const provider = await provide("openai-chat", { baseUrl: `http://127.0.0.1:${server.addr.port}/v1` });
      return await collect(provider).then((events) => textOf(events, "text"), (error: unknown) => String(error));
    } finally {
      await server.shutdown();
    }
  };
  assert.equal(await broken(WHOLE), WHOLE);
  assert.match(await broken(WHOLE.slice(0, -1)), /the connection ended too early; try again/);
});

Deno.test("control characters that a service did not escape keep their meaning, in a stream and in a whole reply", async () => {
  for (const char of ["\t", "\u001b", "\u0000", "\n", "\f"]) {
    const content = `a${char}b: "c" \\ d`;
    const sent = (event: object) => JSON.stringify(event).replace(JSON.stringify(char).slice(1, -1), char);
    const streamed = `data: ${sent(chunk({ content }))}\n\n${sse(STOP, "[DONE]")}`;
    assert.equal((await replyOf("openai-chat", streamed)).text, content, JSON.stringify(char));
    const whole = sent({ choices: [{ message: { content }, finish_reason: "stop" }] });
    assert.equal((await replyOf("openai-chat", whole, JSON_TYPE)).text, content, JSON.stringify(char));
    const refused = `data: ${sent({ error: { message: `no${char}luck` } })}\n\n`;
    assert.match((await failureOf("openai-chat", refused)).message, /no.{1,6}luck/, JSON.stringify(char));
  }
});
