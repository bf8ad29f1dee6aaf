import assert from "node:assert/strict";
import { buildRouter, unpricedRoot } from "../../../src/app/providers/build_router.ts";
import { DEFAULT_CONFIG } from "../../../src/config/defaults.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { ConfigError } from "../../../src/domain/errors.ts";
import type { Router } from "../../../src/providers/router/router.ts";
import { startOpenAiMock } from "../../helpers/wires/openai_mock.ts";
import { settingsOf } from "../_settings.ts";

async function routerOf(
  env: Readonly<Record<string, string>>,
  { set = {}, provider }: { readonly set?: Readonly<Record<string, unknown>>; readonly provider?: string } = {},
): Promise<Router> {
  const run = { layer: "run", values: set, where: () => "--set" } as const;
  const loaded = await loadConfig({ file: null, env, flags: { set: run, provider } });
  return await buildRouter({
    ...loaded,
    home: null,
    database: ":memory:",
    workspace: "/w",
    readFolders: [],
    folderNotes: [],
  }, { addresses: [] });
}

Deno.test("buildRouter() names the missing settings if there are none", async () => {
  await assert.rejects(routerOf({}), (error) => {
    assert.ok(error instanceof ConfigError);
    for (const name of ["VIS_BASE_URL", "VIS_API_KEY", "VIS_MODEL", "vis demo"]) {
      assert.ok(error.message.includes(name));
    }
    return true;
  });
  await assert.rejects(
    routerOf({ VIS_API_KEY: "k", VIS_BASE_URL: "http://127.0.0.1:9/v1" }),
    /^ConfigError: Cannot choose a model: no model is set; .*\(vis models lists the models\)$/,
  );
  await assert.rejects(
    routerOf({ VIS_PROVIDER: "acme" }),
    /^ConfigError: Cannot use provider acme: no provider has this name; choose one of openai,/,
  );
});

Deno.test("buildRouter() names the setting of an address that refuses connections", async () => {
  const port = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const baseUrl = `http://127.0.0.1:${port.addr.port}/v1`;
  port.close();
  const cases = [
    [{ set: { baseUrl } }, {}, "the setting baseUrl"],
    [{ set: { baseUrl }, provider: "openai" }, {}, "the setting baseUrl"],
    [{}, { VIS_BASE_URL: baseUrl }, "VIS_BASE_URL"],
  ] as const;
  for (const [flags, env, name] of cases) {
    const router = await routerOf({ VIS_MODEL: "m", VIS_API_KEY: "k", ...env }, flags);
    await assert.rejects(
      router.current().provider.models({ signal: new AbortController().signal }),
      new RegExp(`refused; .*check ${name}`),
    );
  }
});

Deno.test("a model that a server does not know is named without a variable that is not set", async () => {
  const { promise: at, resolve } = Promise.withResolvers<number>();
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: ({ port }) => resolve(port) },
    () => new Response("{}", { status: 404 }),
  );
  const router = await routerOf({ VIS_BASE_URL: `http://127.0.0.1:${await at}/v1` }, { set: { model: "m" } });
  const asked = router.ask({ messages: [{ role: "user", text: "a" }], reasoning: "balanced" }, {
    signal: new AbortController().signal,
  });
  await assert.rejects(asked, /check the model \(vis models\) and VIS_BASE_URL/);
  await server.shutdown();
});

Deno.test("buildRouter() accepts a base URL or a key for an OpenAI-compatible server", async () => {
  for (const env of [{ VIS_BASE_URL: "http://127.0.0.1:1/v1" }, { VIS_API_KEY: "k" }, { OPENAI_API_KEY: "k" }]) {
    const { provider, model } = (await routerOf({ ...env, VIS_MODEL: "m" })).current();
    const name = "VIS_BASE_URL" in env ? "127.0.0.1-1" : "openai";
    assert.deepEqual([provider.name, model], [name, "m"]);
  }
});

Deno.test("buildRouter() plays the demo without a key, but only if it is named", async () => {
  const { provider, model } = (await routerOf({ VIS_PROVIDER: "demo" })).current();
  assert.deepEqual([provider.name, model], ["demo", provider.defaultModel]);
});

Deno.test("unpricedRoot() names the limit, and advises to remove only a limit whose removal helps", async () => {
  const router = await routerOf({ VIS_BASE_URL: "http://127.0.0.1:9/v1", VIS_MODEL: "large" });
  const limits = (costUsd: number | null, costUsdPerDay: number | null) => ({
    config: {
      ...DEFAULT_CONFIG,
      budget: { ...DEFAULT_CONFIG.budget, costUsd },
      server: { ...DEFAULT_CONFIG.server, quota: { ...DEFAULT_CONFIG.server.quota, costUsdPerDay } },
    },
  });
  const set = "Set the price of large in providers[].models of config.jsonc";
  const serves = { serves: true };
  assert.equal(unpricedRoot(router, limits(null, null), serves), null);
  assert.equal(unpricedRoot(router, limits(null, 5)), null);
  assert.deepEqual(unpricedRoot(router, limits(null, 5), serves), {
    found: "no price is known for large, so Vis refuses its requests because of server.quota.costUsdPerDay ($5)",
    fix: `${set}, or remove server.quota.costUsdPerDay`,
  });
  const locked = { writable: false };
  assert.deepEqual(unpricedRoot(router, { ...limits(null, 20), locked }, serves), {
    found:
      "no price is known for large, so Vis refuses its requests because of the locked profile's limit of 20 US dollars a day",
    fix: set,
  });
  assert.deepEqual(unpricedRoot(router, { ...limits(1, 20), locked }, serves), {
    found: "no price is known for large, so Vis refuses its requests because of budget.costUsd ($1)",
    fix: set,
  });
});

function askOf(router: Router, rest: object = {}) {
  const signal = new AbortController().signal;
  return router.ask({ messages: [{ role: "user", text: "hi" }], reasoning: "balanced", ...rest }, { signal });
}

Deno.test("buildRouter() orders routes as configured, the root first, and falls back along them", async () => {
  const first = await startOpenAiMock({ key: "key-of-first", reply: { text: "never", status: 401 } });
  const second = await startOpenAiMock({ key: "key-of-second", reply: "served" });
  try {
    const config = {
      providers: [
        { name: "a", baseUrl: first.baseUrl, keyEnv: "A_KEY", models: [{ name: "a1" }, { name: "a2", speed: 3 }] },
        {
          name: "b",
          baseUrl: second.baseUrl,
          keyEnv: "B_KEY",
          models: [{ name: "b1", price: { input: 1, output: 1 } }],
        },
      ],
    };
    const env = { A_KEY: "key-of-first", B_KEY: "key-of-second" };
    const router = await buildRouter(await settingsOf({ config, env }));
    assert.deepEqual(router.routes.map(({ provider, model }) => `${provider.name}/${model}`), ["a/a1", "a/a2", "b/b1"]);
    assert.deepEqual(router.routes.map(({ speed }) => speed), [undefined, 3, undefined]);
    const reply = await askOf(router);
    assert.deepEqual([reply.text, reply.provider], ["served", "b"]);
    assert.ok(reply.costUsd !== null && reply.costUsd > 0);
    assert.deepEqual(reply.attempts.map(({ provider, ok }) => [provider, ok]), [["a", false], ["a", false], [
      "b",
      true,
    ]]);
    assert.doesNotMatch(JSON.stringify(reply), /key-of/);
    const named = await buildRouter(await settingsOf({ config: { ...config, model: "b/b1" }, env }));
    assert.equal(named.current().provider.name, "b");
    assert.equal(named.routes.length, 3);
  } finally {
    await Promise.all([first.close(), second.close()]);
  }
});

Deno.test("buildRouter() keeps the configured rate", async () => {
  const mock = await startOpenAiMock({ reply: "served" });
  try {
    const rateLimit = { requests: 1, perMs: 3_600_000 };
    const providers = [{ name: "a", baseUrl: mock.baseUrl, models: [{ name: "m" }], rateLimit }];
    const router = await buildRouter(await settingsOf({ config: { providers } }));
    await askOf(router);
    await assert.rejects(askOf(router), { code: "rate" });
  } finally {
    await mock.close();
  }
});

Deno.test("buildRouter() reports an unknown model once", async () => {
  const env = { ANTHROPIC_API_KEY: "k" };
  const { notes } = await buildRouter(await settingsOf({ config: { model: "claude-new" }, env }));
  assert.equal(notes.length, 1);
  assert.match(notes[0] ?? "", /^claude-new is not a known model, so Vis assumes no price/);
  assert.deepEqual((await buildRouter(await settingsOf({ env }))).notes, []);
});

Deno.test("buildRouter() uses the first model of a named server on this machine, and requires a name elsewhere", async () => {
  const mock = await startOpenAiMock({ reply: "served" });
  const { baseUrl } = mock;
  try {
    const config = { provider: "ollama", providers: [{ name: "ollama", baseUrl }] };
    const { model, capabilities } = (await buildRouter(await settingsOf({ config }))).current();
    assert.deepEqual([model, capabilities.price], ["mock-1", { input: 0, output: 0, cached: 0 }]);
    const keyed = {
      config: { provider: "openai-responses", providers: [{ name: "openai-responses", baseUrl }] },
      env: { OPENAI_API_KEY: "k" },
    };
    await assert.rejects(
      buildRouter(await settingsOf(keyed)),
      /^ConfigError: Cannot choose a model for openai-responses: .* --model mock-1 \(vis models/,
    );
  } finally {
    await mock.close();
  }
  const gone = { provider: "ollama", baseUrl };
  await assert.rejects(
    buildRouter(await settingsOf({ config: gone })),
    /^ConfigError: Cannot reach http:.*: the connection was refused; start the server or check [^,]*$/,
  );
  const own = (given: Readonly<Record<string, string>>) => settingsOf({ config: gone, env: given });
  const named = /or check .*, or the proxy of HTTP_PROXY, or name 127\.0\.0\.1 in NO_PROXY$/;
  const HTTP_PROXY = "http://127.0.0.1:9";
  await assert.rejects(buildRouter(await own({ HTTP_PROXY, NO_PROXY: "example.org" })), named);
  await assert.rejects(buildRouter(await own({ http_proxy: HTTP_PROXY })), named);
  for (const NO_PROXY of ["a.example,127.0.0.1:80", "*", "127.0.0.0/8"]) {
    await assert.rejects(buildRouter(await own({ HTTP_PROXY, NO_PROXY })), /or check [^,]*$/);
  }
  const env = { OPENAI_API_KEY: "k" };
  await assert.rejects(
    buildRouter(
      await settingsOf({
        config: {
          provider: "openai-responses",
          providers: [{ name: "openai-responses", baseUrl: "http://127.0.0.1:9/v1" }],
        },
        env,
      }),
    ),
    /^ConfigError: Cannot choose a model for openai-responses: no model is set; set VIS_MODEL .*\(vis models --provider openai-responses lists the models\)$/,
  );
});

Deno.test("buildRouter() takes a known model of another address of OpenAI's API, or names the models there", async () => {
  let offered: readonly string[] = [];
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () => Response.json({ data: offered.map((id) => ({ id })) }),
  );
  const env = { OPENAI_API_KEY: "k", OPENAI_BASE_URL: `http://127.0.0.1:${server.addr.port}/v1` };
  const modelAt = async (models: readonly string[]): Promise<string> => {
    offered = models;
    return (await routerOf(env)).current().model;
  };
  assert.equal(await modelAt(["own-1", "gpt-5-pro", "gpt-5.2", "gpt-6.2-sol"]), "gpt-6.2-sol");
  assert.equal(await modelAt(["own-1", "gpt-5-pro", "gpt-5.2"]), "gpt-5.2");
  await assert.rejects(
    modelAt(["text-embedding-3-large", "own-1", "whisper-1", "own-2", "gpt-5-pro"]),
    /: no model is set; set VIS_MODEL or use --model gpt-5-pro, or another model, such as own-1 or own-2 \(vis models lists the models\)$/,
  );
});

Deno.test("buildRouter() excludes providers without a model, and reports them", async () => {
  const providers = [{ name: "anthropic" }, { name: "b", baseUrl: "http://127.0.0.1:9/v1" }];
  const env = { ANTHROPIC_API_KEY: "k" };
  const { routes, notes } = await buildRouter(await settingsOf({ config: { providers }, env }));
  assert.deepEqual(routes.map(({ provider }) => provider.name), ["anthropic"]);
  assert.deepEqual(notes, [
    "Vis skips b: it has no model in config.jsonc (add one to models of its entry in providers)",
  ]);
});
