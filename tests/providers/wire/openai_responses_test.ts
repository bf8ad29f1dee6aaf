import assert from "node:assert/strict";
import type { Image } from "../../../src/domain/images.ts";
import { type ModelMessage, UNKNOWN_MODEL } from "../../../src/providers/provider.ts";
import { openAiResponses } from "../../../src/providers/wire/openai_responses.ts";
import { collect, endOf, request, textOf } from "../../conformance/provider_calls.ts";
import type { MockReply } from "../../helpers/wires/wire_mock.ts";
import { eventsTo, failureTo, KEY, provide, withMock } from "../../helpers/wires/wire_rig.ts";

const REASONS = () => ({ ...UNKNOWN_MODEL, nativeReasoning: true });

function streamOf(...events: readonly { readonly type: string }[]): MockReply {
  const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  return { body, headers: { "content-type": "text/event-stream" } };
}

Deno.test("openAiResponses() sends typed parts and lets the service keep nothing", async () => {
  await withMock("openai-responses", { reply: "yes", key: KEY }, async ({ baseUrl, requests }) => {
    await collect(await provide("openai-responses", { baseUrl }));
    assert.deepEqual(requests[0]?.body, {
      model: "mock-1",
      input: [
        { role: "system", content: [{ type: "input_text", text: "You are terse." }] },
        { role: "user", content: [{ type: "input_text", text: "Hello" }] },
        { role: "user", content: [{ type: "input_text", text: "Context 1" }] },
      ],
      stream: true,
      store: false,
    });
  });
});

Deno.test("openAiResponses() asks for an effort and for summaries", async () => {
  await withMock("openai-responses", { reply: "yes" }, async ({ baseUrl, requests }) => {
    const provider = await provide("openai-responses", { baseUrl, capabilities: REASONS });
    for (const reasoning of ["quick", "balanced", "deep"] as const) {
      await Array.fromAsync(provider.stream(request({ reasoning })));
    }
    assert.deepEqual(
      requests.map(({ body }) => body.reasoning),
      ["low", "medium", "high"].map((effort) => ({ effort, summary: "auto" })),
    );
  });
});

Deno.test("openAiResponses() does without summaries, then without an effort, where they are refused", async () => {
  const reply = [
    { status: 400, error: { message: "Your organization must be verified to generate reasoning summaries." } },
    { status: 400, error: { message: "Unsupported parameter: 'reasoning.effort'" } },
    "one",
    "two",
  ];
  await withMock("openai-responses", { reply }, async ({ baseUrl, requests }) => {
    const provider = await provide("openai-responses", { baseUrl, capabilities: REASONS });
    assert.equal(textOf(await collect(provider), "text"), "one");
    assert.equal(textOf(await collect(provider), "text"), "two");
    const asked = requests.map(({ body }) => body.reasoning);
    assert.deepEqual(asked, [{ effort: "medium", summary: "auto" }, { effort: "medium" }, undefined, undefined]);
  });
});

Deno.test("openAiResponses() sends images as data or as addresses", async () => {
  const images: readonly Image[] = [
    { kind: "bytes", mediaType: "image/png", bytes: Uint8Array.of(137, 80, 78, 71) },
    { kind: "url", url: "https://example.com/a.jpg" },
  ];
  await withMock("openai-responses", { reply: "a cat" }, async ({ baseUrl, requests }) => {
    const capabilities = () => ({ ...UNKNOWN_MODEL, images: true });
    const provider = await provide("openai-responses", { baseUrl, capabilities });
    const messages: ModelMessage[] = [{ role: "user", text: "What is it?", images }];
    await Array.fromAsync(provider.stream(request({ messages })));
    assert.deepEqual(requests[0]?.body.input[0].content, [
      { type: "input_image", image_url: "data:image/png;base64,iVBORw==" },
      { type: "input_image", image_url: "https://example.com/a.jpg" },
      { type: "input_text", text: "What is it?" },
    ]);
  });
});

Deno.test("openAiResponses() puts a line between the parts of a summary", async () => {
  const part = (at: number) => ({ type: "response.reasoning_summary_part.added", summary_index: at, part: {} });
  const delta = (text: string) => ({ type: "response.reasoning_summary_text.delta", delta: text });
  const events = await eventsTo(
    "openai-responses",
    streamOf(
      ...[part(0), delta("one"), part(1), delta("two")],
      { type: "response.completed", response: { status: "completed", output: [] } } as { type: string },
    ),
  );
  assert.equal(textOf(events, "reasoning"), "one\n\ntwo");
});

Deno.test("openAiResponses() reads the raw reasoning of open models", async () => {
  const events = await eventsTo(
    "openai-responses",
    streamOf(
      { type: "response.reasoning_text.delta", delta: "why" } as { type: string },
      { type: "response.completed", response: {} } as { type: string },
    ),
  );
  assert.equal(textOf(events, "reasoning"), "why");
});

Deno.test("openAiResponses() names failures in each of their shapes", async () => {
  const cases: readonly (readonly [object & { type: string }, string, RegExp])[] = [
    [{ type: "error", ...{ code: "rate_limit_exceeded", message: "Slow down" } }, "rate", /Slow down/],
    [{ type: "error", ...{ error: { code: "server_error", message: "Oh no" } } }, "server", /Oh no/],
    [
      { type: "response.failed", ...{ response: { error: { code: "rate_limit_exceeded", message: "TPM" } } } },
      "rate",
      /TPM/,
    ],
    [{ type: "response.failed", ...{ response: { error: null } } }, "server", /The response failed/],
    [
      { type: "response.failed", ...{ response: { error: { code: "context_length_exceeded", message: "long" } } } },
      "context",
      /larger context/,
    ],
  ];
  for (const [event, kind, says] of cases) {
    const error = await failureTo("openai-responses", streamOf({ type: "response.created" }, event));
    assert.equal(error.code, kind, says.source);
    assert.match(error.message, says);
  }
});

Deno.test("openAiResponses() distinguishes a truncated reply from a filtered one", async () => {
  const last = (reason: string) =>
    streamOf({ type: "response.incomplete", ...{ response: { incomplete_details: { reason }, output: [] } } });
  assert.equal(endOf(await eventsTo("openai-responses", last("max_output_tokens"))).finish, "length");
  assert.equal((await failureTo("openai-responses", last("content_filter"))).code, "refused");
});

Deno.test("openAiResponses() announces images to Copilot", () => {
  const facts = { capabilities: UNKNOWN_MODEL, without: new Set<string>() };
  const images: readonly Image[] = [{ kind: "url", url: "https://example.com/a.jpg" }];
  const seen = request({ messages: [{ role: "user", text: "?", images }] });
  const headers = (baseUrl: string, asked = seen) => openAiResponses(baseUrl).request(asked, facts).headers;
  assert.deepEqual(headers("https://api.githubcopilot.com"), { "copilot-vision-request": "true" });
  assert.deepEqual(headers("https://api.githubcopilot.com", request()), {});
  assert.deepEqual(headers("https://api.openai.com/v1"), {});
});
