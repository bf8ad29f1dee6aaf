import assert from "node:assert/strict";
import OpenAI from "openai";
import { startScriptedModel } from "../../../bench/peers/scripted_model.ts";

const read = {
  type: "function" as const,
  function: {
    name: "read",
    parameters: {
      type: "object",
      properties: { path: { type: "string" }, why: { type: "string" } },
      required: ["path"],
    },
  },
};

Deno.test("the scripted model asks for one file in each round, and counts the bytes that rounds share", async () => {
  await using model = startScriptedModel({ wire: "chat", rounds: 2, folder: "/work" });
  const client = new OpenAI({ baseURL: `${model.base}/v1`, apiKey: "k", maxRetries: 0 });
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Read them" }];
  const called: string[] = [];
  for (let round = 1; round <= 2; round++) {
    const { choices: [choice] } = await client.chat.completions
      .stream({ model: "bench", messages, tools: [read] }).finalChatCompletion();
    const [call] = choice?.message.tool_calls ?? [];
    assert.ok(call?.type === "function");
    called.push(call.function.arguments);
    messages.push({ role: "assistant", content: choice?.message.content ?? null, tool_calls: [call] });
    messages.push({ role: "tool", tool_call_id: call.id, content: "text" });
  }
  assert.deepEqual(called, ['{"path":"/work/file1.txt"}', '{"path":"/work/file2.txt"}']);
  const last = await client.chat.completions.stream({ model: "bench", messages, tools: [read] }).finalContent();
  assert.match(last ?? "", /DONE/);
  const title = await client.chat.completions.stream({ model: "bench", messages: messages.slice(0, 1) }).finalContent();
  assert.equal(title, "Read files");
  assert.deepEqual(model.requests.map(({ main }) => main), [true, true, true, false]);
  const [first, second] = model.requests;
  assert.equal(first?.shared, 0);
  assert.equal(second?.shared, first?.compared, "what was sent before is sent again, unchanged");
});

Deno.test("the scripted model speaks the Responses protocol, with a command where there is no tool for reading", async () => {
  await using model = startScriptedModel({ wire: "responses", rounds: 1, folder: "/work" });
  const client = new OpenAI({ baseURL: `${model.base}/v1`, apiKey: "k", maxRetries: 0 });
  const parameters = { type: "object", properties: { cmd: { type: "string" } }, required: ["cmd"] };
  const tools = [{ type: "function" as const, name: "exec_command", parameters, strict: false }];
  const first = await client.responses.stream({ model: "bench", input: "x", tools }).finalResponse();
  const [call] = first.output;
  assert.ok(call?.type === "function_call");
  assert.deepEqual([call.name, call.arguments], ["exec_command", '{"cmd":"cat file1.txt"}']);
  const last = await client.responses.stream({ model: "bench", input: "x", tools }).finalResponse();
  assert.match(JSON.stringify(last.output), /DONE/);
});

Deno.test("the scripted model writes blocks for Vis and tool calls of Anthropic's protocol", async () => {
  await using vis = startScriptedModel({ wire: "vis", rounds: 1, folder: "/work" });
  await using anthropic = startScriptedModel({ wire: "anthropic", rounds: 1, folder: "/work" });
  const post = async (url: string, body: object) =>
    await (await fetch(url, { method: "POST", body: JSON.stringify(body) })).text();
  assert.match(await post(`${vis.base}/v1/chat/completions`, { messages: [] }), /fs\.readFile\(\\\\\\"file1\.txt/);
  const schema = { type: "object", properties: { file_path: { type: "string" } }, required: ["file_path"] };
  const body = { messages: [], tools: [{ name: "Read", input_schema: schema }] };
  const said = await post(`${anthropic.base}/v1/messages`, body);
  assert.match(said, /event: content_block_start\n.*"tool_use".*"Read"/);
  assert.match(said, /\\"file_path\\":\\"\/work\/file1\.txt\\"/);
});
