import assert from "node:assert/strict";
import { ProviderError } from "../../../../src/domain/errors.ts";
import { final, replyJson } from "../../../helpers/scripted_provider.ts";
import { withDatabase } from "../../../helpers/with_database.ts";
import { openAiClient } from "./_client.ts";
import { startRig } from "../_rig.ts";
import { until } from "../../../helpers/until.ts";

Deno.test("openai client: a response with usage and thinking, that is found again", async () => {
  await using rig = await startRig([replyJson("1 + 1", { thinking: "Adding them" }), final("It is 2")]);
  const made = await openAiClient(rig).responses.create({ model: "vis", input: "1+1?", metadata: { who: "me" } });
  assert.deepEqual([made.status, made.output_text, made.model], ["completed", "It is 2", "vis"]);
  assert.deepEqual(made.output.map(({ type }) => type), ["reasoning", "message"]);
  const [thought] = made.output;
  assert.ok(thought?.type === "reasoning");
  assert.equal(thought.summary[0]?.text, "Adding them");
  assert.ok((made.usage?.input_tokens ?? 0) > 0);
  assert.equal(made.usage?.total_tokens, (made.usage?.input_tokens ?? 0) + (made.usage?.output_tokens ?? 0));
  assert.deepEqual(made.metadata, { who: "me" });
  const again = await openAiClient(rig).responses.retrieve(made.id);
  assert.deepEqual([again.id, again.output_text, again.output], [made.id, "It is 2", made.output]);
  await assert.rejects(openAiClient(rig).responses.retrieve("resp_x"), { status: 404 });
  await assert.rejects(openAiClient(rig).responses.retrieve(made.id, { stream: true }), {
    status: 400,
    param: "stream",
  });
});

Deno.test("openai client: a retrieved response has its request, also after a restart", async () => {
  await withDatabase(async (path) => {
    const made = { id: "" };
    const asked = {
      model: "script",
      instructions: "Answer in rhymes",
      metadata: { who: "me" },
      text: { format: { type: "json_schema", name: "sum", schema: { type: "object" }, strict: true } },
    } as const;
    {
      await using rig = await startRig([replyJson([], { final: "{}" }), replyJson([], { final: "{}" })], {
        engine: { path },
      });
      const { responses } = openAiClient(rig);
      const { id: first } = await responses.create({ input: "x" });
      const created = await responses.create({ ...asked, input: "x", previous_response_id: first });
      const { created_at: at } = created; // The query may have begun a second later.
      assert.deepEqual({ ...await responses.retrieve(created.id), created_at: at }, created);
      made.id = created.id;
    }
    await using rig = await startRig([], { engine: { path } });
    const found = await openAiClient(rig).responses.retrieve(made.id);
    const { model, instructions, metadata, text: { format } = {} } = found;
    assert.deepEqual({ model, instructions, metadata, text: { format } }, asked);
    assert.match(found.previous_response_id ?? "", /^resp_/);
  });
});

Deno.test("openai client: a response continues an earlier one, or one that others continued, in a branch", async () => {
  await using rig = await startRig([
    replyJson("let kept = 7"),
    final("{{kept}}"),
    replyJson("kept = 8"),
    final("{{kept}}"),
    final("branch {{kept}}"),
  ]);
  const { responses } = openAiClient(rig);
  const one = await responses.create({ model: "vis", input: "one" });
  const two = await responses.create({ model: "vis", input: "two", previous_response_id: one.id });
  assert.deepEqual([two.output_text, two.previous_response_id], ["8", one.id]);
  assert.equal(two.conversation?.id, one.conversation?.id);
  const other = await responses.create({ model: "vis", input: "three", previous_response_id: one.id });
  assert.equal(other.output_text, "branch 7");
  assert.notEqual(other.conversation?.id, one.conversation?.id);
  await assert.rejects(
    responses.create({ model: "vis", input: "x", previous_response_id: `resp_${crypto.randomUUID()}` }),
    {
      status: 404,
    },
  );
});

Deno.test("openai client: the conversation of a response is named by its own field, by metadata and by header", async () => {
  await using rig = await startRig([
    replyJson("let kept = 7"),
    final("{{kept}}"),
    final("a {{kept}}"),
    final("b {{kept}}"),
    final("c {{kept}}"),
  ]);
  const { responses } = openAiClient(rig);
  const { conversation } = await responses.create({ model: "vis", input: "one" });
  const id = conversation?.id ?? "";
  assert.equal((await responses.create({ input: "x", conversation: id })).output_text, "a 7");
  assert.equal((await responses.create({ input: "x", metadata: { conversation: id } })).output_text, "b 7");
  const named = { headers: { "x-vis-conversation": id } };
  assert.equal((await responses.create({ input: "x", conversation: { id } }, named)).output_text, "c 7");
});

Deno.test("openai client: earlier messages, instructions, images and a schema reach the query", async () => {
  const answer = { answer: '{"n":4}', answerType: "text", confidence: "high" } as const;
  await using rig = await startRig([
    replyJson("messages.map(({ content }) => content).join('|')"),
    replyJson([], { final: answer }),
  ], {
    engine: { scripted: { capabilities: { images: true } } },
  });
  const schema = {
    type: "object",
    properties: { n: { type: "number" } },
    required: ["n"],
    additionalProperties: false,
  };
  const made = await openAiClient(rig).responses.create({
    model: "script",
    instructions: "Answer in rhymes",
    input: [
      { role: "user", content: "What is 2+2?" },
      {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "4", annotations: [] }],
        id: "msg_1",
        status: "completed",
      },
      { type: "reasoning", id: "rs_1", summary: [] },
      {
        role: "user",
        content: [
          { type: "input_text", text: "And again?" },
          { type: "input_image", detail: "auto", image_url: `data:image/png;base64,${btoa("\x89PNG\r\n\x1a\nrest")}` },
        ],
      },
    ],
    text: { format: { type: "json_schema", name: "sum", schema, strict: true } },
  });
  assert.deepEqual(JSON.parse(made.output_text), { n: 4 });
  const [first, second] = rig.engine.provider.requests;
  assert.match(first?.texts.join("\n") ?? "", /Answer in rhymes[\s\S]*And again\?[\s\S]*The variable messages holds/);
  assert.match(second?.context ?? "", /What is 2\+2\?\|4/);
  assert.ok(first?.messages.some((message) => "images" in message && (message.images?.length ?? 0) === 1));
});

Deno.test("openai client: a response streams its events in order, as the client puts them together", async () => {
  await using rig = await startRig([replyJson("1 + 1", { thinking: "Adding them" }), final("It is 2")]);
  const stream = openAiClient(rig).responses.stream({ model: "vis", input: "1+1?" });
  const seen: { readonly type: string; readonly number: number }[] = [];
  let text = "", thinking = "";
  for await (const event of stream) {
    seen.push({ type: event.type, number: event.sequence_number });
    if (event.type === "response.output_text.delta") text += event.delta;
    if (event.type === "response.reasoning_summary_text.delta") thinking += event.delta;
  }
  const whole = await stream.finalResponse();
  assert.deepEqual([text, thinking.trim(), whole.output_text, whole.status], [
    "It is 2",
    "Adding them",
    "It is 2",
    "completed",
  ]);
  assert.ok((whole.usage?.total_tokens ?? 0) > 0);
  assert.deepEqual(seen.map(({ number }) => number), seen.map((_, at) => at));
  const types = [...new Set(seen.map(({ type }) => type.replace("response.", "")))];
  assert.deepEqual(types, [
    ...["created", "in_progress", "output_item.added", "reasoning_summary_part.added", "reasoning_summary_text.delta"],
    ...["reasoning_summary_text.done", "reasoning_summary_part.done", "output_item.done", "content_part.added"],
    ...["output_text.delta", "output_text.done", "content_part.done", "completed"],
  ]);
});

Deno.test("openai client: a response that a limit ended is incomplete, and a failed one has the reason", async () => {
  const refused = new ProviderError("Cannot sign in: check the key", { code: "auth", retryable: false });
  await using rig = await startRig([replyJson("1"), final("The best so far"), refused, refused], {
    engine: { settings: { budget: 1 } },
  });
  const { responses } = openAiClient(rig);
  const made = await responses.create({ input: "x" });
  assert.deepEqual([made.status, made.incomplete_details?.reason, made.output_text], [
    "incomplete",
    "max_output_tokens",
    "The best so far",
  ]);
  await assert.rejects(responses.create({ input: "x" }), { status: 400, code: "provider" });
  const events = await Array.fromAsync(await responses.create({ input: "x", stream: true }));
  const last = events.at(-1);
  assert.ok(last?.type === "response.failed");
  assert.match(last.response.error?.message ?? "", /Cannot sign in: check the key/);
});

Deno.test("openai client: unsupported options of a response are refused in OpenAI's shape, before they are stored", async () => {
  await using rig = await startRig([]);
  const { responses } = openAiClient(rig);
  const tool = { type: "function" as const, name: "f", parameters: {}, strict: true };
  await assert.rejects(responses.create({ input: "x", tools: [tool] }), { status: 400, param: "tools" });
  await assert.rejects(responses.create({ input: "x", background: true }), { status: 400, param: "background" });
  await assert.rejects(responses.create({ input: "x", prompt: { id: "p" } }), { status: 400, param: "prompt" });
  await assert.rejects(responses.create({ input: " " }), { status: 400, param: "input" });
  await assert.rejects(responses.create({ input: [{ type: "function_call_output", call_id: "c", output: "x" }] }), {
    ...{ status: 400, param: "input.0" },
    message: /input\.0 must be a message, reasoning or a reference to an item, because Vis reads no calls of tools/,
  });
  const file = { type: "input_file" as const, file_id: "f" };
  await assert.rejects(
    responses.create({ input: [{ role: "user", content: "x" }, { role: "user", content: [file] }] }),
    {
      ...{ status: 400, param: "input.1" },
    },
  );
  await assert.rejects(responses.create({ input: "x", model: "gpt-x" }), { status: 404, param: "model" });
  assert.equal((await (await rig.ask("/api/v1/conversations")).json()).items.length, 1, "the engine's own");
});

Deno.test("openai client: leaving the stream of a response cancels its query", async () => {
  await using rig = await startRig([{ text: final("never"), delayMs: 60_000 }]);
  const { data: stream, response } = await openAiClient(rig).responses.create({ input: "x", stream: true })
    .withResponse();
  const id = response.headers.get("x-vis-conversation");
  stream.controller.abort();
  await until(async () => {
    const { items } = await (await rig.ask(`/api/v1/conversations/${id}/queries`)).json();
    return items[0]?.reason === "cancelled" && !items[0].running;
  });
});
