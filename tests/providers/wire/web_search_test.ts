import assert from "node:assert/strict";
import { type ModelEvent, UNKNOWN_MODEL } from "../../../src/providers/provider.ts";
import { openAiChat } from "../../../src/providers/wire/openai_chat.ts";
import type { WireProtocol } from "../../../src/providers/wire/wire.ts";
import { endOf, request, textOf } from "../../conformance/provider_calls.ts";
import type { MockReply, MockRequest } from "../../helpers/wires/wire_mock.ts";
import { PROTOCOLS, provide, withMock } from "../../helpers/wires/wire_rig.ts";

const DENO = { url: "https://deno.com/blog/v2.9", title: "Deno 2.9" };
const NEWS = { url: "https://news.invalid/deno", title: "News" };
const REPLY: MockReply = { text: "Deno 2.9 is the newest.", search: { queries: ["deno release"], cited: [DENO] } };

async function searched(protocol: WireProtocol, reply: MockReply): Promise<readonly ModelEvent[]> {
  let events: readonly ModelEvent[] = [];
  await withMock(protocol, { reply }, async ({ baseUrl }) => {
    const provider = await provide(protocol, { baseUrl });
    events = await Array.fromAsync(provider.stream(request({ search: true })));
  });
  return events;
}

async function askedFor(protocol: WireProtocol, search: boolean): Promise<MockRequest["body"]> {
  let body: MockRequest["body"];
  await withMock(protocol, { reply: REPLY }, async ({ baseUrl, requests }) => {
    const provider = await provide(protocol, { baseUrl });
    await Array.fromAsync(provider.stream(request(search ? { search } : {})));
    body = requests[0]?.body;
  });
  return body;
}

Deno.test("a call that searches offers the service's own tool, and other calls offer no tool", async () => {
  const tools: Readonly<Partial<Record<WireProtocol, readonly object[]>>> = {
    "openai-responses": [{ type: "web_search" }],
    "anthropic": [{ type: "web_search_20250305", name: "web_search", max_uses: 5 }],
    "google": [{ google_search: {} }],
  };
  for (const protocol of PROTOCOLS) {
    const plain = await askedFor(protocol, false);
    const { tools: sent, ...rest } = await askedFor(protocol, true);
    assert.deepEqual(sent, tools[protocol], protocol);
    assert.deepEqual(rest, plain, protocol);
  }
  const openRouter = openAiChat("https://openrouter.ai/api/v1");
  const { body } = openRouter.request(request({ search: true }), { capabilities: UNKNOWN_MODEL, without: new Set() });
  assert.deepEqual(body.tools, [{ type: "openrouter:web_search" }]);
});

Deno.test("a reply of a search has its text, its sources and the number of searches", async () => {
  for (const protocol of PROTOCOLS) {
    for (const fault of [{}, { fault: "not_streamed" }] as const) {
      const events = await searched(protocol, { ...REPLY, ...fault, counts: { input: 900, output: 40 } });
      const { sources, usage, toolCall } = endOf(events);
      assert.equal(textOf(events, "text"), REPLY.text, protocol);
      assert.deepEqual(sources, [DENO], protocol);
      assert.deepEqual([usage.searches, usage.output, toolCall], [1, 40, undefined], protocol);
      // Google counts the found pages separately.
      assert.equal(usage.input, protocol === "google" ? 1000 : 900, protocol);
    }
  }
});

Deno.test("a source counts once, without a title of its own it has none, and a reply has at most 50 sources", async () => {
  const many = Array.from({ length: 60 }, (_, at) => ({ url: `https://many.invalid/${at}`, title: "" }));
  for (const protocol of PROTOCOLS) {
    const { sources = [] } = endOf(
      await searched(protocol, { ...REPLY, search: { queries: ["a", "b"], cited: [DENO, DENO, ...many] } }),
    );
    assert.equal(sources.length, 50, protocol);
    assert.deepEqual(sources.slice(0, 2), [DENO, { url: "https://many.invalid/0", title: "" }], protocol);
  }
});

Deno.test("anthropic: found pages are the sources if the model cites none, and text before a search stays apart", async () => {
  const search = { queries: ["a", "b"], cited: [], found: [DENO, NEWS], before: "I will search." };
  const events = await searched("anthropic", { text: "Two pages.", search });
  assert.equal(textOf(events, "text"), "I will search.\n\nTwo pages.");
  const { sources, usage } = endOf(events);
  assert.deepEqual([sources, usage.searches], [[DENO, NEWS], 2]);
  const cited = endOf(await searched("anthropic", { text: "One.", search: { ...search, cited: [NEWS] } }));
  assert.deepEqual(cited.sources, [NEWS]);
});

Deno.test("anthropic: an error instead of found pages leaves the reply without sources and searches", async () => {
  const events = [
    { type: "message_start", message: { model: "m", usage: { input_tokens: 9, output_tokens: 1 } } },
    {
      type: "content_block_start",
      index: 0,
      content_block: { type: "server_tool_use", id: "srvtoolu_0", name: "web_search", input: {} },
    },
    {
      type: "content_block_start",
      index: 1,
      content_block: {
        type: "web_search_tool_result",
        tool_use_id: "srvtoolu_0",
        content: { type: "web_search_tool_result_error", error_code: "unavailable" },
      },
    },
    { type: "content_block_start", index: 2, content_block: { type: "text", text: "The search is unavailable." } },
    {
      type: "message_delta",
      delta: { stop_reason: "end_turn" },
      usage: { output_tokens: 7, server_tool_use: { web_search_requests: 0 } },
    },
    { type: "message_stop" },
  ];
  const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  const got = await searched("anthropic", { body, headers: { "content-type": "text/event-stream" } });
  assert.equal(textOf(got, "text"), "The search is unavailable.");
  assert.deepEqual([endOf(got).sources, endOf(got).usage.searches], [undefined, undefined]);
});

Deno.test("openai-responses: searches count even if the stream breaks, and opened pages do not count", async () => {
  let searches: number | undefined;
  const reply: MockReply = { ...REPLY, fault: "ends_early", chunk: 1 };
  await withMock("openai-responses", { reply }, async ({ baseUrl }) => {
    const provider = await provide("openai-responses", { baseUrl });
    const onUsage = (usage: { readonly searches?: number | undefined } | null) => searches = usage?.searches;
    await assert.rejects(Array.fromAsync(provider.stream(request({ search: true, onUsage }))), /ended too early/);
  });
  assert.equal(searches, 1);
});

Deno.test("a service that refuses its search gives its reason", async () => {
  for (const protocol of PROTOCOLS) {
    const reply = { status: 400, error: { message: "Web search is not enabled for this organization." } };
    await assert.rejects(
      searched(protocol, reply),
      /refused the model call with status 400 \(the server replied: Web search is not enabled for this organization\)$/,
    );
  }
});
