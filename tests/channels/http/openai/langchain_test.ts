import { ChatOpenAI } from "@langchain/openai";
import assert from "node:assert/strict";
import { final, replyJson } from "../../../helpers/scripted_provider.ts";
import { type Rig, startRig, TOKEN } from "../_rig.ts";

function model(rig: Rig, more: { readonly useResponsesApi?: boolean; readonly apiKey?: string } = {}): ChatOpenAI {
  const configuration = { baseURL: `${rig.url}v1` };
  return new ChatOpenAI({ model: "vis", apiKey: TOKEN, maxRetries: 0, configuration, ...more });
}

Deno.test("LangChain: messages are answered with usage, by both APIs, and earlier ones reach the query", async () => {
  for (const useResponsesApi of [false, true]) {
    await using rig = await startRig([replyJson("messages.map(({ content }) => content).join('|')"), final("It is 5")]);
    const done = await model(rig, { useResponsesApi }).invoke([
      ["system", "Answer in rhymes"],
      ["human", "2+2?"],
      ["ai", "4"],
      ["human", "And 2+3?"],
    ]);
    assert.equal(done.text, "It is 5");
    assert.ok(Object(done.usage_metadata).total_tokens > 0);
    const [first, second] = rig.engine.provider.requests;
    assert.match(first?.texts.join("\n") ?? "", /Answer in rhymes[\s\S]*And 2\+3\?/);
    assert.match(second?.context ?? "", /2\+2\?\|4/);
  }
});

Deno.test("LangChain: a stream has the answer and the usage, by both APIs", async () => {
  for (const useResponsesApi of [false, true]) {
    await using rig = await startRig([replyJson("1 + 1", { thinking: "Adding them" }), final("It is 2")]);
    let text = "", tokens = 0;
    for await (const chunk of await model(rig, { useResponsesApi }).stream("1+1?")) {
      text += chunk.text;
      tokens += Object(chunk.usage_metadata).total_tokens ?? 0;
    }
    assert.equal(text, "It is 2");
    assert.ok(tokens > 0);
  }
});

Deno.test("LangChain: structured output satisfies its schema", async () => {
  const answer = { answer: '{"n":4}', answerType: "text", confidence: "high" } as const;
  await using rig = await startRig([replyJson([], { final: answer })]);
  const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"], title: "sum" };
  const sum = model(rig).withStructuredOutput(schema, { method: "jsonSchema" });
  assert.deepEqual(await sum.invoke("2+2?"), { n: 4 });
});

Deno.test("LangChain: tools of the client are refused, and a wrong token is an error", async () => {
  await using rig = await startRig([]);
  const tool = { type: "function", function: { name: "add", parameters: { type: "object", properties: {} } } } as const;
  await assert.rejects(model(rig).bindTools([tool]).invoke("x"), /Cannot call tools of the client/);
  await assert.rejects(model(rig, { apiKey: "wrong-token-0123456789" }).invoke("x"), /401/);
});
