import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { ProviderError } from "../../../src/domain/errors.ts";
import type { Image } from "../../../src/domain/images.ts";
import { type ModelMessage, UNKNOWN_MODEL } from "../../../src/providers/provider.ts";
import { openAiChat } from "../../../src/providers/wire/openai_chat.ts";
import { collect, request, textOf } from "../../conformance/provider_calls.ts";
import { provide, withMock } from "../../helpers/wires/wire_rig.ts";

const REASONS = () => ({ ...UNKNOWN_MODEL, nativeReasoning: true });
const SEES = () => ({ ...UNKNOWN_MODEL, images: true });

Deno.test("openAiChat() repeats a call without the part that an old server refuses, and remembers it", async () => {
  const cases: readonly (readonly [string, string])[] = [
    ["Unrecognized request argument supplied: stream_options", "stream_options"],
    ["stream_options: Extra inputs are not permitted", "stream_options"],
    ["Unsupported parameter: 'reasoning_effort' is not supported with this model.", "reasoning_effort"],
  ];
  for (const [message, field] of cases) {
    for (const status of [400, 422]) {
      const replies = [{ status, error: { message } }, "one", "two"];
      await withMock("openai-chat", { reply: replies }, async ({ baseUrl, requests }) => {
        const provider = await provide("openai-chat", { baseUrl, capabilities: REASONS });
        assert.equal(textOf(await collect(provider), "text"), "one");
        assert.equal(textOf(await collect(provider), "text"), "two");
        assert.deepEqual(requests.map(({ body }) => field in body), [true, false, false], message);
      });
    }
  }
});

Deno.test("openAiChat() makes one user message once a template refused the system role", async () => {
  const texts = ["Conversation roles must alternate user/assistant/user", "System role not supported"];
  for (const message of texts) {
    await withMock("openai-chat", { reply: [{ status: 500, error: { message } }, "yes"] }, async (mock) => {
      const provider = await provide("openai-chat", { baseUrl: mock.baseUrl });
      assert.equal(textOf(await collect(provider), "text"), "yes");
      const expected = [{ role: "user", content: "You are terse.\n\nHello\n\nContext 1" }];
      assert.deepEqual(mock.requests[1]?.body.messages, expected);
    });
  }
});

Deno.test("openAiChat() asks once where the refusal is about something else or stays", async () => {
  const replies: readonly (readonly [string, number])[] = [
    ["Unsupported value: temperature", 1],
    ["reasoning is not allowed for you", 1],
    ["stream_options are not supported", 2],
  ];
  for (const [message, count] of replies) {
    await withMock("openai-chat", { reply: { status: 400, error: { message } } }, async ({ baseUrl, requests }) => {
      await assert.rejects(collect(await provide("openai-chat", { baseUrl })), ProviderError);
      assert.equal(requests.length, count, message);
    });
  }
});

Deno.test("openAiChat() two calls at once both get by a refused field", async () => {
  const handler = ({ body }: { body: { stream_options?: unknown } }) =>
    body.stream_options ? { status: 400, error: { message: "stream_options?" } } : "yes";
  await withMock("openai-chat", { handler }, async ({ baseUrl }) => {
    const provider = await provide("openai-chat", { baseUrl });
    const both = await Promise.all([collect(provider), collect(provider), collect(provider)]);
    assert.deepEqual(both.map((events) => textOf(events, "text")), ["yes", "yes", "yes"]);
  });
});

Deno.test("openAiChat() writes the reasoning level as each service wants it", () => {
  const cases: readonly (readonly [string, readonly object[]])[] = [
    ["https://api.openai.com/v1", ["low", "medium", "high"].map((effort) => ({ reasoning_effort: effort }))],
    ["http://127.0.0.1:11434/v1", ["low", "medium", "high"].map((effort) => ({ reasoning_effort: effort }))],
    ["https://openrouter.ai/api/v1", ["low", "medium", "high"].map((effort) => ({ reasoning: { effort } }))],
    ["https://api.z.ai/api/paas/v4", ["disabled", "enabled", "enabled"].map((type) => ({ thinking: { type } }))],
    ["https://api.z.ai/api/coding/paas/v4", ["disabled", "enabled", "enabled"].map((type) => ({ thinking: { type } }))],
    [
      "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
      [false, true, true].map((on) => ({ enable_thinking: on })),
    ],
  ];
  for (const [baseUrl, expected] of cases) {
    const sent = (["quick", "balanced", "deep"] as const).map((reasoning) => {
      const facts = { capabilities: REASONS(), without: new Set<string>() };
      const { body } = openAiChat(baseUrl).request(request({ reasoning }), facts);
      const { model: _m, messages: _s, stream: _t, stream_options: _o, ...rest } = body;
      return rest;
    });
    assert.deepEqual(sent, expected, baseUrl);
  }
});

const IMAGES: readonly Image[] = [
  { kind: "bytes", mediaType: "image/png", bytes: Uint8Array.of(137, 80, 78, 71) },
  { kind: "url", url: "https://example.com/a.jpg" },
];

Deno.test("openAiChat() puts images before their text", async () => {
  const messages: ModelMessage[] = [
    { role: "system", text: "You are terse." },
    { role: "user", text: "What is it?", images: IMAGES },
  ];
  const parts = [
    { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw==" } },
    { type: "image_url", image_url: { url: "https://example.com/a.jpg" } },
  ];
  for (const alternatingRoles of [false, true]) {
    await withMock("openai-chat", { reply: "a cat" }, async ({ baseUrl, requests }) => {
      const provider = await provide("openai-chat", { baseUrl, capabilities: () => ({ ...SEES(), alternatingRoles }) });
      for await (const _event of provider.stream(request({ messages }))) { /* The stream is read to its end. */ }
      const content = requests[0]?.body.messages.at(-1).content;
      const text = alternatingRoles ? "You are terse.\n\nWhat is it?" : "What is it?";
      assert.deepEqual(content, [...parts, { type: "text", text }]);
    });
  }
});

Deno.test("openAiChat() encodes a view of bytes, not the whole buffer behind it", () => {
  const bytes = new Uint8Array([0, 0, 137, 80, 78, 71, 0]).subarray(2, 6);
  const messages: ModelMessage[] = [{
    role: "user",
    text: "?",
    images: [{ kind: "bytes", mediaType: "image/png", bytes }],
  }];
  const facts = { capabilities: SEES(), without: new Set<string>() };
  const { body } = openAiChat("http://127.0.0.1/v1").request(request({ messages }), facts);
  assert.match(JSON.stringify(body), /base64,iVBORw=="/);
});

Deno.test("openAiChat() encodes images of any size", () => {
  for (const size of [0, 1, 24_575, 24_576, 24_577, 300_000]) {
    const bytes = Uint8Array.from({ length: size }, (_, at) => (at * 7 + (at >> 8)) % 256);
    const image: Image = { kind: "bytes", mediaType: "image/png", bytes };
    const facts = { capabilities: SEES(), without: new Set<string>() };
    const { body } = openAiChat("http://127.0.0.1/v1").request(
      request({ messages: [{ role: "user", text: "?", images: [image] }] }),
      facts,
    );
    const sent = /base64,([^"]*)"/.exec(JSON.stringify(body))?.[1];
    assert.equal(sent, Buffer.from(bytes).toString("base64"), String(size));
  }
});

Deno.test("openAiChat() announces images to Copilot, and finds the models of GitHub Models", () => {
  const facts = { capabilities: SEES(), without: new Set<string>() };
  const seen = request({ messages: [{ role: "user", text: "?", images: IMAGES }] });
  for (const host of ["api.githubcopilot.com", "api.individual.githubcopilot.com"]) {
    const copilot = openAiChat(`https://${host}`);
    assert.deepEqual(copilot.request(seen, facts).headers, { "copilot-vision-request": "true" });
    assert.deepEqual(copilot.request(request(), facts).headers, {});
  }
  assert.deepEqual(openAiChat("https://api.openai.com/v1").request(seen, facts).headers, {});
  const base = "https://models.github.ai/inference";
  const { path } = openAiChat(base).modelsAt(null);
  assert.equal(new URL(base + path).href, "https://models.github.ai/catalog/models");
  assert.equal(openAiChat("https://openrouter.ai/api/v1").modelsAt(null).path, "/models");
});

Deno.test("openAiChat() marks the end of the stable prefix only if OpenRouter passes the mark on", () => {
  const contents = (baseUrl: string, model: string) => {
    const facts = { capabilities: UNKNOWN_MODEL, without: new Set<string>() };
    const { messages } = openAiChat(baseUrl).request(request({ model }), facts).body;
    return (messages as { content: unknown }[]).map(({ content }) => content);
  };
  const plain = ["You are terse.", "Hello", "Context 1"];
  const marked = [{ type: "text", text: "Hello", cache_control: { type: "ephemeral" } }];
  const openRouter = "https://openrouter.ai/api/v1";
  assert.deepEqual(contents(openRouter, "anthropic/claude-sonnet-5"), ["You are terse.", marked, "Context 1"]);
  assert.deepEqual(contents(openRouter, "openai/gpt-5"), plain);
  assert.deepEqual(contents("https://api.openai.com/v1", "anthropic/claude-sonnet-5"), plain);
});
