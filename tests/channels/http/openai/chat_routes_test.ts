import assert from "node:assert/strict";
import OpenAI from "openai";
import { ProviderError } from "../../../../src/domain/errors.ts";
import { defineExtension, fn, z } from "../../../../src/extension/mod.ts";
import { final, replyJson } from "../../../helpers/scripted_provider.ts";
import { openAiClient } from "./_client.ts";
import { startRig } from "../_rig.ts";
import { until } from "../../../helpers/until.ts";

const user = (content: string) => ({ role: "user" as const, content });

Deno.test("openai client: models are listed and found", async () => {
  await using rig = await startRig([]);
  const ids = [];
  for await (const { id } of openAiClient(rig).models.list()) ids.push(id);
  assert.deepEqual(ids, ["vis", "script"]);
  assert.equal((await openAiClient(rig).models.retrieve("script")).owned_by, "scripted");
  await assert.rejects(openAiClient(rig).models.retrieve("gpt-x"), { status: 404 });
});

Deno.test("openai client: a completion with usage, and its conversation continues by header and by metadata", async () => {
  await using rig = await startRig([
    replyJson("const kept = 7"),
    final("{{kept}}"),
    final("two {{kept}}"),
    final("three"),
  ]);
  const { data, response } = await openAiClient(rig).chat.completions.create({ model: "vis", messages: [user("one")] })
    .withResponse();
  assert.equal(data.choices[0]?.message.content, "7");
  assert.equal(data.choices[0]?.finish_reason, "stop");
  assert.ok((data.usage?.prompt_tokens ?? 0) > 0);
  assert.equal(data.usage?.total_tokens, (data.usage?.prompt_tokens ?? 0) + (data.usage?.completion_tokens ?? 0));
  const conversation = response.headers.get("x-vis-conversation") ?? "";
  const more = { model: "vis", messages: [user("one"), { role: "assistant" as const, content: "7" }, user("two")] };
  const second = await openAiClient(rig).chat.completions.create(more, {
    headers: { "x-vis-conversation": conversation },
  });
  assert.equal(second.choices[0]?.message.content, "two 7");
  const third = await openAiClient(rig).chat.completions.create({ ...more, metadata: { conversation } });
  assert.equal(third.choices[0]?.message.content, "three");
  const asked = rig.engine.provider.requests[2]?.texts.join("\n") ?? "";
  assert.ok(!asked.includes("variable messages"), "what the conversation knows is not bound again");
});

Deno.test("openai client: completions and responses say in `work` what their query did, streamed and read again too", async () => {
  const shell = defineExtension({
    namespace: "test.shell",
    alias: { ns: "test.shell", alias: "shell" },
    doc: "Commands.",
    version: "1.0.0",
    symbols: [
      fn("run", (_env, _command: string) => ({ code: 0 }), {
        doc: "Runs.",
        args: z.tuple([z.string()]),
        returns: "{code}",
        action: { doing: "running", done: "ran", things: "commands" },
        outcome: ({ code }) => ({ text: "3 passed", exitCode: code }),
      }),
    ],
  });
  const replies = [replyJson(`await shell.run("npm test")`), final("It works")];
  await using rig = await startRig([...replies, ...replies, ...replies], { engine: { extensions: [shell] } });
  const text = "ran npm test (3 passed)";
  const textOf = (from: object): unknown => Object.assign({ text: "" }, Reflect.get(from, "work")).text;
  const client = openAiClient(rig);
  assert.equal(textOf(await client.chat.completions.create({ model: "vis", messages: [user("Test")] })), text);
  const told: unknown[] = [];
  for await (
    const chunk of await client.chat.completions.create({ model: "vis", messages: [user("Test")], stream: true })
  ) {
    told.push(textOf(chunk));
  }
  assert.deepEqual(told.filter((one) => one !== ""), [text]);
  assert.equal(told.at(-1), text);
  const response = await client.responses.create({ model: "vis", input: "Test" });
  assert.equal(textOf(response), text);
  assert.equal(textOf(await client.responses.retrieve(response.id)), text);
});

Deno.test("openai client: usage marks an estimated part", async () => {
  const counted = { input: 10, output: 2 };
  await using rig = await startRig([
    { text: final("one"), usage: { ...counted, estimated: 1 } },
    { text: final("two"), usage: counted },
    { text: final("three"), usage: { ...counted, estimated: 1 } },
  ]);
  const ask = async () =>
    (await openAiClient(rig).chat.completions.create({ model: "vis", messages: [user("ask")] })).usage;
  assert.equal(Reflect.get(await ask() ?? {}, "estimated"), true);
  assert.equal("estimated" in (await ask() ?? {}), false);
  const { usage } = await openAiClient(rig).responses.create({ model: "vis", input: "ask" });
  assert.equal(Reflect.get(usage ?? {}, "estimated"), true);
});

Deno.test("openai client: without a conversation the earlier messages are the variable messages", async () => {
  await using rig = await startRig([
    replyJson("messages.map(({ role, content }) => role + ':' + content).join('|')", {}),
    final("I see"),
  ]);
  const messages = [
    { role: "system" as const, content: "Answer in rhymes" },
    user("What is 2+2?"),
    { role: "assistant" as const, content: "4" },
    { role: "user" as const, content: [{ type: "text" as const, text: "And 3+3?" }] },
  ];
  await openAiClient(rig).chat.completions.create({ model: "script", messages });
  const [first, second] = rig.engine.provider.requests;
  assert.match(first?.texts.join("\n") ?? "", /Answer in rhymes[\s\S]*And 3\+3\?[\s\S]*The variable messages holds/);
  assert.match(second?.context ?? "", /user:What is 2\+2\?\|assistant:4/);
});

Deno.test("openai client: a stream gives thinking, the answer and usage", async () => {
  await using rig = await startRig([replyJson("1 + 1", { thinking: "Adding them" }), final("It is 2")]);
  const stream = await openAiClient(rig).chat.completions.create({
    model: "vis",
    messages: [user("1+1?")],
    stream: true,
    stream_options: { include_usage: true },
  });
  let answer = "", thinking = "", finish: string | null = null, tokens = 0;
  const ids = new Set<string>();
  for await (const chunk of stream) {
    const [choice] = chunk.choices;
    ids.add(chunk.id);
    answer += choice?.delta.content ?? "";
    if (choice && "reasoning_content" in choice.delta) thinking += String(choice.delta.reasoning_content);
    finish = choice?.finish_reason ?? finish;
    tokens = chunk.usage?.total_tokens ?? tokens;
  }
  assert.deepEqual([answer, thinking, finish, ids.size], ["It is 2", "Adding them", "stop", 1]);
  assert.ok(tokens > 0);
});

Deno.test("openai client: leaving a stream cancels the query", async () => {
  await using rig = await startRig([{ text: final("never"), delayMs: 60_000 }]);
  const { data: stream, response } = await openAiClient(rig).chat.completions.create({
    model: "vis",
    messages: [user("x")],
    stream: true,
  }).withResponse();
  const id = response.headers.get("x-vis-conversation");
  stream.controller.abort();
  await until(async () => {
    const { items } = await (await rig.ask(`/api/v1/conversations/${id}/queries`)).json();
    return items[0]?.reason === "cancelled" && !items[0].running;
  });
});

Deno.test("openai client: a schema is kept to", async () => {
  await using rig = await startRig([
    replyJson([], { final: { answer: '{"n":4}', answerType: "text", confidence: "high" } }),
  ]);
  const schema = {
    type: "object",
    properties: { n: { type: "number" } },
    required: ["n"],
    additionalProperties: false,
  };
  const done = await openAiClient(rig).chat.completions.create({
    model: "vis",
    messages: [user("2+2?")],
    response_format: { type: "json_schema", json_schema: { name: "sum", schema, strict: true } },
  });
  assert.deepEqual(JSON.parse(done.choices[0]?.message.content ?? ""), { n: 4 });
});

Deno.test("openai client: errors come in OpenAI's shape", async () => {
  const refused = new ProviderError("Cannot sign in: check the key", { code: "auth", retryable: false });
  await using rig = await startRig([refused, refused]);
  const ask = (body: object, apiKey?: string) =>
    openAiClient(rig, apiKey).chat.completions.create({ model: "vis", messages: [user("x")], ...body });
  const tool = { type: "function" as const, function: { name: "f", parameters: {} } };
  await assert.rejects(ask({ tools: [tool] }), (error) => {
    assert.ok(error instanceof OpenAI.BadRequestError);
    assert.match(error.message, /Cannot call tools of the client/);
    assert.deepEqual([error.param, error.type, error.code], ["tools", "invalid_request_error", "bad_request"]);
    return true;
  });
  await assert.rejects(ask({ n: 2 }), { status: 400, param: "n" });
  const spoken = { modalities: ["text", "audio"] };
  await assert.rejects(ask(spoken), {
    status: 400,
    message: /modalities\.1 must be "text", because every answer is text/,
  });
  await assert.rejects(openAiClient(rig).responses.create({ input: "x", ...spoken }), { status: 400 });
  await assert.rejects(ask({ messages: [] }), { status: 400, param: "messages" });
  await assert.rejects(ask({ messages: [{ role: "assistant", content: "" }] }), { status: 400, param: "messages" });
  const sound = { type: "input_audio", input_audio: { data: "", format: "wav" } };
  await assert.rejects(ask({ messages: [user("x"), { role: "user", content: [sound] }] }), {
    ...{ status: 400, param: "messages.1.content.0" },
    message: /messages\.1\.content\.0 must be a text, an image or a refusal/,
  });
  await assert.rejects(ask({ model: "gpt-x" }), { status: 404 });
  await assert.rejects(ask({ metadata: { conversation: "01234567-none" } }), { status: 404 });
  await assert.rejects(ask({}, "wrong-token-0123456789"), OpenAI.AuthenticationError);
  await assert.rejects(ask({}), { status: 400, type: "invalid_request_error", code: "provider" });
  await assert.rejects(async () => {
    for await (
      const _ of await openAiClient(rig).chat.completions.create({ model: "vis", messages: [user("x")], stream: true })
    );
  }, /Cannot sign in: check the key/);
});
