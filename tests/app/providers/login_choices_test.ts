import assert from "node:assert/strict";
import { loginChoices } from "../../../src/app/providers/provider_admin.ts";
import { startOpenAiMock } from "../../helpers/wires/openai_mock.ts";
import { settingsOf } from "../_settings.ts";

Deno.test("loginChoices() has servers on this machine first, then services by their titles", async () => {
  const mock = await startOpenAiMock({ reply: [] });
  try {
    const settings = await settingsOf({
      config: { localServers: true, providers: [{ name: "own", baseUrl: "http://h" }] },
    });
    const addresses = [{ preset: "vllm", baseUrl: mock.baseUrl }];
    const found = await loginChoices(["own", "anthropic", "github-copilot", "telegram"], settings, { addresses });
    const { host } = new URL(mock.baseUrl);
    assert.match(found[0]?.title ?? "", new RegExp(`^vLLM at ${host}, \\d+ models?$`));
    assert.deepEqual(found.map(({ name, need }) => `${name} ${need}`), [
      "vllm optional",
      "own required",
      "anthropic required",
      "github-copilot device-login",
      "telegram required",
      "ollama optional",
    ]);
    assert.match(found.at(-1)?.start ?? "", /ollama serve/);
    assert.deepEqual(found.slice(1, 4).map(({ title }) => title), [
      "from your settings",
      "Anthropic",
      "GitHub Copilot",
    ]);
    const without = { ...settings, config: { ...settings.config, localServers: false } };
    assert.deepEqual((await loginChoices(["zai"], without, { addresses })).map(({ name }) => name), ["zai"]);
  } finally {
    await mock.close();
  }
});
