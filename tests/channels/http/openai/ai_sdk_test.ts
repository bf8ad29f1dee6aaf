import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, Output, streamText, tool } from "ai";
import assert from "node:assert/strict";
import { final, replyJson } from "../../../helpers/scripted_provider.ts";
import { type Rig, startRig, TOKEN } from "../_rig.ts";
import { until } from "../../../helpers/until.ts";

function provider(rig: Rig, apiKey = TOKEN) {
  return createOpenAICompatible({
    name: "vis",
    baseURL: `${rig.url}v1`,
    apiKey,
    includeUsage: true,
    supportsStructuredOutputs: true,
  });
}

Deno.test("AI SDK: generateText returns answer, usage and the conversation, which can be continued", async () => {
  await using rig = await startRig([replyJson("const kept = 7"), final("{{kept}}"), final("again {{kept}}")]);
  const model = provider(rig)("vis");
  const done = await generateText({ model, prompt: "one", maxRetries: 0 });
  assert.deepEqual([done.text, done.finishReason], ["7", "stop"]);
  assert.ok((done.usage.inputTokens ?? 0) > 0 && (done.usage.outputTokens ?? 0) > 0);
  const conversation = done.response.headers?.["x-vis-conversation"] ?? "";
  const headers = { "x-vis-conversation": conversation };
  assert.equal((await generateText({ model, prompt: "two", headers, maxRetries: 0 })).text, "again 7");
});

Deno.test("AI SDK: streamText gives thinking and the answer piece by piece, and usage at the end", async () => {
  await using rig = await startRig([replyJson("1 + 1", { thinking: "Adding them" }), final("It is 2")]);
  const stream = streamText({ model: provider(rig)("vis"), prompt: "1+1?", maxRetries: 0 });
  let text = "", thinking = "";
  for await (const part of stream.fullStream) {
    if (part.type === "text-delta") text += part.text;
    if (part.type === "reasoning-delta") thinking += part.text;
    assert.notEqual(part.type, "error");
  }
  assert.deepEqual([text, thinking, await stream.finishReason], ["It is 2", "Adding them", "stop"]);
  assert.ok(((await stream.usage).totalTokens ?? 0) > 0);
});

Deno.test("AI SDK: an object that a schema describes", async () => {
  const answer = { answer: '{"n":4}', answerType: "text", confidence: "high" } as const;
  await using rig = await startRig([replyJson([], { final: answer })]);
  const schema = jsonSchema<{ n: number }>({
    type: "object",
    properties: { n: { type: "number" } },
    required: ["n"],
    additionalProperties: false,
  });
  const done = await generateText({
    model: provider(rig)("vis"),
    prompt: "2+2?",
    output: Output.object({ schema }),
    maxRetries: 0,
  });
  assert.deepEqual(done.output, { n: 4 });
});

Deno.test("AI SDK: tools, a wrong token and an unknown model are errors with a message", async () => {
  await using rig = await startRig([]);
  const tools = { add: tool({ description: "Adds", inputSchema: jsonSchema({ type: "object", properties: {} }) }) };
  const ask = (model: string, more = {}, key = TOKEN) =>
    generateText({ model: provider(rig, key)(model), prompt: "x", maxRetries: 0, ...more });
  await assert.rejects(ask("vis", { tools }), { statusCode: 400, message: /Cannot call tools of the client/ });
  await assert.rejects(ask("vis", {}, "wrong-token-0123456789"), { statusCode: 401 });
  await assert.rejects(ask("gpt-x"), { statusCode: 404, message: /Cannot find model gpt-x/ });
});

Deno.test("AI SDK: aborting a stream cancels its query", async () => {
  await using rig = await startRig([{ text: final("never"), delayMs: 60_000 }]);
  const controller = new AbortController();
  const stream = streamText({
    model: provider(rig)("vis"),
    prompt: "x",
    abortSignal: controller.signal,
    maxRetries: 0,
    onError: () => {},
  });
  const parts = stream.fullStream[Symbol.asyncIterator]();
  await parts.next();
  const found = async () => {
    const { items } = await (await rig.ask("/api/v1/conversations")).json();
    const [first] = items.filter(({ queries }: { queries: number }) => queries > 0);
    if (!first) return null;
    return (await (await rig.ask(`/api/v1/conversations/${first.conversationId}/queries`)).json()).items[0];
  };
  await until(async () => (await found())?.running);
  controller.abort();
  await until(async () => !(await found()).running);
  assert.equal((await found()).reason, "cancelled");
});
