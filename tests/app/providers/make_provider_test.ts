import assert from "node:assert/strict";
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
  assert.deepEqual(known.price, { input: 1, output: 2, cached: 1 });
  assert.deepEqual([known.images, known.contextTokens, known.nativeReasoning], [false, 1000, true]);
  assert.deepEqual(of("new"), {
    ...UNKNOWN_MODEL,
    nativeReasoning: true,
    alternatingRoles: true,
    price: { input: 1, output: 2, cached: 0.1, cacheWrite: 3 },
  });
  assert.equal(of("claude-opus-5").images, true);
  assert.deepEqual(of("never-heard-of"), UNKNOWN_MODEL);
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
      /Cannot sign in to .*: it refused the key with status 401;.* replied: Incorrect API key provided: \[hidden\]/,
    );
  } finally {
    await mock.close();
  }
});
