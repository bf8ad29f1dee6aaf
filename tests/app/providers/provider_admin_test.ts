import assert from "node:assert/strict";
import { join } from "node:path";
import { AppProviderAdmin } from "../../../src/app/providers/provider_admin.ts";
import { Cancelled, ConfigError, UsageError } from "../../../src/domain/errors.ts";
import { demoProvider } from "../../../src/providers/demo.ts";
import { filesProvider } from "../../../src/providers/files.ts";
import { startCopilotMock } from "../../helpers/wires/copilot_mock.ts";
import { startOpenAiMock } from "../../helpers/wires/openai_mock.ts";
import { withFolder } from "../../helpers/with_folder.ts";
import { settingsOf } from "../_settings.ts";

const ALWAYS = new AbortController().signal;
const KEY = "sk-0123456789abcdef-4711";

async function adminOf(asked: Parameters<typeof settingsOf>[0]): Promise<AppProviderAdmin> {
  return new AppProviderAdmin(await settingsOf(asked));
}

Deno.test("AppProviderAdmin.models() says of demo and files what their providers accept", async () => {
  await withFolder(async (folder) => {
    const admin = await adminOf({ env: { VIS_MODEL: folder } });
    const provider = await filesProvider(folder);
    const images = async (name: string) =>
      (await admin.models({ provider: name, signal: ALWAYS }))[0]?.models.map((model) => model.images);
    assert.deepEqual(await images("files"), [provider.capabilities("").images]);
    assert.deepEqual(await images("demo"), [demoProvider().capabilities("").images]);
  });
});

Deno.test("AppProviderAdmin.saveKey() saves a key that is used at once, and logout() removes it", async () => {
  await withFolder(async (home) => {
    const admin = await adminOf({ home });
    assert.match(
      (await admin.providers({ check: false, signal: ALWAYS })).problem,
      /^Cannot choose a model: no provider is configured; log in with vis auth login, or set a key such as/,
    );
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
        fix: "",
      },
      reach: null,
    });
    assert.equal(await admin.logout("anthropic"), true);
    assert.equal(await admin.logout("anthropic"), false);
    assert.deepEqual(await admin.keys(), []);
  });
});

Deno.test("AppProviderAdmin.saveKey() refuses an invalid key without repeating it", async () => {
  await withFolder(async (home) => {
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

Deno.test("AppProviderAdmin.keys() shows the source of each key and no part of a short one", async () => {
  await withFolder(async (home) => {
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
      ["ollama", "", ""],
      ["other", "", ""],
      ["zai", "ZAI_API_KEY", "••••"],
      ["anthropic", "auth.json", "••••4711"],
    ]);
    assert.match(keys[2]?.fix ?? "", /^set GEMINI_API_KEY or run vis auth login other$/);
    assert.equal(keys[1]?.fix, "");
    assert.doesNotMatch(JSON.stringify(keys), /0123456789|short/);
  });
});

Deno.test("AppProviderAdmin.keys() names the variable that overrides the saved token of the bot", async () => {
  await withFolder(async (home) => {
    const token = `123456:${"A".repeat(35)}`;
    const from = async (env: Record<string, string>) => (await (await adminOf({ home, env })).keys())[0]?.from;
    await (await adminOf({ home })).saveKey("telegram", token);
    assert.equal(await from({}), "auth.json");
    assert.equal(await from({ VIS_TELEGRAM_TOKEN: token }), "VIS_TELEGRAM_TOKEN");
  });
});

Deno.test("AppProviderAdmin.loginKind() recognizes a login on a page, and refuses unknown names", async () => {
  const admin = await adminOf({});
  assert.deepEqual([await admin.loginKind("github-copilot"), await admin.loginKind("zai")], ["device-login", "key"]);
  await assert.rejects(
    admin.loginKind("zay"),
    (error) => error instanceof ConfigError && /did you mean zai\?/.test(error.message),
  );
  await assert.rejects(admin.loginKind("acme"), /^ConfigError: Cannot log in to acme: .*; choose one of .*, telegram$/);
  assert.equal(admin.loginNames().includes("ollama"), false);
  assert.deepEqual(admin.loginNames().filter((name) => name.startsWith("openai")), ["openai"]);
  assert.equal(await admin.loginKind("openai-responses"), "key");
});

Deno.test("AppProviderAdmin.loginKind() recognizes the tokens that settings refer to, which no provider can test", async () => {
  const servers = { search: { command: "search", env: { KEY: "${auth:brave}" } } };
  const admin = await adminOf({ config: { extensions: { config: { "vis.mcp": { servers } } } } });
  assert.equal(await admin.loginKind("brave"), "key");
  assert.equal(await admin.tryKey("brave", KEY, ALWAYS), null);
  await assert.rejects(admin.loginKind("brav"), ConfigError);
});

Deno.test("AppProviderAdmin.deviceLogin() tests the account before it saves the login", async () => {
  await withFolder(async (home) => {
    await using mock = startCopilotMock();
    mock.interval = 0.005;
    const endpointsOf = () => ({
      deviceCode: `${mock.url}/login/device/code`,
      accessToken: `${mock.url}/login/oauth/access_token`,
      exchange: `${mock.url}/copilot_internal/v2/token`,
      api: mock.url,
    });
    const admin = new AppProviderAdmin(await settingsOf({ home }), { endpointsOf });
    const codes: string[] = [];
    const login = () =>
      admin.deviceLogin("github-copilot", {
        domain: "company.ghe.com",
        signal: ALWAYS,
        onCode: ({ userCode }) => codes.push(userCode),
      });
    mock.polls.push({ error: "authorization_pending" }, { access_token: "gho_0123456789-4711" });
    mock.exchange = { status: 403 };
    await assert.rejects(login(), { code: "auth", message: /GitHub refuses access to Copilot/ });
    assert.deepEqual(await admin.keys(), []);
    mock.exchange = { refreshIn: 1500 };
    assert.equal(await login(), join(home, "auth.json"));
    assert.deepEqual(codes, ["ABCD-1234", "ABCD-1234"]);
    const [key] = await admin.keys();
    assert.deepEqual([key?.provider, key?.shown, key?.fix], ["github-copilot", "••••4711", ""]);
    assert.match(await Deno.readTextFile(join(home, "auth.json")), /"domain": "company\.ghe\.com"/);
    assert.doesNotMatch(await Deno.readTextFile(join(home, "auth.json")), /tid=/);
  });
});

Deno.test("AppProviderAdmin shows the effect of VIS_* and of the demo", async () => {
  const env = { VIS_BASE_URL: "http://u:secret@127.0.0.1:9/v1?t=secret", VIS_API_KEY: KEY, VIS_MODEL: "m" };
  const admin = await adminOf({ env });
  const [key] = await admin.keys();
  assert.deepEqual([key?.from, key?.shown], ["VIS_API_KEY", "••••4711"]);
  const { providers: [plain] } = await admin.providers({ check: false, signal: ALWAYS });
  assert.deepEqual([plain?.name, plain?.model, plain?.baseUrl], ["127.0.0.1-9", "m", "http://127.0.0.1:9/v1"]);
  const demo = await adminOf({ config: { provider: "demo" } });
  const report = await demo.providers({ check: true, signal: ALWAYS });
  assert.deepEqual([report.problem, report.providers.map(({ name, root }) => [name, root])], ["", [["demo", true]]]);
  assert.deepEqual((await demo.models({ provider: null, signal: ALWAYS }))[0]?.models.map(({ name }) => name), [
    "scripted",
  ]);
});

Deno.test("AppProviderAdmin.providers() asks the usable providers, and reports who does not answer", async () => {
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
    assert.match(report.providers[3]?.reach?.found ?? "", /^it has no key; set ZAI_API_KEY or run vis auth login none/);
    assert.doesNotMatch(JSON.stringify(report), /secret-4712|wrong-key|0123456789/);
    await assert.rejects(admin.providers({ check: true, signal: AbortSignal.abort() }), Cancelled);
  } finally {
    await mock.close();
  }
});

Deno.test("AppProviderAdmin.models() lists the models of the service, described by data and settings", async () => {
  const mock = await startOpenAiMock({ reply: "x", models: ["claude-sonnet-5", "mine", "new"], key: KEY });
  try {
    const providers = [{
      name: "proxy",
      preset: "anthropic",
      protocol: "openai-chat",
      baseUrl: mock.baseUrl,
      models: [{ name: "mine", contextTokens: 1000 }, { name: "unlisted", contextTokens: 2000 }],
    }];
    const admin = await adminOf({ config: { providers }, env: { ANTHROPIC_API_KEY: KEY } });
    const [list] = await admin.models({ provider: null, signal: ALWAYS });
    assert.deepEqual([list?.provider, list?.source, list?.detail], ["proxy", "service", "the settings add unlisted"]);
    assert.deepEqual(list?.models.map(({ name, known, root, contextTokens }) => [name, known, root, contextTokens]), [
      ["claude-sonnet-5", true, false, 1_000_000],
      ["mine", true, true, 1000],
      ["new", false, false, null],
      ["unlisted", true, false, 2000],
    ]);
  } finally {
    await mock.close();
  }
});

Deno.test("AppProviderAdmin.models() falls back to the data, then to the settings, and gives the reason", async () => {
  const admin = await adminOf({});
  const [anthropic] = await admin.models({ provider: "anthropic", signal: ALWAYS });
  assert.equal(anthropic?.source, "data");
  assert.match(anthropic?.detail ?? "", /pi-ai.*; the service: it has no key; set ANTHROPIC_API_KEY/);
  assert.ok((anthropic?.models.length ?? 0) > 10);
  const [none] = await admin.models({ provider: "github-models", signal: ALWAYS });
  assert.deepEqual([none?.source, none?.models], ["config", []]);
  await assert.rejects(
    admin.models({ provider: null, signal: ALWAYS }),
    /^ConfigError: Cannot choose a model: no provider is.* auth login, or set a key such as ANTHROPIC_API_KEY/,
  );
  await assert.rejects(
    admin.models({ provider: "acme", signal: ALWAYS }),
    /^ConfigError: Cannot use provider acme: no provider has this.* ollama, lmstudio, vllm, demo, files/,
  );
  await assert.rejects(
    admin.loginKind("demo"),
    /^ConfigError: Cannot use provider demo as a service: .*; use it with vis run --provider demo$/,
  );
});
