import { createOpenAI } from "@ai-sdk/openai";
import { generateText, type ModelMessage } from "ai";
import assert from "node:assert/strict";
import OpenAI from "openai";
import { final, replyJson } from "../../../helpers/scripted_provider.ts";
import { onCall, type Rig, startRig, TOKEN } from "../_rig.ts";
import { openAiClient } from "./_client.ts";
import { until } from "../../../helpers/until.ts";

const user = (content: string) => ({ role: "user" as const, content });
const PNG = `data:image/png;base64,${btoa("\x89PNG\r\n\x1a\nrest")}`;

async function conversations(rig: Rig): Promise<number> {
  return (await (await rig.ask("/api/v1/conversations")).json()).items.length;
}

Deno.test("AI SDK: earlier answers, which it sends as references, are in the variable messages", async () => {
  await using rig = await startRig([
    final("It is 4"),
    replyJson("messages.map(({ role, content }) => role + ':' + content).join('|')"),
    final("I see"),
  ]);
  const sent: string[] = [];
  const record: typeof fetch = (input, init) => {
    sent.push(String(init?.body));
    return fetch(input, init);
  };
  const model = createOpenAI({ baseURL: `${rig.url}v1`, apiKey: TOKEN, fetch: record })("vis");
  const messages: ModelMessage[] = [{ role: "user", content: "What is 2+2?" }];
  const first = await generateText({ model, messages, maxRetries: 0 });
  messages.push(...first.response.messages, { role: "user", content: "And again?" });
  await generateText({ model, messages, maxRetries: 0 });
  assert.match(sent[1] ?? "", /item_reference/);
  assert.match(rig.engine.provider.requests[2]?.context ?? "", /user:What is 2\+2\?\|assistant:It is 4/);
});

Deno.test("openai client: a reference to an unknown item is refused, and nothing is stored", async () => {
  await using rig = await startRig([]);
  const before = await conversations(rig);
  for (const id of ["msg_1", `msg_${crypto.randomUUID()}`, "fc_1"]) {
    const input = [{ type: "item_reference" as const, id }, user("x")];
    await assert.rejects(openAiClient(rig).responses.create({ input }), { status: 404, param: "input" });
  }
  assert.equal(await conversations(rig), before);
});

Deno.test("openai client: requests with one key run once, whichever way they are answered", async () => {
  await using rig = await startRig([final("one"), final("two"), final("three"), final("four")]);
  const { chat, responses } = openAiClient(rig);
  const body = { model: "vis", messages: [user("x")] };
  const named = (key: string) => ({ headers: { "idempotency-key": key } });
  const first = await chat.completions.create(body, named("a")).withResponse();
  const again = await chat.completions.create(body, named("a")).withResponse();
  assert.deepEqual([again.data.choices, again.data.id], [first.data.choices, first.data.id]);
  assert.equal(again.response.headers.get("x-vis-conversation"), first.response.headers.get("x-vis-conversation"));
  assert.equal((await chat.completions.create(body, named("b"))).choices[0]?.message.content, "two");
  await assert.rejects(chat.completions.create({ ...body, messages: [user("y")] }, named("a")), { status: 422 });
  const made = await responses.create({ input: "x" }, named("c"));
  assert.equal((await responses.create({ input: "x" }, named("c"))).id, made.id);
  assert.equal(made.output_text, "three");
  const streams = [responses.stream({ input: "x" }, named("d")), responses.stream({ input: "x" }, named("d"))];
  const [one, other] = await Promise.all(streams.map((stream) => stream.finalResponse()));
  assert.deepEqual([one?.output_text, other?.id], ["four", one?.id]);
});

Deno.test("openai client: a repetition of a call with a key attaches to its running query", async () => {
  const repeated = Promise.withResolvers<void>();
  await using rig = await startRig([{ text: final("It is 2"), after: repeated.promise }]);
  const patient = new OpenAI({ baseURL: `${rig.url}v1`, apiKey: TOKEN, maxRetries: 0 });
  const body = { model: "vis", messages: [user("1+1?")] };
  const headers = { "idempotency-key": "a" };
  const impatient = new AbortController();
  const lost = patient.chat.completions.create(body, { headers, signal: impatient.signal });
  await until(() => rig.engine.provider.requests.length > 0);
  impatient.abort();
  await assert.rejects(lost, OpenAI.APIUserAbortError);
  onCall(rig, "check", () => repeated.resolve());
  const whole = await patient.chat.completions.create(body, { headers });
  assert.equal(whole.choices[0]?.message.content, "It is 2");
  assert.equal(rig.engine.provider.requests.length, 1);
});

Deno.test("openai client: parameters without an effect are named, and wrong ones refused", async () => {
  await using rig = await startRig([final("one"), final("two"), final("three")]);
  const { chat, responses } = openAiClient(rig);
  const body = { model: "vis", messages: [user("x")] };
  const plain = await chat.completions.create(body).withResponse();
  assert.equal(plain.response.headers.get("x-vis-ignored"), null);
  const more = { temperature: 0.5, max_tokens: 10, stop: ["x"], logprobs: true, seed: 1, user: "me", top_p: null };
  const named = await chat.completions.create({ ...body, ...more }).withResponse();
  assert.equal(named.response.headers.get("x-vis-ignored"), "temperature, max_tokens, stop, logprobs, seed, user");
  const third = await responses.create({ input: "x", store: false, max_output_tokens: 20 }).withResponse();
  assert.equal(third.response.headers.get("x-vis-ignored"), "store, max_output_tokens");
  await assert.rejects(chat.completions.create({ ...body, temperature: 3 }), { status: 400, param: "temperature" });
  await assert.rejects(chat.completions.create({ ...body, max_tokens: 0 }), { status: 400, param: "max_tokens" });
  await assert.rejects(chat.completions.create({ ...body, model: "gpt-x" }), {
    status: 404,
    param: "model",
    code: "model_not_found",
  });
});

Deno.test("openai client: tools that may not be called, a format without a schema, and a last message of any role", async () => {
  const json = { answer: '{"n":4}', answerType: "text", confidence: "high" } as const;
  await using rig = await startRig([
    final("no tools"),
    replyJson([], { final: json }),
    replyJson("messages"),
    final("prefilled"),
    final("only a system message"),
  ]);
  const { chat } = openAiClient(rig);
  const ask = async (body: object) =>
    (await chat.completions.create({ model: "vis", messages: [user("x")], ...body })).choices[0]?.message.content;
  const tool = { type: "function" as const, function: { name: "f", parameters: {} } };
  assert.equal(await ask({ tools: [tool], tool_choice: "none" }), "no tools");
  const format = { type: "json_schema", json_schema: { name: "a" } };
  assert.deepEqual(JSON.parse(await ask({ response_format: format }) ?? ""), { n: 4 });
  assert.equal(await ask({ messages: [user("one"), { role: "assistant", content: "It i" }] }), "prefilled");
  assert.equal(await ask({ messages: [{ role: "system", content: "Say hello" }] }), "only a system message");
  const texts = rig.engine.provider.requests.map(({ texts }) => texts.join("\n"));
  assert.match(texts[3] ?? "", /assistant[^]*It i/);
  assert.match(texts[4] ?? "", /Say hello/);
});

Deno.test("openai client: images without text are a request, and earlier images and tool calls are kept or marked", async () => {
  await using rig = await startRig([replyJson("messages"), final("I see")], {
    engine: { scripted: { capabilities: { images: true } } },
  });
  const image = (url: string) => ({ type: "image_url" as const, image_url: { url } });
  const call = { id: "c1", type: "function" as const, function: { name: "add", arguments: "{}" } };
  await openAiClient(rig).chat.completions.create({
    model: "vis",
    messages: [
      { role: "user", content: [{ type: "text", text: "See " }, image("https://host/a.png"), image(PNG)] },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "c1", content: "3" },
      { role: "user", content: [image(PNG)] },
    ],
  });
  const [first, second] = rig.engine.provider.requests;
  assert.match(first?.texts.join("\n") ?? "", /See the attached images\./);
  assert.ok(first?.messages.some((message) => "images" in message && message.images?.length === 1));
  const context = second?.context ?? "";
  assert.match(context, /See \[image: https:\/\/host\/a\.png\]\[image: image\/png, \d+ characters of base64\]/);
  assert.match(context, /tool_calls[^]*add[^]*tool_call_id[^]*c1/);
});
