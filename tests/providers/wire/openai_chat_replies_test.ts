import assert from "node:assert/strict";
import { ProviderError } from "../../../src/domain/errors.ts";
import { collect, endOf, textOf } from "../../conformance/provider_calls.ts";
import { LONG } from "../../conformance/provider_failures.ts";
import type { MockReply } from "../../helpers/wires/wire_mock.ts";
import { eventsTo, failureTo, provide, withMock } from "../../helpers/wires/wire_rig.ts";

function streamOf(...events: readonly (object | string)[]): MockReply {
  const frames = events.map((event) => typeof event === "string" ? event : `data: ${JSON.stringify(event)}\n\n`);
  return { body: frames.join(""), headers: { "content-type": "text/event-stream" } };
}

function delta(fields: object, others: object = {}): object {
  return { choices: [{ index: 0, delta: fields, finish_reason: null, ...others }] };
}

const STOP = delta({}, { finish_reason: "stop" });
const DONE = "data: [DONE]\n\n";

async function replyTo(reply: MockReply) {
  const events = await eventsTo("openai-chat", reply);
  return { text: textOf(events, "text"), reasoning: textOf(events, "reasoning"), end: endOf(events) };
}

Deno.test("openAiChat() reads reasoning in every field that servers use, once", async () => {
  for (const field of ["reasoning_content", "reasoning", "reasoning_text"]) {
    const { reasoning } = await replyTo(streamOf(delta({ [field]: "why" }), delta({ content: "yes" }), STOP, DONE));
    assert.equal(reasoning, "why", field);
  }
  const twice = delta({
    content: "",
    reasoning: "why",
    reasoning_content: "why",
    reasoning_details: [{ text: "why" }],
  });
  assert.equal((await replyTo(streamOf(twice, STOP, DONE))).reasoning, "why");
});

Deno.test("openAiChat() leaves think tags in the text to the reader of replies", async () => {
  const { text, reasoning } = await replyTo({ text: "<think>hm</think>yes" });
  assert.deepEqual([text, reasoning], ["<think>hm</think>yes", ""]);
});

Deno.test("openAiChat() reads content in parts", async () => {
  const parts = [{ type: "thinking", thinking: [{ type: "text", text: "why" }] }, { type: "text", text: "yes" }];
  const { text, reasoning } = await replyTo(streamOf(delta({ content: parts }), STOP, DONE));
  assert.deepEqual([text, reasoning], ["yes", "why"]);
});

Deno.test("openAiChat() counts usage wherever and however the server puts it", async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 5 };
  const cases: readonly (readonly [string, readonly object[], object])[] = [
    ["in a last chunk without choices", [delta({ content: "a" }), STOP, { choices: [], usage }], {}],
    ["with the finish", [delta({ content: "a" }), { ...STOP, usage }], {}],
    ["in every chunk, growing", [{ ...delta({ content: "a" }), usage: { prompt_tokens: 1 } }, { ...STOP, usage }], {}],
    ["after nulls", [{ ...delta({ content: "a" }), usage: null }, STOP, { choices: [], usage }], {}],
    ["in the choice", [delta({ content: "a" }), delta({}, { finish_reason: "stop", usage })], {}],
    ["without choices at all", [delta({ content: "a" }), STOP, { usage }], {}],
    ["cached, OpenAI", [STOP, { usage: { ...usage, prompt_tokens_details: { cached_tokens: 8 } } }], { cached: 8 }],
    ["cached, DeepSeek", [STOP, { usage: { ...usage, prompt_cache_hit_tokens: 8 } }], { cached: 8 }],
    ["cached, Moonshot", [STOP, { usage: { ...usage, cached_tokens: 8 } }], { cached: 8 }],
    ["more cached than sent", [STOP, { usage: { ...usage, cached_tokens: 80 } }], { cached: 10 }],
    ["as text and fractions", [delta({ content: "a" }), STOP, {
      usage: { prompt_tokens: "10", completion_tokens: 4.5 },
    }], {}],
    ["written, OpenRouter", [STOP, { usage: { ...usage, prompt_tokens_details: { cache_write_tokens: 7 } } }], {
      cacheWrite: 7,
    }],
  ];
  for (const [what, events, expected] of cases) {
    const { end } = await replyTo(streamOf(...events, DONE));
    assert.deepEqual(end.usage, { input: 10, output: 5, cached: 0, reasoning: 0, calls: 1, ...expected }, what);
  }
});

Deno.test("openAiChat() accepts a reply without a finish reason if it ends with [DONE]", async () => {
  const { text, end } = await replyTo({ text: LONG, fault: "no_finish" });
  assert.deepEqual([text, end.finish], [LONG, "stop"]);
});

Deno.test("openAiChat() takes a finish reason without [DONE] for an end", async () => {
  const { text, end } = await replyTo(streamOf(delta({ content: "a" }), delta({}, { finish_reason: "length" })));
  assert.deepEqual([text, end.finish], ["a", "length"]);
});

Deno.test("openAiChat() reports an empty reply if only [DONE] arrived", async () => {
  assert.match((await failureTo("openai-chat", streamOf(DONE))).message, /the reply was empty/);
});

Deno.test("openAiChat() names errors in the middle of a stream", async () => {
  const cases: readonly (readonly [object, Partial<ProviderError>, RegExp])[] = [
    [
      { error: { code: 502, message: "Provider disconnected" }, ...delta({ content: "" }, { finish_reason: "error" }) },
      {
        code: "server",
        status: 502,
      },
      /Provider disconnected/,
    ],
    [delta({}, { error: { code: 429, message: "Slow down" } }), { code: "rate", status: 429 }, /Slow down/],
    [{ error: { message: "Rate limit", type: "rate_limit_error" } }, { code: "rate" }, /Rate limit/],
    [{ error: "out of memory" }, { code: "server", status: 500 }, /out of memory/],
    [{ error: { code: 400, message: "x", metadata: { raw: "upstream says no" } } }, { code: "server" }, /x: upstream/],
    [delta({}, { finish_reason: "error" }), { code: "server", retryable: true }, /ended with an error/],
    [{ error: { message: "too long", code: "context_length_exceeded" } }, { code: "context" }, /larger context/],
    [
      { object: "error", message: "no memory left", type: "InternalServerError", code: 503 },
      { status: 503 },
      /no memory/,
    ],
    [{ object: "error", message: "maximum context length", code: 400 }, { code: "context" }, /maximum context/],
  ];
  for (const [event, expected, says] of cases) {
    const error = await failureTo(
      "openai-chat",
      streamOf(": OPENROUTER PROCESSING\n\n", delta({ content: "ha" }), event),
    );
    assert.match(error.message, says);
    for (const [field, value] of Object.entries(expected)) {
      assert.equal(error[field === "code" ? "code" : field === "status" ? "status" : "retryable"], value, says.source);
    }
  }
});

Deno.test("openAiChat() names an error that came with a success", async () => {
  const body = JSON.stringify({ error: { message: "Slow down", code: "rate_limit_exceeded" } });
  const error = await failureTo("openai-chat", { body });
  assert.deepEqual([error.code, error.retryable, error.status], ["rate", true, 429]);
});

Deno.test("openAiChat() reads a reply of any content type by how it begins", async () => {
  const message = { role: "assistant", content: "yes" };
  const json = JSON.stringify({ choices: [{ message, finish_reason: "stop" }] });
  const { body: stream } = streamOf(delta({ content: "yes" }), STOP, DONE) as { body: string };
  const bodies = [json, `\n  ${json}`, stream, `\n: wait\n\n${stream}`, `event: x\n${stream}`, `\uFEFF${stream}`];
  for (const type of ["text/plain; charset=utf-8", "application/json", "application/octet-stream", ""]) {
    for (const body of bodies) {
      const { text, end } = await replyTo({ body, headers: { "content-type": type } });
      assert.deepEqual([text, end.finish], ["yes", "stop"], `${type}: ${body}`);
    }
  }
  const old = JSON.stringify({ object: "error", message: "Slow down", type: "TooManyRequests", code: 429 });
  for (const type of ["text/plain", "application/json"]) {
    const error = await failureTo("openai-chat", { body: old, headers: { "content-type": type } });
    assert.deepEqual([error.code, error.status], ["rate", 429], type);
  }
});

Deno.test("openAiChat() distinguishes missing credit from too many requests", async () => {
  const error = { message: "You exceeded your current quota", code: "insufficient_quota" };
  const { code, retryable, message } = await failureTo("openai-chat", { status: 429, error });
  assert.deepEqual([code, retryable], ["auth", false]);
  assert.match(message, /no credit/);
});

Deno.test("openAiChat() recognises a rate limit whose text links to a billing page", async () => {
  const message =
    "Rate limit reached for mock-1 on tokens per min. Please try again in 9s. You can increase your rate " +
    "limit by adding a payment method at https://example.com/account/billing.";
  const error = { message, type: "tokens", code: "rate_limit_exceeded" };
  const { code, retryable } = await failureTo("openai-chat", { status: 429, error });
  assert.deepEqual([code, retryable], ["rate", true]);
});

Deno.test("openAiChat() distinguishes a filter that refused the request from a wrong key", async () => {
  const refusals: readonly MockReply[] = [
    { status: 403, error: { code: 403, message: "Your chosen model requires moderation and your input was flagged" } },
    { status: 400, error: { code: "content_filter", message: "The response was filtered" } },
    { status: 400, error: { code: "data_inspection_failed", message: "Inappropriate content" } },
    streamOf({ error: { code: "content_policy_violation", message: "No" } }),
  ];
  for (const reply of refusals) {
    const { code, retryable, message } = await failureTo("openai-chat", reply);
    assert.deepEqual([code, retryable], ["refused", false], message);
    assert.match(message, /the model or a filter refused the request \(the server replied: .*\); rephrase it/);
  }
});

Deno.test("openAiChat() takes no reply for whole that its service ended", async () => {
  for (const finish of ["insufficient_system_resource", "abort", "network_error"]) {
    const { code, retryable, message } = await failureTo(
      "openai-chat",
      streamOf(delta({ content: "half" }), delta({}, { finish_reason: finish })),
    );
    assert.deepEqual([code, retryable], ["server", true], finish);
    assert.ok(message.includes(`ended with an error (${finish})`), message);
  }
  const full = streamOf(delta({ content: "half" }), delta({}, { finish_reason: "model_context_window_exceeded" }));
  assert.equal((await replyTo(full)).end.finish, "length");
});

Deno.test("openAiChat() knows a model that is not there by the words of services that answer 400", async () => {
  const errors = [
    { message: "Unknown model: mock-1", code: "unknown_model" },
    { message: "mock-1 is not a valid model ID", code: 400 },
    { message: "The requested model is not supported.", code: "model_not_supported" },
  ];
  for (const error of errors) {
    const { message, retryable } = await failureTo("openai-chat", { status: 400, error });
    assert.match(
      message,
      /^Cannot find model "mock-1" .* status 400 \(the server replied: .*\); .* \(vis models lists the models that exist\)$/,
    );
    assert.equal(retryable, false);
  }
});

Deno.test("openAiChat() takes a limit of tokens per minute for no full context", async () => {
  const error = { message: "Request too large: reduce the length of the prompt", code: "rate_limit_exceeded" };
  assert.equal((await failureTo("openai-chat", { status: 429, error })).code, "rate");
});

Deno.test("openAiChat() passes empty events over", async () => {
  const { text } = await replyTo(streamOf("data:\n\n", delta({ content: "a" }), "data: \n\n", STOP, DONE));
  assert.equal(text, "a");
});

Deno.test("openAiChat() reads no more of an endless error than it needs", async () => {
  const bytes = new TextEncoder().encode("x".repeat(10_000));
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, () => {
    const body = new ReadableStream({ pull: (controller) => controller.enqueue(bytes) });
    return new Response(body, { status: 500 });
  });
  const provider = await provide("openai-chat", { baseUrl: `http://127.0.0.1:${server.addr.port}/v1` });
  await assert.rejects(collect(provider), /status 500 \(the server replied: xxx/);
  await server.shutdown();
});

Deno.test("openAiChat() knows a full context in the words of many servers", async () => {
  const texts = [
    "This model's maximum context length is 8192 tokens",
    "the request exceeds the available context size (4096 tokens)",
    "Range of input length should be [1, 129024]",
    "Prompt exceeds max length",
    "Input is too long for requested model",
    "prompt is too long; exceeded max context length by 10 tokens",
  ];
  for (const message of texts) {
    const { code, retryable } = await failureTo("openai-chat", { status: 400, error: { message } });
    assert.deepEqual([code, retryable], ["context", false], message);
  }
  // Local servers report an overflow with a status of their own failure, or in a stream without a status.
  const overflow = {
    message: "Trying to keep the first 4531 tokens when context the overflows; context length of 4096",
  };
  for (const reply of [{ status: 500, error: overflow }, streamOf({ error: overflow })]) {
    const { code, retryable } = await failureTo("openai-chat", reply);
    assert.deepEqual([code, retryable], ["context", false]);
  }
});

Deno.test("openAiChat() explains how to fetch a model that Ollama does not have", async () => {
  const error = { message: `model "mock-1" not found, try pulling it first`, type: "api_error" };
  const { message, status } = await failureTo("openai-chat", { status: 404, error });
  assert.equal(status, 404);
  assert.match(message, /^Cannot find model "mock-1" .*; fetch it with ollama pull mock-1 \(vis models lists/);
});

Deno.test("openAiChat() waits as long as the headers of a limit request", async () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  const forms: [Record<string, string>, number | null][] = [
    [{ "x-ratelimit-reset-requests": "6m0s", "x-ratelimit-remaining-requests": "0" }, 360_000],
    [{ "x-ratelimit-reset-tokens": "250ms" }, 250],
    [{ "x-ratelimit-reset-tokens": "1.5s", "x-ratelimit-reset-requests": "1h2m3s" }, 3_723_000],
    [{
      "x-ratelimit-reset-tokens": "1s",
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-requests": "1h",
      "x-ratelimit-remaining-requests": "99",
    }, 1000],
    [{ "x-ratelimit-reset": String(now / 1000 + 30) }, 30_000],
    [{ "x-ratelimit-reset": String(now + 30_000) }, 30_000],
    [{ "x-ratelimit-reset": "12" }, 12_000],
    [{ "x-ratelimit-reset": String(now / 1000 - 30) }, 0],
    [{ "anthropic-ratelimit-input-tokens-reset": "2026-01-01T00:00:20Z" }, 20_000],
    [{ "x-ratelimit-reset-requests": "6m0s", "retry-after": "2" }, 2000],
    [{ "x-ratelimit-reset-requests": "soon" }, null],
    [{ "x-ratelimit-reset-requests": "5x3s" }, null],
  ];
  const replies = forms.map(([headers]) => ({ status: 429, headers }));
  await withMock("openai-chat", { reply: replies }, async ({ baseUrl }) => {
    const provider = await provide("openai-chat", { baseUrl, now: () => now });
    for (const [headers, wait] of forms) {
      const error = await collect(provider).then(() => null, (error: unknown) => error);
      assert.ok(error instanceof ProviderError);
      assert.equal(error.retryAfterMs, wait, JSON.stringify(headers));
    }
  });
  const busy = await failureTo("openai-chat", { status: 503, headers: { "x-ratelimit-reset-requests": "6m0s" } });
  assert.equal(busy.retryAfterMs, null);
});

Deno.test("openAiChat() waits as long as the text or the fields of an error request, whichever is longest", async () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  const hour = 3_600_000;
  const said = (message: string, others: object = {}): MockReply => ({ status: 429, error: { message, ...others } });
  const forms: readonly (readonly [MockReply, number | null])[] = [
    [said("Quota exceeded. Your quota will reset after 12h30m."), 12.5 * hour],
    [said("Your quota will reset after 12h30m15s."), 12.5 * hour + 15_000],
    [said("Rate limit reached. Please try again in 3h"), 3 * hour],
    [said("Please try again in 7m12.5s. Need more?"), 432_500],
    [said("Please try again in 250ms."), 250],
    [said("Please retry after 26 seconds."), 26_000],
    [said("Limit resets in ~2 days, 3 hours and 5 minutes"), 51 * hour + 300_000],
    [said("Too many requests, wait an hour"), hour],
    [said("Too many requests: please wait for 2 hrs before the next one"), 2 * hour],
    [said("It will be available again in 1 week"), 168 * hour],
    [said("The limit resets at 2026-01-01T10:00:00Z"), 10 * hour],
    [said("The limit resets on 2026-01-01 12:00 +02:00"), 10 * hour],
    [said("reset after: 5 h"), 5 * hour],
    [said("The usage limit has been reached", { resets_in_seconds: 7200 }), 2 * hour],
    [said("The usage limit has been reached", { resets_at: now / 1000 + 7200 }), 2 * hour],
    [said("slow down", { metadata: { headers: { "X-RateLimit-Reset": String(now + hour) } } }), hour],
    [said("slow down", { details: [{ retryDelay: "45000.5s" }] }), 45_000_500],
    [said("slow down", { details: [{ metadata: { quotaResetDelay: "10h20m0.5s" } }] }), 10 * hour + 1_200_500],
    [{ ...said("try again in 3h"), headers: { "retry-after": "5" } }, 3 * hour],
    [{ ...said("try again in 3s"), headers: { "retry-after": "259200" } }, 72 * hour],
    [said("At most 100 requests in 24h, and 5 requests after 3 minutes; retry later"), null],
    [said("Try again in a moment, or 2 minutes"), null],
    [said("slow down"), null],
  ];
  await withMock("openai-chat", { reply: forms.map(([reply]) => reply) }, async ({ baseUrl }) => {
    const provider = await provide("openai-chat", { baseUrl, now: () => now });
    for (const [reply, wait] of forms) {
      const error = await collect(provider).then(() => null, (error: unknown) => error);
      assert.ok(error instanceof ProviderError);
      assert.equal(error.retryAfterMs, wait, JSON.stringify(reply));
    }
  });
  const named: readonly (readonly [string, string])[] = [["12h30m", "12 h 30 min"], ["90s", "90 s"], ["3 days", "3 d"]];
  for (const [text, shown] of named) {
    const { message } = await failureTo("openai-chat", said(`try again in ${text}`));
    assert.ok(message.includes(`; it asks Vis to wait ${shown}`), message);
  }
});
