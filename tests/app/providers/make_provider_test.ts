import assert from "node:assert/strict";
import { endOf, request } from "../../conformance/provider_calls.ts";
import { openAiResponsesWire } from "../../helpers/wires/openai_responses_wire.ts";
import { startWireMock } from "../../helpers/wires/wire_mock.ts";
import {
  chooseProviders,
  type ResolvedProvider,
  resolveProvider,
} from "../../../src/app/providers/choose_providers.ts";
import { capabilitiesOf, makeProvider } from "../../../src/app/providers/build_router.ts";
import { Credentials } from "../../../src/providers/credentials.ts";
import { loadModelData } from "../../../src/providers/models/model_data.ts";
import { UNKNOWN_MODEL } from "../../../src/providers/provider.ts";
import { startOpenAiMock } from "../../helpers/wires/openai_mock.ts";
import { settingsOf } from "../_settings.ts";

async function resolved(config: object, name: string): Promise<ResolvedProvider> {
  const settings = await settingsOf({ config, env: { ANTHROPIC_API_KEY: "k", COPILOT_GITHUB_TOKEN: "g" } });
  return await resolveProvider(name, { settings, credentials: new Credentials(null), sole: false });
}

Deno.test("capabilitiesOf() prefers the settings to the data, and the data to the defaults of any model", async () => {
  const models = [
    { name: "claude-sonnet-5", price: { input: 1, output: 2 }, images: false, contextTokens: 1000 },
    {
      name: "new",
      reasoning: true,
      alternatingRoles: true,
      price: { input: 1, output: 2, cached: 0.1, cacheWrite: 3 },
    },
  ];
  const anthropic = await resolved({ providers: [{ name: "anthropic", models }] }, "anthropic");
  const data = await loadModelData("anthropic");
  const of = (model: string) => capabilitiesOf(model, { resolved: anthropic, data });
  const known = of("claude-sonnet-5");
  assert.deepEqual(known.price, { input: 1, output: 2, cached: 1, search: 0.01 });
  assert.deepEqual([known.images, known.contextTokens, known.nativeReasoning], [false, 1000, true]);
  assert.deepEqual(of("new"), {
    ...UNKNOWN_MODEL,
    nativeReasoning: true,
    alternatingRoles: true,
    search: true,
    price: { input: 1, output: 2, cached: 0.1, cacheWrite: 3, search: 0.01 },
  });
  assert.equal(of("claude-opus-5").images, true);
  assert.deepEqual(of("never-heard-of"), { ...UNKNOWN_MODEL, search: true });
});

Deno.test("capabilitiesOf() knows which services search the web, and the settings decide about a model", async () => {
  const of = async (name: string, entry: object = {}) => {
    const config = Object.keys(entry).length === 0 ? {} : { providers: [{ name, ...entry }] };
    const { search = false, price } = capabilitiesOf("m", { resolved: await resolved(config, name), data: null });
    return [search, price?.search];
  };
  for (const name of ["openai", "openai-responses", "anthropic", "google", "openrouter"]) {
    assert.deepEqual(await of(name), [true, undefined], name);
  }
  for (const name of ["ollama", "github-copilot", "zai"]) assert.deepEqual(await of(name), [false, undefined], name);
  const baseUrl = "https://gateway.invalid/v1";
  const price = { input: 1, output: 2 };
  assert.deepEqual(await of("anthropic", { baseUrl }), [false, undefined]);
  assert.deepEqual(await of("anthropic", { models: [{ name: "m", price }] }), [true, 0.01]);
  assert.deepEqual(await of("anthropic", { models: [{ name: "m", price, search: false }] }), [false, 0.01]);
  const models = [{ name: "m", search: true, price: { ...price, search: 0.5 } }];
  assert.deepEqual(await of("house", { baseUrl, models }), [true, 0.5]);
});

Deno.test("makeProvider() sends searches of a server with the chat format to its Responses API", async () => {
  const searched = {
    text: "Deno 2.9",
    search: { queries: ["deno"], cited: [{ url: "https://deno.com/", title: "Deno" }] },
  };
  const mock = await startWireMock(openAiResponsesWire, { reply: searched });
  try {
    const entry = { name: "house", baseUrl: mock.baseUrl, models: [{ name: "m", search: true }] };
    const { provider } = await makeProvider(await resolved({ providers: [entry] }, "house"), "m");
    const events = await Array.fromAsync(provider.stream(request({ model: "m", search: true })));
    assert.deepEqual(endOf(events).sources, [{ title: "Deno", url: "https://deno.com/" }]);
    assert.deepEqual(mock.requests.map(({ path, body }) => [path, body.tools]), [
      ["/v1/responses", [{ type: "web_search" }]],
    ]);
    await assert.rejects(Array.fromAsync(provider.stream(request({ model: "m" }))), /\/v1\/chat\/completions/);
  } finally {
    await mock.close();
  }
});

Deno.test("capabilitiesOf() gives models on this machine a price of zero", async () => {
  const ollama = await resolved({}, "ollama");
  assert.deepEqual(capabilitiesOf("m", { resolved: ollama, data: null }).price, { input: 0, output: 0, cached: 0 });
});

Deno.test("makeProvider() makes any preset without a request, and knows the described models", async () => {
  const names = ["openai", "openai-responses", "anthropic", "google", "openrouter", "zai", "alibaba", "github-models"];
  for (const name of [...names, "github-copilot", "ollama", "lmstudio", "vllm"]) {
    const { provider } = await makeProvider(await resolved({}, name), "m");
    assert.deepEqual([provider.name, provider.defaultModel], [name, "m"]);
  }
  const models = [{ name: "mine" }];
  const { knows } = await makeProvider(
    await resolved({ providers: [{ name: "anthropic", models }] }, "anthropic"),
    "m",
  );
  assert.deepEqual(["mine", "claude-opus-5", "other"].map(knows), [true, true, false]);
  const bare = await makeProvider(
    await resolved({ providers: [{ name: "x", baseUrl: "http://127.0.0.1:9/v1" }] }, "x"),
    "m",
  );
  assert.equal(bare.knows("m"), false);
});

Deno.test("makeProvider() names the variable that contained the key", async () => {
  const mock = await startOpenAiMock({ key: "the-right-key" });
  try {
    const env = { VIS_BASE_URL: mock.baseUrl, OPENAI_API_KEY: "a-wrong-key" };
    const settings = await settingsOf({ env });
    const { providers: [root] } = await chooseProviders({ settings, credentials: new Credentials(null) });
    const { provider } = await makeProvider(root, "m");
    await assert.rejects(
      provider.models({ signal: AbortSignal.timeout(5_000) }),
      /Cannot sign in to .*: it refused the key with status 401 \(the server replied: Incorrect API key provided: \[hidden\]/,
    );
  } finally {
    await mock.close();
  }
});
