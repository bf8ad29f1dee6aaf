import assert from "node:assert/strict";
import type { Image } from "../../../src/domain/images.ts";
import { type ModelMessage, type ReasoningLevel, UNKNOWN_MODEL } from "../../../src/providers/provider.ts";
import { google } from "../../../src/providers/wire/google.ts";
import { collect, endOf, request, textOf } from "../../conformance/provider_calls.ts";
import type { MockReply } from "../../helpers/wires/wire_mock.ts";
import { eventsTo, failureTo, KEY, provide, withMock } from "../../helpers/wires/wire_rig.ts";

const REASONS = { ...UNKNOWN_MODEL, nativeReasoning: true };
const NOTHING = new Set<string>();

function streamOf(...events: readonly object[]): MockReply {
  const body = events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join("");
  return { body, headers: { "content-type": "text/event-stream" } };
}

Deno.test("google() sends the system instruction apart and all else as one content", async () => {
  await withMock("google", { reply: "yes", key: KEY }, async ({ baseUrl, requests }) => {
    await collect(await provide("google", { baseUrl }));
    assert.equal(requests[0]?.path, "/v1beta/models/mock-1:streamGenerateContent?alt=sse");
    assert.equal(requests[0]?.headers.authorization, undefined);
    assert.deepEqual(requests[0]?.body, {
      systemInstruction: { parts: [{ text: "You are terse." }] },
      contents: [{ role: "user", parts: [{ text: "Hello" }, { text: "Context 1" }] }],
    });
  });
});

Deno.test("google() writes only model names into the path", () => {
  const path = (model: string) =>
    google.request(request({ model }), { capabilities: UNKNOWN_MODEL, without: NOTHING }).path;
  assert.equal(path("gemini-2.5-pro"), "/models/gemini-2.5-pro:streamGenerateContent");
  assert.equal(path("models/gemini-2.5-pro"), "/models/gemini-2.5-pro:streamGenerateContent");
  assert.equal(path("tunedModels/mine"), "/tunedModels/mine:streamGenerateContent");
  assert.equal(path("a?b#c d"), "/models/a%3Fb%23c%20d:streamGenerateContent");
});

Deno.test("google() asks models up to 2.5 for a budget and later ones for a level", () => {
  const config = (model: string, reasoning: ReasoningLevel, without: ReadonlySet<string> = NOTHING) =>
    google.request(request({ model, reasoning }), { capabilities: REASONS, without }).body.generationConfig;
  for (const model of ["gemini-2.5-pro", "gemini-2.5-flash", "models/gemini-2.5-flash-lite"]) {
    for (const [level, thinkingBudget] of [["quick", 1024], ["balanced", 8192], ["deep", 24_000]] as const) {
      assert.deepEqual(config(model, level), { thinkingConfig: { includeThoughts: true, thinkingBudget } }, model);
    }
  }
  for (const model of ["gemini-3-pro-preview", "gemini-3.8-flash", "gemini-flash-latest"]) {
    for (const [level, thinkingLevel] of [["quick", "low"], ["balanced", "medium"], ["deep", "high"]] as const) {
      assert.deepEqual(config(model, level), { thinkingConfig: { includeThoughts: true, thinkingLevel } }, model);
    }
  }
});

Deno.test("google() asks again in another way where a model refuses one", async () => {
  const cases: readonly (readonly [string, string, object | undefined])[] = [
    ["gemini-3-pro", "Thinking level MEDIUM is not supported for this model.", {
      includeThoughts: true,
      thinkingBudget: 8192,
    }],
    ["gemini-2.5-odd", "The thinking budget 8192 is invalid.", { includeThoughts: true, thinkingLevel: "medium" }],
    ["gemma-4", "Thinking is not enabled for this model", undefined],
  ];
  for (const [model, message, expected] of cases) {
    await withMock("google", { reply: [{ status: 400, error: { message } }, "yes"] }, async ({ baseUrl, requests }) => {
      const provider = await provide("google", { baseUrl, capabilities: () => REASONS });
      assert.equal(textOf(await Array.fromAsync(provider.stream(request({ model }))), "text"), "yes");
      assert.deepEqual(requests[1]?.body.generationConfig?.thinkingConfig, expected, message);
    });
  }
  const message = "Developer instruction is not enabled for models/gemma-3-27b-it";
  await withMock("google", { reply: [{ status: 400, error: { message } }, "yes"] }, async ({ baseUrl, requests }) => {
    await collect(await provide("google", { baseUrl }));
    assert.equal(requests[1]?.body.systemInstruction, undefined);
    assert.deepEqual(requests[1]?.texts, ["You are terse.", "Hello", "Context 1"]);
  });
});

Deno.test("google() sends images as data or as addresses", async () => {
  const images: readonly Image[] = [
    { kind: "bytes", mediaType: "image/png", bytes: Uint8Array.of(137, 80, 78, 71) },
    { kind: "url", url: "https://example.com/a.JPG?x=1" },
    { kind: "url", url: "https://example.com/a" },
  ];
  await withMock("google", { reply: "a cat" }, async ({ baseUrl, requests }) => {
    const provider = await provide("google", { baseUrl, capabilities: () => ({ ...UNKNOWN_MODEL, images: true }) });
    const messages: ModelMessage[] = [{ role: "user", text: "What is it?", images }];
    await Array.fromAsync(provider.stream(request({ messages })));
    assert.deepEqual(requests[0]?.body.contents[0].parts, [
      { inlineData: { mimeType: "image/png", data: "iVBORw==" } },
      { fileData: { mimeType: "image/jpeg", fileUri: "https://example.com/a.JPG?x=1" } },
      { fileData: { fileUri: "https://example.com/a" } },
      { text: "What is it?" },
    ]);
  });
});

Deno.test("google() keeps thoughts apart and counts them as output", async () => {
  const events = await eventsTo(
    "google",
    streamOf(
      { candidates: [{ content: { parts: [{ text: "hm", thought: true }, { text: "ye" }] } }] },
      { candidates: [{ content: { parts: [{ text: "s" }] } }], usageMetadata: { promptTokenCount: 9 } },
      {
        candidates: [{ finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2, thoughtsTokenCount: 30 },
        modelVersion: "gemini-x",
      },
    ),
  );
  assert.deepEqual([textOf(events, "reasoning"), textOf(events, "text")], ["hm", "yes"]);
  const { usage, model } = endOf(events);
  assert.deepEqual(usage, { input: 10, output: 32, cached: 0, reasoning: 30, calls: 1 });
  assert.equal(model, "gemini-x");
});

Deno.test("google() reads every reason to stop", async () => {
  const stop = (finishReason: string) =>
    streamOf({ candidates: [{ content: { parts: [{ text: "a" }] }, finishReason }] });
  for (const [reason, finish] of [["STOP", "stop"], ["MAX_TOKENS", "length"], ["OTHER", "other"]] as const) {
    assert.equal(endOf(await eventsTo("google", stop(reason))).finish, finish);
  }
  for (const reason of ["SAFETY", "RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII"]) {
    assert.equal((await failureTo("google", stop(reason))).code, "refused", reason);
  }
});

Deno.test("google() reports a blocked request with the reason", async () => {
  const error = await failureTo("google", streamOf({ promptFeedback: { blockReason: "SAFETY" }, usageMetadata: {} }));
  assert.deepEqual([error.code, error.retryable], ["refused", false]);
  assert.match(error.message, /blocked \(SAFETY\)/);
  const whole = await failureTo("google", { body: JSON.stringify({ promptFeedback: { blockReason: "OTHER" } }) });
  assert.match(whole.message, /blocked \(OTHER\)/);
  const unspecified = { promptFeedback: { blockReason: "BLOCK_REASON_UNSPECIFIED" } };
  const fine = streamOf({
    ...unspecified,
    candidates: [{ content: { parts: [{ text: "a" }] }, finishReason: "STOP" }],
  });
  assert.equal(textOf(await eventsTo("google", fine), "text"), "a");
});

Deno.test("google() knows a wrong key, which it calls an invalid argument", async () => {
  const details = [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" }];
  for (const error of [{ message: "Bad", details }, { message: "API key not valid. Please pass a valid API key." }]) {
    const { code, retryable, message } = await failureTo("google", { status: 400, error });
    assert.deepEqual([code, retryable], ["auth", false]);
    assert.match(message, /check the key of mocked/);
  }
});

Deno.test("google() waits as long as the body of a 429 requests", async () => {
  const details = [
    { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [] },
    { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "36.5s" },
  ];
  const message = "You exceeded your current quota, please check your plan and billing details.";
  const error = await failureTo("google", { status: 429, error: { message, status: "RESOURCE_EXHAUSTED", details } });
  assert.deepEqual([error.code, error.retryable, error.retryAfterMs], ["rate", true, 36_500]);
  const inStream = await failureTo("google", {
    text: "abc",
    fault: "error_chunk",
    error: { message: "x", code: 429, details },
  });
  assert.equal(inStream.retryAfterMs, 36_500);
});

Deno.test("google() reads an error that comes as a list", async () => {
  const body = JSON.stringify([{ error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } }]);
  const error = await failureTo("google", { status: 503, body });
  assert.match(error.message, /The model is overloaded/);
});

Deno.test("google() lists models that generate, without the name of their collection, page by page", async () => {
  const seen: string[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (asked) => {
    const page = new URL(asked.url).searchParams.get("pageToken");
    seen.push(asked.headers.get("x-goog-api-key") ?? "");
    return Response.json(
      page === "2" ? { models: [{ name: "models/c", supportedGenerationMethods: ["generateContent"] }] } : {
        models: [{ name: "models/a" }, { name: "models/b", supportedGenerationMethods: ["embedContent"] }],
        nextPageToken: "2",
      },
    );
  });
  const provider = await provide("google", { baseUrl: `http://127.0.0.1:${server.addr.port}/v1beta` });
  assert.deepEqual(await provider.models({ signal: new AbortController().signal }), ["a", "c"]);
  assert.deepEqual(seen, [KEY, KEY]);
  await server.shutdown();
});
