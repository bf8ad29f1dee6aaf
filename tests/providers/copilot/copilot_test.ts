import assert from "node:assert/strict";
import { Cancelled } from "../../../src/domain/errors.ts";
import { CopilotProvider } from "../../../src/providers/copilot/copilot.ts";
import { createProvider } from "../../../src/providers/wire/create_provider.ts";
import { type ModelEvent, type ModelMessage, type Provider, UNKNOWN_MODEL } from "../../../src/providers/provider.ts";
import type { WireProtocol } from "../../../src/providers/provider_options.ts";
import { type CopilotMock, startCopilotMock } from "../../helpers/wires/copilot_mock.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";

const ALWAYS = new AbortController().signal;

function rig(mock: CopilotMock) {
  const clock = new FakeClock();
  const protocols: WireProtocol[] = [];
  const provider = new CopilotProvider({
    name: "github-copilot",
    defaultModel: "gpt-6-luna",
    endpoints: { exchange: `${mock.url}/copilot_internal/v2/token`, api: mock.url },
    githubToken: "gho_4711",
    capabilities: () => ({ ...UNKNOWN_MODEL, images: true }),
    usesResponses: (model) => model === "responds",
    create: (protocol, options) => {
      protocols.push(protocol);
      return createProvider(protocol, options);
    },
    clock,
  });
  return { clock, provider, protocols };
}

async function textOf(
  provider: Provider,
  { model = "gpt-6-luna", messages = [{ role: "user", text: "hi" }], signal = ALWAYS }: {
    readonly model?: string;
    readonly messages?: readonly ModelMessage[];
    readonly signal?: AbortSignal;
  } = {},
): Promise<string> {
  const events: ModelEvent[] = [];
  for await (const event of provider.stream({ model, messages, reasoning: "balanced", signal })) events.push(event);
  assert.equal(events.at(-1)?.type, "end");
  return events.map((event) => event.type === "text" ? event.delta : "").join("");
}

Deno.test("CopilotProvider() asks the host of the token, with the headers that the service wants", async () => {
  await using mock = startCopilotMock();
  const { provider } = rig(mock);
  assert.equal(await textOf(provider), "hello");
  const chat = mock.requests.at(-1);
  assert.equal(chat?.path, "/chat/completions");
  assert.equal(chat?.headers.get("authorization"), "Bearer tid=1;exp=1");
  assert.equal(chat?.headers.get("copilot-integration-id"), "vscode-chat");
  assert.match(chat?.headers.get("editor-version") ?? "", /^vscode\//);
  assert.equal(chat?.headers.get("copilot-vision-request"), null);
  assert.doesNotMatch(JSON.stringify([...chat?.headers ?? []]), /gho_4711/);
});

Deno.test("CopilotProvider() gets one fresh token when the service refuses the one it has", async () => {
  await using mock = startCopilotMock();
  const { provider } = rig(mock);
  await textOf(provider);
  mock.good.clear();
  assert.equal(await textOf(provider), "hello");
  assert.equal(mock.exchanged, 2);
  mock.good.clear();
  mock.exchange = { status: 401 };
  await assert.rejects(textOf(provider), { code: "auth", status: 401, message: /vis auth login/ });
});

Deno.test("CopilotProvider() gives up when a fresh token is refused as well", async () => {
  await using mock = startCopilotMock();
  mock.good.add = () => mock.good;
  const { provider } = rig(mock);
  await assert.rejects(textOf(provider), (error) => {
    assert.ok(error instanceof Error);
    assert.match(error.message, /401/);
    assert.doesNotMatch(error.message, /tid=/);
    return true;
  });
  assert.equal(mock.exchanged, 2);
});

Deno.test("CopilotProvider() renews the token in the middle of its work", async () => {
  await using mock = startCopilotMock();
  const { provider, clock } = rig(mock);
  await textOf(provider);
  clock.advance(1_500_000);
  await textOf(provider);
  assert.equal(mock.requests.at(-1)?.headers.get("authorization"), "Bearer tid=2;exp=1");
});

Deno.test("CopilotProvider() chooses the wire format by the model", async () => {
  await using mock = startCopilotMock();
  const { provider, protocols } = rig(mock);
  await textOf(provider);
  await assert.rejects(textOf(provider, { model: "responds" }), { name: "ProviderError" });
  assert.deepEqual(protocols, ["openai-chat", "openai-responses"]);
  assert.ok(mock.requests.some(({ path }) => path === "/responses"));
});

Deno.test("CopilotProvider() says that images come", async () => {
  await using mock = startCopilotMock();
  const { provider } = rig(mock);
  const images = [{ kind: "url", url: "https://example.org/a.png" }] as const;
  await textOf(provider, { messages: [{ role: "user", text: "what?", images }] });
  assert.equal(mock.requests.at(-1)?.headers.get("copilot-vision-request"), "true");
});

Deno.test("CopilotProvider() lists the models of the account", async () => {
  await using mock = startCopilotMock();
  assert.deepEqual(await rig(mock).provider.models({ signal: ALWAYS }), ["gpt-6-luna"]);
});

Deno.test("CopilotProvider() is cancelled before it has a token", async () => {
  await using mock = startCopilotMock();
  const { provider } = rig(mock);
  await assert.rejects(textOf(provider, { signal: AbortSignal.abort() }), Cancelled);
});
