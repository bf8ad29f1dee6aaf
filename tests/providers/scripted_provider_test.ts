import assert from "node:assert/strict";
import { ProviderError } from "../../src/domain/errors.ts";
import { collect, request, textOf } from "../conformance/provider_calls.ts";
import { providerSuite } from "../conformance/provider_suite.ts";
import { replyJson, scriptedProvider } from "../helpers/scripted_provider.ts";

providerSuite({
  name: "scriptedProvider()",
  wire: null,
  start: (reply) => {
    const provider = scriptedProvider([], {
      model: "mock-1",
      otherwise: {
        text: reply.text ?? "",
        ...(reply.reasoning ? { reasoning: reply.reasoning } : {}),
        ...(reply.delayMs ? { delayMs: reply.delayMs } : {}),
        ...(reply.finish ? { finish: reply.finish } : {}),
      },
    });
    return {
      provider,
      connections: () => 0,
      asked: () => provider.requests.map(({ texts }) => texts),
      left: (count) => {
        assert.equal(provider.aborted, count);
        return Promise.resolve();
      },
      close: () => Promise.resolve(),
    };
  },
});

Deno.test("scriptedProvider() plays its queue in order and reports its end", async () => {
  const broken = new ProviderError("Cannot reach it", { code: "network", retryable: true });
  const provider = scriptedProvider(["one", (asked) => `${asked.texts.length} ${asked.context}`, broken]);
  assert.equal(textOf(await collect(provider), "text"), "one");
  assert.equal(textOf(await collect(provider), "text"), "3 Context 1");
  await assert.rejects(collect(provider), broken);
  await assert.rejects(collect(provider), /Cannot reply: request 4 came after the last scripted reply.*Context 1/s);
  assert.equal(provider.requests.length, 4);
});

Deno.test("scriptedProvider() can fail after half of a reply", async () => {
  const failAfter = new ProviderError("Cannot read the whole reply", { code: "network", retryable: true });
  const provider = scriptedProvider([{ text: "half", failAfter, chunk: 2 }]);
  const seen: string[] = [];
  await assert.rejects(collect(provider, { onEvent: ({ type }) => seen.push(type) }), failAfter);
  assert.deepEqual(seen, ["text", "text"]);
});

Deno.test("replyJson() makes a reply of the schema's shape", () => {
  assert.deepEqual(JSON.parse(replyJson("1 + 1", { thinking: "sum", final: "{{n}}" })), {
    thinking: "sum",
    code: [{ expr: "1 + 1", timeMs: 30_000 }],
    final: { answer: "{{n}}", answerType: "text", confidence: "high" },
  });
  assert.equal(request().messages.length, 3);
});
