import assert from "node:assert/strict";
import type { Image } from "../../../src/domain/images.ts";
import { type ModelMessage, type ReasoningLevel, UNKNOWN_MODEL } from "../../../src/providers/provider.ts";
import { anthropic } from "../../../src/providers/wire/anthropic.ts";
import { collect, endOf, request, textOf } from "../../conformance/provider_calls.ts";
import { failureTo, KEY, provide, withMock } from "../../helpers/wires/wire_rig.ts";

const REASONS = { ...UNKNOWN_MODEL, nativeReasoning: true };
const NOTHING = new Set<string>();

function thinkingOf(model: string, reasoning: ReasoningLevel, without: ReadonlySet<string> = NOTHING): object {
  const { body } = anthropic.request(request({ model, reasoning }), { capabilities: REASONS, without });
  return { thinking: body.thinking, output_config: body.output_config };
}

Deno.test("anthropic() sends system, one user message and the cache breakpoint after the stable prefix", async () => {
  await withMock("anthropic", { reply: "yes", key: KEY }, async ({ baseUrl, requests }) => {
    await collect(await provide("anthropic", { baseUrl }));
    const [asked] = requests;
    assert.equal(asked?.headers["anthropic-version"], "2023-06-01");
    assert.equal(asked?.headers.authorization, undefined);
    assert.deepEqual(asked?.body, {
      model: "mock-1",
      max_tokens: 32_000,
      system: [{ type: "text", text: "You are terse." }],
      messages: [{
        role: "user",
        content: [
          { type: "text", text: "Hello", cache_control: { type: "ephemeral" } },
          { type: "text", text: "Context 1" },
        ],
      }],
      stream: true,
    });
  });
});

Deno.test("anthropic() sets one breakpoint, the last that is asked for", () => {
  const messages: ModelMessage[] = [
    { role: "system", text: "a", cache: true },
    { role: "user", text: "b", cache: true },
    { role: "user", text: "c" },
  ];
  const facts = { capabilities: UNKNOWN_MODEL, without: NOTHING };
  const sent = JSON.stringify(anthropic.request(request({ messages }), facts).body);
  assert.equal(sent.split("cache_control").length, 2);
  assert.match(sent, /"text":"b","cache_control":\{"type":"ephemeral"\}/);
  const none = messages.map(({ role, text }) => ({ role, text }));
  assert.doesNotMatch(JSON.stringify(anthropic.request(request({ messages: none }), facts)), /cache_control/);
});

Deno.test("anthropic() asks newer models for an effort and older ones for a budget", () => {
  for (
    const model of [
      "claude-opus-4-6",
      "claude-sonnet-4-6-20260301",
      "claude-sonnet-5",
      "claude-opus-5-5",
      "claude-mythos-preview",
      "anthropic/claude-opus-4.7",
    ]
  ) {
    for (const [level, effort] of [["quick", "low"], ["balanced", "medium"], ["deep", "high"]] as const) {
      const adaptive = { type: "adaptive", display: "summarized" };
      assert.deepEqual(thinkingOf(model, level), { thinking: adaptive, output_config: { effort } }, model);
    }
  }
  for (
    const model of [
      "claude-sonnet-4-5-20250929",
      "claude-opus-4-20250514",
      "claude-opus-4-1",
      "claude-haiku-4-5",
      "claude-3-7-sonnet-latest",
    ]
  ) {
    for (const [level, budget] of [["quick", 1024], ["balanced", 8192], ["deep", 24_000]] as const) {
      const expected = { thinking: { type: "enabled", budget_tokens: budget }, output_config: undefined };
      assert.deepEqual(thinkingOf(model, level), expected, model);
    }
  }
  assert.deepEqual(thinkingOf("claude-3-5-haiku-latest", "deep"), { thinking: undefined, output_config: undefined });
});

Deno.test("anthropic() always leaves room for the reply besides the budget", () => {
  for (const model of ["claude-sonnet-4-5", "claude-3-7-sonnet-latest"]) {
    for (const without of [NOTHING, new Set(["max_tokens"])]) {
      const { body } = anthropic.request(request({ model, reasoning: "deep" }), { capabilities: REASONS, without });
      const { budget_tokens: budget } = body.thinking as { budget_tokens: number };
      assert.ok(Number(body.max_tokens) > budget, `${body.max_tokens} ${budget}`);
      assert.ok(budget >= 1024);
    }
  }
});

Deno.test("anthropic() limits replies to the model's maximum", () => {
  const limit = (model: string, replyTokens?: number) =>
    anthropic.request(request({ model }), {
      capabilities: replyTokens === undefined ? UNKNOWN_MODEL : { ...UNKNOWN_MODEL, replyTokens },
      without: NOTHING,
    }).body.max_tokens;
  assert.equal(limit("claude-3-haiku-20240307"), 4096);
  assert.equal(limit("claude-sonnet-5"), 32_000);
  assert.equal(limit("claude-sonnet-5", 128_000), 32_000);
  assert.equal(limit("claude-3-5-haiku-latest", 8192), 8192);
});

Deno.test("anthropic() asks again in the other form where a model refuses one", async () => {
  const enabled = `"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and ` +
    `"output_config.effort" to control thinking behavior.`;
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ["claude-x-4-5", enabled, /"thinking":\{"type":"adaptive"/],
    ["claude-odd", "adaptive thinking is not supported on this model", /"thinking":\{"type":"enabled","budget_tokens"/],
    ["claude-odd", "output_config: Extra inputs are not permitted", /"adaptive","display":"summarized"\}\}/],
    [
      "claude-odd",
      "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for claude-odd",
      /"max_tokens":4096/,
    ],
  ];
  for (const [model, message, expected] of cases) {
    const reply = [{ status: 400, error: { message } }, "yes", "yes"];
    await withMock("anthropic", { reply }, async ({ baseUrl, requests }) => {
      const provider = await provide("anthropic", { baseUrl, capabilities: () => REASONS });
      for (let call = 0; call < 2; call++) {
        const events = await Array.fromAsync(provider.stream(request({ model })));
        assert.equal(textOf(events, "text"), "yes");
      }
      assert.equal(requests.length, 3);
      for (const asked of requests.slice(1)) assert.match(JSON.stringify(asked.body), expected, message);
    });
  }
});

Deno.test("anthropic() sends images before their text and the breakpoint after both", async () => {
  const images: readonly Image[] = [
    { kind: "bytes", mediaType: "image/png", bytes: Uint8Array.of(137, 80, 78, 71) },
    { kind: "url", url: "https://example.com/a.jpg" },
  ];
  await withMock("anthropic", { reply: "a cat" }, async ({ baseUrl, requests }) => {
    const provider = await provide("anthropic", { baseUrl, capabilities: () => ({ ...UNKNOWN_MODEL, images: true }) });
    const messages: ModelMessage[] = [{ role: "user", text: "What is it?", images, cache: true }];
    await Array.fromAsync(provider.stream(request({ messages })));
    assert.deepEqual(requests[0]?.body.messages[0].content, [
      { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw==" } },
      { type: "image", source: { type: "url", url: "https://example.com/a.jpg" } },
      { type: "text", text: "What is it?", cache_control: { type: "ephemeral" } },
    ]);
  });
});

Deno.test("anthropic() counts tokens read from the cache and written to it as input", async () => {
  const counts = { input: 1000, output: 50, cached: 600, cacheWrite: 300 };
  await withMock("anthropic", { reply: { text: "yes", counts } }, async ({ baseUrl }) => {
    const { usage } = endOf(await collect(await provide("anthropic", { baseUrl })));
    assert.deepEqual(usage, { ...counts, reasoning: 0, calls: 1 });
  });
});

Deno.test("anthropic() keeps the counts of the start where the end counts the output alone", async () => {
  const events = [
    { type: "message_start", message: { model: "m", usage: { input_tokens: 7, cache_read_input_tokens: 3 } } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "yes" } },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 5 } },
    { type: "message_stop" },
  ];
  const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  const reply = { body, headers: { "content-type": "text/event-stream" } };
  await withMock("anthropic", { reply }, async ({ baseUrl }) => {
    const { usage } = endOf(await collect(await provide("anthropic", { baseUrl })));
    assert.deepEqual(usage, { input: 10, output: 5, cached: 3, reasoning: 0, calls: 1 });
  });
});

Deno.test("anthropic() reads every reason to stop", async () => {
  const cases = [
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["pause_turn", "pause_turn"],
  ];
  for (const [finish, expected] of cases) {
    await withMock("anthropic", { reply: { text: "half", finish: finish! } }, async ({ baseUrl }) => {
      assert.equal(endOf(await collect(await provide("anthropic", { baseUrl }))).finish, expected);
    });
  }
});

Deno.test("anthropic() names errors by their type, in the middle of a stream too", async () => {
  const cases: readonly (readonly [number, string, boolean])[] = [
    [400, "server", false],
    [401, "auth", false],
    [402, "auth", false],
    [403, "auth", false],
    [404, "server", false],
    [413, "context", false],
    [429, "rate", true],
    [500, "server", true],
    [504, "server", true],
    [529, "server", true],
  ];
  for (const [code, kind, retryable] of cases) {
    const error = await failureTo("anthropic", {
      text: "some text",
      fault: "error_chunk",
      error: { message: "No", code },
    });
    assert.deepEqual([error.code, error.retryable], [kind, retryable], String(code));
    assert.match(error.message, /the server replied: No/);
  }
});

Deno.test("anthropic() reports missing credit", async () => {
  const message = "Your credit balance is too low to access the Anthropic API.";
  const error = await failureTo("anthropic", { status: 400, error: { message } });
  assert.deepEqual([error.code, error.retryable], ["auth", false]);
  assert.match(error.message, /no credit left/);
});

Deno.test("anthropic() lists models page by page", async () => {
  const pages: Record<string, object> = {
    "": { data: [{ id: "a" }, { id: "b" }], has_more: true, last_id: "b" },
    b: { data: [{ id: "c" }], has_more: false, last_id: "c" },
  };
  const seen: string[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (asked) => {
    const { searchParams, pathname } = new URL(asked.url);
    seen.push(`${pathname} ${asked.headers.get("x-api-key")}`);
    return Response.json(pages[searchParams.get("after_id") ?? ""]);
  });
  const provider = await provide("anthropic", { baseUrl: `http://127.0.0.1:${server.addr.port}/v1` });
  assert.deepEqual(await provider.models({ signal: new AbortController().signal }), ["a", "b", "c"]);
  assert.deepEqual(seen, [`/v1/models ${KEY}`, `/v1/models ${KEY}`]);
  await server.shutdown();
});

Deno.test("anthropic() stops reading a list of models that never ends", async () => {
  let asked = 0;
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, () => {
    asked++;
    return Response.json({ data: [{ id: `m${asked}` }], has_more: true, last_id: "same" });
  });
  const provider = await provide("anthropic", { baseUrl: `http://127.0.0.1:${server.addr.port}/v1` });
  const models = await provider.models({ signal: new AbortController().signal });
  assert.equal(models.length, asked);
  assert.ok(asked <= 50);
  await server.shutdown();
});
