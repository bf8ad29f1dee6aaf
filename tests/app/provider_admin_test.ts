import assert from "node:assert/strict";
import { join } from "node:path";
import { AppProviderAdmin } from "../../src/app/provider_admin.ts";
import { Cancelled, ConfigError, UsageError } from "../../src/domain/errors.ts";
import { startOpenAiMock } from "../helpers/openai_mock.ts";
import { settingsOf } from "./_settings.ts";

const ALWAYS = new AbortController().signal;
const KEY = "sk-0123456789abcdef-4711";

async function withHome(work: (home: string) => Promise<void>): Promise<void> {
  const home = await Deno.makeTempDir({ prefix: "vis-admin-" });
  try {
    await work(home);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

async function adminOf(asked: Parameters<typeof settingsOf>[0]): Promise<AppProviderAdmin> {
  return new AppProviderAdmin(await settingsOf(asked));
}

Deno.test("AppProviderAdmin.saveKey() keeps a key that serves from then on, and logout() forgets it", async () => {
  await withHome(async (home) => {
    const admin = await adminOf({ home });
    assert.match((await admin.providers({ check: false, signal: ALWAYS })).problem, /^No provider is configured/);
    assert.equal(await admin.saveKey("anthropic", KEY), join(home, "auth.json"));
    const { providers: [provider], problem } = await (await adminOf({ home })).providers({
      check: false,
      signal: ALWAYS,
    });
    assert.equal(problem, "");
    assert.deepEqual(provider, {
      name: "anthropic",
      title: "Anthropic",
      protocol: "anthropic",
      baseUrl: "https://api.anthropic.com/v1",
      model: "claude-sonnet-5",
      root: true,
      key: {
        provider: "anthropic",
        title: "Anthropic",
        need: "required",
        from: "auth.json",
        shown: "••••4711",
        mend: "",
      },
      reach: null,
    });
    assert.equal(await admin.logout("anthropic"), true);
    assert.equal(await admin.logout("anthropic"), false);
    assert.deepEqual(await admin.keys(), []);
  });
});

Deno.test("AppProviderAdmin.saveKey() refuses what cannot be a key without repeating it", async () => {
  await withHome(async (home) => {
    const admin = await adminOf({ home });
    for (const key of ["", "abc", "two words 4711", "käy-4711", "a\nb-4711", "x".repeat(9000)]) {
      await assert.rejects(admin.saveKey("anthropic", key), (error) => {
        assert.ok(error instanceof UsageError);
        assert.doesNotMatch(error.message, /4711|xxx/);
        return true;
      });
    }
  });
});

Deno.test("AppProviderAdmin.keys() says where each key is from and shows nothing of a short one", async () => {
  await withHome(async (home) => {
    const admin = await adminOf({
      home,
      env: { ZAI_API_KEY: "short-4711", MINE: KEY },
      config: {
        providers: [
          { name: "mine", baseUrl: "http://127.0.0.1:9/v1", keyEnv: "MINE" },
          { name: "other", preset: "google" },
          { name: "ollama" },
        ],
      },
    });
    await admin.saveKey("anthropic", KEY);
    const keys = await admin.keys();
    assert.deepEqual(keys.map(({ provider, from, shown }) => [provider, from, shown]), [
      ["mine", "MINE", "••••4711"],
      ["other", "", ""],
      ["ollama", "", ""],
      ["zai", "ZAI_API_KEY", "••••"],
      ["anthropic", "auth.json", "••••4711"],
    ]);
    assert.match(keys[1]?.mend ?? "", /^set GEMINI_API_KEY or run vis auth login other$/);
    assert.equal(keys[2]?.mend, "");
    assert.doesNotMatch(JSON.stringify(keys), /0123456789|short/);
  });
});

Deno.test("AppProviderAdmin.loginKind() knows a login on a page, and refuses what is not known", async () => {
  const admin = await adminOf({});
  assert.deepEqual([await admin.loginKind("github-copilot"), await admin.loginKind("zai")], ["device-login", "key"]);
  await assert.rejects(
    admin.loginKind("zay"),
    (error) => error instanceof ConfigError && /is zai meant/.test(error.message),
  );
  assert.equal(admin.loginNames().includes("ollama"), false);
});

Deno.test("AppProviderAdmin.providers() asks those it should, and says who does not answer", async () => {
  const mock = await startOpenAiMock({ reply: "x", models: ["m1", "m2"], key: KEY });
  try {
    const url = new URL(mock.baseUrl);
    url.username = "user";
    url.password = "secret-4712";
    const providers = [
      { name: "good", baseUrl: mock.baseUrl, keyEnv: "GOOD", models: [{ name: "m1" }] },
      { name: "bad", baseUrl: mock.baseUrl, keyEnv: "BAD", models: [{ name: "m1" }] },
      { name: "none", preset: "zai" },
      { name: "login", baseUrl: url.href, models: [{ name: "m1" }] },
    ];
    const env = { GOOD: KEY, BAD: "wrong-key-4713" };
    const admin = await adminOf({ config: { providers }, env });
    const report = await admin.providers({ check: true, signal: ALWAYS });
    assert.deepEqual(report.providers.map(({ name, root, reach }) => [name, root, reach?.ok]), [
      ["good", true, true],
      ["bad", false, false],
      ["login", false, false],
      ["none", false, false],
    ]);
    assert.equal(report.providers[0]?.reach?.found, "2 models");
    assert.match(report.providers[3]?.reach?.found ?? "", /^No key: set ZAI_API_KEY/);
    assert.doesNotMatch(JSON.stringify(report), /secret-4712|wrong-key|0123456789/);
    await assert.rejects(admin.providers({ check: true, signal: AbortSignal.abort() }), Cancelled);
  } finally {
    await mock.close();
  }
});

Deno.test("AppProviderAdmin.models() lists what the service has, described by data and configuration", async () => {
  const mock = await startOpenAiMock({ reply: "x", models: ["claude-sonnet-5", "mine", "new"], key: KEY });
  try {
    const providers = [{
      name: "proxy",
      preset: "anthropic",
      protocol: "openai-chat",
      baseUrl: mock.baseUrl,
      models: [{ name: "mine", contextTokens: 1000 }],
    }];
    const admin = await adminOf({ config: { providers }, env: { ANTHROPIC_API_KEY: KEY } });
    const [list] = await admin.models({ provider: null, signal: ALWAYS });
    assert.deepEqual([list?.provider, list?.source], ["proxy", "service"]);
    assert.deepEqual(list?.models.map(({ name, known, root, contextTokens }) => [name, known, root, contextTokens]), [
      ["claude-sonnet-5", true, false, 1_000_000],
      ["mine", true, true, 1000],
      ["new", false, false, null],
    ]);
  } finally {
    await mock.close();
  }
});

Deno.test("AppProviderAdmin.models() falls back to the data, then to the configuration, and says why", async () => {
  const admin = await adminOf({});
  const [anthropic] = await admin.models({ provider: "anthropic", signal: ALWAYS });
  assert.equal(anthropic?.source, "data");
  assert.match(anthropic?.detail ?? "", /pi-ai.*; the service: No key: set ANTHROPIC_API_KEY/);
  assert.ok((anthropic?.models.length ?? 0) > 10);
  const [none] = await admin.models({ provider: "github-models", signal: ALWAYS });
  assert.deepEqual([none?.source, none?.models], ["config", []]);
  await assert.rejects(admin.models({ provider: null, signal: ALWAYS }), /^ConfigError: No provider is configured/);
  await assert.rejects(admin.models({ provider: "acme", signal: ALWAYS }), /^ConfigError: Cannot use provider: acme/);
});
