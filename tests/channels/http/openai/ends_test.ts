import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, jsonSchema, Output } from "ai";
import assert from "node:assert/strict";
import OpenAI from "openai";
import { type Rig, startRig, TOKEN } from "../_rig.ts";
import { openAiFailure } from "../../../../src/channels/http/openai/ask.ts";
import { ProviderError } from "../../../../src/domain/errors.ts";
import { hasAnswer, QUERY_REASONS } from "../../../../src/domain/query/outcomes.ts";
import { final, replyJson, type ScriptedReply } from "../../../helpers/scripted_provider.ts";
import { until } from "../../../helpers/until.ts";
import { openAiClient } from "./_client.ts";

const NUMBER = { type: "object", properties: { n: { type: "number" } }, required: ["n"], additionalProperties: false };

interface Lasting {
  readonly otherwise: ScriptedReply;
  readonly code: string;
  readonly calls: number;
  readonly schema?: true;
}

const refused = new ProviderError("Cannot use the request: it was refused", { code: "refused", retryable: false });
const noKey = new ProviderError("Cannot sign in: check the key", { code: "auth", retryable: false, status: 401 });

/** A repetition would not change these ends. */
const LASTING: readonly Lasting[] = [
  { otherwise: replyJson([], { final: "no number" }), code: "answer_schema", calls: 3, schema: true },
  { otherwise: refused, code: "provider", calls: 3 },
  { otherwise: noKey, code: "provider", calls: 1 },
  { otherwise: "", code: "unusable_replies", calls: 3 },
];

async function withRig({ otherwise }: Pick<Lasting, "otherwise">, work: (rig: Rig) => Promise<void>): Promise<void> {
  await using rig = await startRig([], { engine: { scripted: { otherwise }, settings: { budget: 2 } } });
  await work(rig);
}

Deno.test("AI SDK and LangChain, with their own retries, run a query once that ends without an answer", async () => {
  for (const end of LASTING) {
    const { code, calls, schema } = end;
    await withRig(end, async (rig) => {
      const vis = createOpenAICompatible({
        ...{ name: "vis", baseURL: `${rig.url}v1`, apiKey: TOKEN },
        supportsStructuredOutputs: true,
      });
      const output = schema ? { output: Output.object({ schema: jsonSchema(NUMBER as object) }) } : {};
      await assert.rejects(generateText({ model: vis("vis"), prompt: "x", ...output }), { statusCode: 400 }, code);
      assert.equal(rig.engine.provider.requests.length, calls, `AI SDK, ${code}`);
    });
    await withRig(end, async (rig) => {
      const model = new ChatOpenAI({ model: "vis", apiKey: TOKEN, configuration: { baseURL: `${rig.url}v1` } });
      const asking = schema
        ? model.withStructuredOutput({ ...NUMBER, title: "n" }, { method: "jsonSchema" }).invoke("x")
        : model.invoke("x");
      await assert.rejects(asking, (error) => {
        assert.equal(Object(error).status, 400, String(error));
        return true;
      });
      assert.equal(rig.engine.provider.requests.length, calls, `LangChain, ${code}`);
    });
    await withRig(end, async (rig) => {
      const client = new OpenAI({ baseURL: `${rig.url}v1`, apiKey: TOKEN });
      const format = { type: "json_schema" as const, json_schema: { name: "n", schema: NUMBER } };
      await assert.rejects(
        client.chat.completions.create({
          ...{ model: "vis", messages: [{ role: "user", content: "x" }] },
          ...(schema ? { response_format: format } : {}),
        }),
        { status: 400, code },
      );
      assert.equal(rig.engine.provider.requests.length, calls, `openai, ${code}`);
    });
  }
});

Deno.test("openai client: the error of a query names the conversation, in which a message continues with its variables", async () => {
  const otherwise: ScriptedReply = ({ texts }) =>
    texts.some((text) => text.includes("go on")) ? final("{{kept}}") : replyJson("const kept = 7");
  await using rig = await startRig([], { engine: { scripted: { otherwise }, settings: { budget: 1, ceiling: 1 } } });
  const { chat } = openAiClient(rig);
  const failed: unknown = await chat.completions.create(BODY).catch((error: unknown) => error);
  assert.ok(failed instanceof OpenAI.APIError);
  assert.equal(failed.code, "max_iterations");
  const headers = { "x-vis-conversation": failed.headers?.get("x-vis-conversation") ?? "" };
  const done = await chat.completions.create({ ...BODY, messages: [{ role: "user", content: "go on" }] }, { headers });
  assert.equal(done.choices[0]?.message.content, "7");
});

Deno.test("openai client: an end whose cause may pass is 502, again for the key that it was stored under", async () => {
  const away = new ProviderError("Cannot reach it", { code: "network", retryable: false });
  await withRig({ otherwise: away }, async (rig) => {
    const headers = { "Idempotency-Key": "one" };
    const ask = () => openAiClient(rig).chat.completions.create(BODY, { headers });
    await assert.rejects(ask(), { status: 502, type: "server_error" });
    await assert.rejects(ask(), { status: 502, type: "server_error" });
    assert.equal(rig.engine.provider.requests.length, 1);
  });
});

const BODY = { model: "vis", messages: [{ role: "user" as const, content: "x" }] };

Deno.test("openAiFailure() has a status for every end, 5xx only where a repetition may help", () => {
  const statuses = QUERY_REASONS.map((reason) => {
    const failure = openAiFailure({ reason, answer: "why", notes: [], noAnswer: true });
    return `${reason} ${failure?.status}`;
  });
  assert.deepEqual(statuses, [
    "answered 400",
    "max_iterations 400",
    "error_budget 400",
    "answer_schema 400",
    "unusable_replies 400",
    "unsupported_answer 400",
    "limit_cost 400",
    "limit_tokens 400",
    "limit_time 400",
    "provider 400",
    "configuration 503",
    "cancelled 400",
    "process_lost 503",
    "unstored 503",
    "defect 500",
    "forked 400",
  ]);
  const lost = { reason: "cancelled", answer: "why", notes: [] } as const;
  assert.equal(openAiFailure({ ...lost, temporary: true })?.status, 503);
  assert.equal(openAiFailure({ ...lost, reason: "process_lost", temporary: true })?.status, 503);
  assert.equal(openAiFailure({ reason: "provider", answer: "why", notes: [], temporary: true })?.status, 502);
  for (const reason of ["max_iterations", "limit_cost", "answered"] as const) {
    assert.ok(hasAnswer({ reason }));
    assert.equal(openAiFailure({ reason, answer: "the best", notes: [] }), null);
  }
});

Deno.test("openai client: a stream gives the reason for a missing answer with the same code", async () => {
  await withRig({ otherwise: refused }, async (rig) => {
    const stream = await openAiClient(rig).chat.completions.create({ ...BODY, stream: true });
    await assert.rejects(Array.fromAsync(stream), { code: "provider", message: /it was refused/ });
  });
});

Deno.test("openai client: a shutdown ends a stream and a plain call with the same code", async () => {
  const endless = { text: final("never"), delayMs: 60_000 };
  const rig = await startRig([endless, endless], { limits: { shutdownMs: 20 }, engine: { path: ":memory:" } });
  const { completions } = openAiClient(rig).chat;
  const ends = [
    completions.create({ ...BODY, stream: true }).then(Array.fromAsync),
    completions.create(BODY),
  ].map((end) => end.then(() => null, ({ code }) => code));
  await until(() => rig.engine.provider.requests.length === 2);
  await rig.close();
  assert.deepEqual(await Promise.all(ends), ["unavailable", "unavailable"]);
});

Deno.test("a result marks a cause that may pass", async () => {
  const away = new ProviderError("Cannot reach it", { code: "network", retryable: false });
  await using rig = await startRig([away, noKey, final("x")]);
  const at = `/api/v1/conversations/${await rig.conversation()}/messages`;
  const ask = async () => await (await rig.post(at, { request: "a" })).json();
  const results = [await ask(), await ask()];
  assert.deepEqual(results.map(({ reason, temporary }) => [reason, temporary]), [
    ["provider", true],
    ["provider", undefined],
  ]);
});
