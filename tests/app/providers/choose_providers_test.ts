import assert from "node:assert/strict";
import { join } from "node:path";
import { chooseProviders, type ChosenProviders } from "../../../src/app/providers/choose_providers.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { ConfigError } from "../../../src/domain/errors.ts";
import { type Credential, Credentials } from "../../../src/providers/credentials.ts";
import { settingsOf } from "../_settings.ts";

interface Asked {
  readonly config?: object;
  readonly env?: Readonly<Record<string, string>>;
  readonly kept?: Readonly<Record<string, Credential>>;
  readonly addresses?: readonly { readonly preset: string; readonly baseUrl: string }[];
}

async function choose({ kept = {}, addresses = [], ...rest }: Asked): Promise<ChosenProviders> {
  const folder = await Deno.makeTempDir({ prefix: "vis-choose-" });
  try {
    const credentials = new Credentials(join(folder, "auth.json"));
    for (const [name, credential] of Object.entries(kept)) await credentials.set(name, credential);
    return await chooseProviders({ settings: await settingsOf(rest), credentials, addresses, probeMs: 30_000 });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Returns the provider, the model and the source of the key, root first. */
async function chosen(asked: Asked): Promise<unknown[]> {
  const { providers, model } = await choose(asked);
  const [root, ...others] = providers;
  return [root.name, model ?? root.defaultModel, root.key.from, ...others.map(({ name }) => name)];
}

async function refusal(asked: Asked): Promise<string> {
  const error = await choose(asked).catch((error: unknown) => error);
  assert.ok(error instanceof ConfigError, String(error));
  return error.message;
}

Deno.test("chooseProviders() uses VIS_BASE_URL and VIS_API_KEY unchanged, whatever else is set", async () => {
  const config = { providers: [{ name: "anthropic" }] };
  const env = { VIS_BASE_URL: "http://127.0.0.1:9/v1", VIS_MODEL: "anthropic/claude", ANTHROPIC_API_KEY: "a-key" };
  const { providers: [root], model } = await choose({ config, env });
  assert.deepEqual([root.baseUrl, root.plain, root.key.value, model], [
    "http://127.0.0.1:9/v1",
    true,
    null,
    "anthropic/claude",
  ]);
  assert.deepEqual(await chosen({ env: { VIS_API_KEY: "k", VIS_MODEL: "m" } }), ["openai", "m", "VIS_API_KEY"]);
  assert.deepEqual(await chosen({ env: { OPENAI_API_KEY: "k", VIS_MODEL: "m", ANTHROPIC_API_KEY: "a" } }), [
    "openai",
    "m",
    "OPENAI_API_KEY",
  ]);
});

Deno.test("chooseProviders() never sends a saved OpenAI key to another address", async () => {
  const kept = { openai: { type: "key", key: "kept-4711" } } as const;
  const { providers: [root] } = await choose({ kept, env: { VIS_BASE_URL: "http://127.0.0.1:9/v1" } });
  assert.equal(root.key.value, null);
});

Deno.test("chooseProviders() finds the usual keys, but the keys of GitHub only if it is named", async () => {
  const found: readonly (readonly [Readonly<Record<string, string>>, unknown[]])[] = [
    [{ OPENAI_API_KEY: "k" }, ["openai", "gpt-6.2-sol", "OPENAI_API_KEY"]],
    [{ VIS_PROVIDER: "openai-responses", OPENAI_API_KEY: "k" }, ["openai-responses", "gpt-6.2-sol", "OPENAI_API_KEY"]],
    [{ OPENAI_API_KEY: "k", OPENAI_BASE_URL: "https://gate.example/v1" }, ["openai", null, "OPENAI_API_KEY"]],
    [{ ANTHROPIC_API_KEY: "k" }, ["anthropic", "claude-sonnet-5", "ANTHROPIC_API_KEY"]],
    [{ GEMINI_API_KEY: "k" }, ["google", "gemini-flash-latest", "GEMINI_API_KEY"]],
    [{ GOOGLE_API_KEY: "k" }, ["google", "gemini-flash-latest", "GOOGLE_API_KEY"]],
    [{ OPENROUTER_API_KEY: "k" }, ["openrouter", "openrouter/auto", "OPENROUTER_API_KEY"]],
    [{ ZAI_API_KEY: "k" }, ["zai", "glm-5.2", "ZAI_API_KEY"]],
    [{ DASHSCOPE_API_KEY: "k" }, ["alibaba", "qwen-plus", "DASHSCOPE_API_KEY"]],
    [{ VIS_PROVIDER: "github-models", GITHUB_TOKEN: "k" }, ["github-models", "openai/gpt-4.1", "GITHUB_TOKEN"]],
    [{ VIS_PROVIDER: "anthropic", VIS_API_KEY: "k", ANTHROPIC_API_KEY: "a" }, [
      "anthropic",
      "claude-sonnet-5",
      "VIS_API_KEY",
    ]],
  ];
  for (const [env, expected] of found) assert.deepEqual(await chosen({ env }), expected);
  assert.match(
    await refusal({ env: { GITHUB_TOKEN: "k" } }),
    /^Cannot choose a model: no provider is configured; log in with vis auth login, or set a key such as/,
  );
});

Deno.test("chooseProviders() uses the provider whose data includes the model", async () => {
  const env = { ANTHROPIC_API_KEY: "a", GEMINI_API_KEY: "g", VIS_MODEL: "gemini-2.5-pro" };
  assert.deepEqual(await chosen({ env }), ["google", "gemini-2.5-pro", "GEMINI_API_KEY"]);
  const config = { model: "claude-opus-5", providers: [{ name: "google" }, { name: "anthropic" }] };
  assert.deepEqual(await chosen({ config, env: { ANTHROPIC_API_KEY: "a", GEMINI_API_KEY: "g" } }), [
    "anthropic",
    "claude-opus-5",
    "ANTHROPIC_API_KEY",
    "google",
  ]);
});

Deno.test("chooseProviders() finds a saved key after the keys of the environment", async () => {
  const kept = { zai: { type: "key", key: "kept" } } as const;
  assert.deepEqual(await chosen({ kept }), ["zai", "glm-5.2", "auth.json"]);
  assert.deepEqual(await chosen({ kept, env: { ZAI_API_KEY: "k" } }), ["zai", "glm-5.2", "ZAI_API_KEY"]);
  assert.deepEqual(await chosen({ kept, env: { ANTHROPIC_API_KEY: "k" } }), [
    "anthropic",
    "claude-sonnet-5",
    "ANTHROPIC_API_KEY",
  ]);
  const login = { "github-copilot": { type: "copilot", githubToken: "gho", domain: "company.ghe.com" } } as const;
  const { providers: [root] } = await choose({ kept: login });
  assert.deepEqual([root.name, root.key.domain, root.need], ["github-copilot", "company.ghe.com", "device-login"]);
});

Deno.test("chooseProviders() keeps the configured order and excludes providers without a key", async () => {
  const config = {
    providers: [
      { name: "mine", baseUrl: "http://127.0.0.1:9/v1", models: [{ name: "m1" }, { name: "m2" }] },
      { name: "anthropic" },
      { name: "second", preset: "zai", keyEnv: "MY_KEY" },
    ],
  };
  const { providers, notes } = await choose({ config, env: { MY_KEY: "k" } });
  assert.deepEqual(providers.map(({ name, defaultModel }) => [name, defaultModel]), [
    ["mine", "m1"],
    ["second", "glm-5.2"],
  ]);
  assert.deepEqual(notes, [
    "Vis skips anthropic: it has no key (set ANTHROPIC_API_KEY or run vis auth login anthropic)",
  ]);
  assert.deepEqual(await chosen({ config: { ...config, model: "m2" }, env: { MY_KEY: "k" } }), [
    "mine",
    "m2",
    "",
    "second",
  ]);
});

Deno.test("chooseProviders() reads provider/model, and slashes that belong to the model", async () => {
  const env = { OPENROUTER_API_KEY: "o", ANTHROPIC_API_KEY: "a", GITHUB_TOKEN: "g" };
  const cases: readonly (readonly [object, readonly [string, string]])[] = [
    [{ model: "anthropic/claude-opus-5" }, ["anthropic", "claude-opus-5"]],
    [{ model: "openrouter/anthropic/claude-opus-5" }, ["openrouter", "anthropic/claude-opus-5"]],
    [{ provider: "openrouter", model: "anthropic/claude-opus-5" }, ["openrouter", "anthropic/claude-opus-5"]],
    [{ provider: "anthropic", model: "anthropic/claude-opus-5" }, ["anthropic", "claude-opus-5"]],
    [{ provider: "github-models", model: "openai/gpt-4.1" }, ["github-models", "openai/gpt-4.1"]],
    [{ provider: "openrouter", model: "openrouter/auto" }, ["openrouter", "openrouter/auto"]],
  ];
  for (const [config, expected] of cases) {
    assert.deepEqual((await chosen({ config, env })).slice(0, 2), expected, JSON.stringify(config));
  }
});

Deno.test("chooseProviders() treats a whole name as the model if its first part has no key", async () => {
  const model = "anthropic/claude-sonnet-5";
  const env = { OPENROUTER_API_KEY: "o", VIS_MODEL: model };
  assert.deepEqual((await chosen({ env })).slice(0, 2), ["openrouter", model]);
  const openrouter = { name: "openrouter" };
  assert.deepEqual(await chosen({ config: { providers: [openrouter] }, env }), [
    "openrouter",
    model,
    "OPENROUTER_API_KEY",
  ]);
  const github = { GITHUB_MODELS_TOKEN: "m", GITHUB_TOKEN: "g", VIS_MODEL: "openai/gpt-4.1" };
  assert.deepEqual(await chosen({ env: github }), ["github-models", "openai/gpt-4.1", "GITHUB_MODELS_TOKEN"]);
  assert.equal((await chosen({ env: { ...github, OPENROUTER_API_KEY: "o" } }))[0], "openrouter");
  assert.match(
    await refusal({ env: { GITHUB_TOKEN: "g", VIS_MODEL: "openai/gpt-4.1" } }),
    /^Cannot use provider openai: it has no key/,
  );
  const both = { ...env, ANTHROPIC_API_KEY: "a" };
  assert.deepEqual((await chosen({ env: both })).slice(0, 2), ["anthropic", "claude-sonnet-5"]);
  const listing = { providers: [{ ...openrouter, models: [{ name: model }] }] };
  assert.deepEqual((await chosen({ config: listing, env: both })).slice(0, 2), ["openrouter", model]);
  await using server = ollama("openai/gpt-oss-20b");
  const { addresses } = server;
  const on = { localServers: true, model: "openai/gpt-oss-20b" };
  assert.deepEqual((await chosen({ config: on, addresses })).slice(0, 2), ["ollama", "openai/gpt-oss-20b"]);
  assert.match(
    await refusal({ config: { ...on, model: "openai/gpt-9" }, addresses }),
    /^Cannot use provider openai: it has no key/,
  );
  assert.match(
    await refusal({ env: { ZAI_API_KEY: "z", VIS_MODEL: model } }),
    /^Cannot use provider anthropic: it has no key/,
  );
});

Deno.test("chooseProviders() uses only the named provider", async () => {
  const config = { provider: "anthropic", providers: [{ name: "zai" }, { name: "anthropic" }] };
  const env = { ZAI_API_KEY: "z", ANTHROPIC_API_KEY: "a" };
  assert.deepEqual(await chosen({ config, env }), ["anthropic", "claude-sonnet-5", "ANTHROPIC_API_KEY"]);
});

Deno.test("chooseProviders() suggests the nearest known name, and a fix for a missing part", async () => {
  const cases: readonly (readonly [Asked, RegExp])[] = [
    [
      { config: { provider: "antropic" } },
      /^Cannot use provider antropic: no provider has this name; did you mean anthropic\?$/,
    ],
    [
      { config: { provider: "acme" } },
      /^Cannot use provider acme: no provider has this name; choose.* ollama, lmstudio, vllm, demo, files$/,
    ],
    [
      { config: { providers: [{ name: "x", preset: "opnrouter" }] } },
      /^Cannot use preset opnrouter of provider x: no preset has this name; did you mean openrouter\?$/,
    ],
    [
      { config: { providers: [{ name: "x" }] } },
      /^Cannot use provider x: it has no address; set its baseUrl or preset in providers of config\.jsonc/,
    ],
    [{ config: { provider: "anthropic" } }, /it has no key; set ANTHROPIC_API_KEY or run vis auth login anthropic$/],
    [{ config: { provider: "github-copilot" } }, /it has no key; run vis auth login github-copilot$/],
    [{ config: { providers: [{ name: "x", preset: "zai", keyEnv: "MINE" }] } }, /it has no key; set MINE or run /],
    [{}, /^Cannot choose a model: no provider is configured.*vis auth login.*\n.*VIS_BASE_URL.*\n.*vis demo$/],
    [{ config: { localServers: true } }, /needs one, VIS_API_KEY; or start Ollama or LM Studio\n.*vis demo$/],
    [{ config: { localServers: false } }, /needs one, VIS_API_KEY\n.*vis demo$/],
  ];
  for (const [asked, says] of cases) assert.match(await refusal(asked), says);
});

function ollama(...ids: string[]) {
  const answer = () => Response.json({ data: ids.map((id) => ({ id })) });
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, answer);
  const addresses = [{ preset: "ollama", baseUrl: `http://127.0.0.1:${server.addr.port}/v1` }];
  return { addresses, [Symbol.asyncDispose]: () => server.shutdown() };
}

Deno.test("chooseProviders() finds a server on this machine if nothing is configured, and reports it", async () => {
  await using server = ollama("qwen3:8b", "llama3:8b");
  const { addresses } = server;
  const on = { localServers: true };
  const { providers: [root], model, notes } = await choose({ config: on, addresses });
  assert.deepEqual([root.name, root.local, model, root.baseUrl], ["ollama", true, "qwen3:8b", addresses[0]?.baseUrl]);
  assert.match(
    notes.join(),
    /^no provider is configured: Vis uses Ollama at http:.*; 1 more with --model \(vis models\)$/,
  );
  const named = await choose({ config: { ...on, model: "llama3:8b" }, addresses });
  assert.equal(named.model, "llama3:8b");
  assert.match(
    await refusal({ config: { ...on, model: "gpt-9" }, addresses }),
    /^Cannot use model gpt-9: .* Ollama here does not have this model; choose one of its models with --model, such as qwen3:8b, llama3:8b$/,
  );
});

Deno.test("chooseProviders() looks for no server if that is forbidden or unnecessary", async () => {
  await using server = ollama("m");
  const { addresses } = server;
  assert.match(
    await refusal({ addresses }),
    /^Cannot choose a model: no provider is configured; log in with vis auth login, or set a key such as/,
  );
  const found = await chosen({ config: { localServers: true }, addresses, env: { ZAI_API_KEY: "k" } });
  assert.equal(found[0], "zai");
});

Deno.test("chooseProviders() reports a server without a model", async () => {
  await using server = ollama();
  const message = await refusal({ config: { localServers: true }, addresses: server.addresses });
  assert.match(
    message,
    /^Cannot choose a model: no provider is configured, and Ollama at .* has no model; log in with/,
  );
});

async function inWorkspace(
  model: string,
  { user = {}, env = {}, addresses = [] }: {
    readonly user?: object;
    readonly env?: Readonly<Record<string, string>>;
    readonly addresses?: Asked["addresses"];
  },
) {
  const userPath = "/home/config.jsonc";
  const project = { path: "/w/.vis/config.jsonc", text: JSON.stringify({ model }), userPath };
  const text = JSON.stringify({ localServers: addresses.length > 0, ...user });
  const loaded = await loadConfig({
    ...{ file: { path: userPath, text }, env, flags: {} },
    project: { ...project, trusted: () => Promise.resolve(false) },
  });
  const { providers: [root], model: asked, notes } = await chooseProviders({
    settings: loaded,
    credentials: new Credentials(null),
    addresses,
  });
  return { root: root.name, model: asked ?? root.defaultModel, notes };
}

Deno.test("chooseProviders() takes the model of a workspace for a preference: without its key, the user's own serves", async () => {
  const keys = { OPENAI_API_KEY: "k" };
  const own = { model: "gpt-5.4" };
  const note =
    "the workspace prefers anthropic/claude-sonnet-5, but Vis does not use it: set ANTHROPIC_API_KEY or run vis auth " +
    "login anthropic";
  assert.deepEqual(await inWorkspace("anthropic/claude-sonnet-5", { user: own, env: keys }), {
    root: "openai",
    model: "gpt-5.4",
    notes: [note],
  });
  const named = await inWorkspace("anthropic/claude-sonnet-5", { user: { ...own, provider: "openai" }, env: keys });
  assert.deepEqual([named.root, named.model], ["openai", "gpt-5.4"]);
  assert.match(
    named.notes.join(),
    /prefers anthropic\/claude-sonnet-5, but Vis does not use it: it is not a model of openai/,
  );
  const bare = await inWorkspace("claude-sonnet-5", { user: own, env: keys });
  assert.deepEqual([bare.root, bare.model], ["openai", "gpt-5.4"]);
  const both = await inWorkspace("anthropic/claude-sonnet-5", { user: own, env: { ...keys, ANTHROPIC_API_KEY: "a" } });
  assert.deepEqual(both, { root: "anthropic", model: "claude-sonnet-5", notes: [] });
  // Vis requests a new model of the user's own service, because only that service knows whether it exists.
  assert.equal((await inWorkspace("gpt-99", { user: own, env: keys })).model, "gpt-99");
  await assert.rejects(inWorkspace("anthropic/claude-sonnet-5", {}), {
    message: /Cannot use provider anthropic: it has no key/,
  });
  const asked = { ...keys, VIS_MODEL: "anthropic/claude-sonnet-5" };
  await assert.rejects(inWorkspace("gpt-5.4", { env: asked }), { message: /anthropic: it has no key/ });
});

Deno.test("chooseProviders() uses the user's own model if no server of the settings lists the workspace's model", async () => {
  const house = { name: "house", baseUrl: "http://127.0.0.1:1/v1", models: [{ name: "m1" }, { name: "m2" }] };
  const other = { name: "other", baseUrl: "http://127.0.0.1:2/v1", models: [{ name: "o1" }] };
  const user = { model: "m2", providers: [house, other] };
  for (const [model, root] of [["nomodel", "house"], ["acme/nomodel", "house"], ["other/zzz", "other"]] as const) {
    assert.deepEqual(await inWorkspace(model, { user }), {
      root: "house",
      model: "m2",
      notes: [
        `the workspace prefers ${model}, but Vis does not use it: it is not among the models of ${root} in the settings`,
      ],
    });
  }
  const { model: _own, ...without } = user;
  assert.equal((await inWorkspace("nomodel", { user: without })).model, "m1");
  for (const model of ["m1", "o1", "other/o1"]) {
    const { model: used, notes } = await inWorkspace(model, { user });
    assert.deepEqual([used, notes], [model.split("/").at(-1), []]);
  }
  // Without a list of models, only the server knows its models.
  const unlisted = { ...user, providers: [{ name: "house", baseUrl: house.baseUrl }] };
  assert.deepEqual(await inWorkspace("new", { user: unlisted }), { root: "house", model: "new", notes: [] });
});

Deno.test("chooseProviders() uses the settings for the models of VIS_BASE_URL, by its address or its name", async () => {
  const env = { VIS_BASE_URL: "http://gpu.example:8080/v1", VIS_MODEL: "m" };
  const models = [{ name: "m", price: { input: 1, output: 2 } }];
  for (const place of [{ name: "any", baseUrl: env.VIS_BASE_URL }, { name: "gpu.example-8080" }]) {
    const { providers: [root] } = await choose({ config: { providers: [{ ...place, models }] }, env });
    assert.deepEqual([root.plain, root.models], [true, models], place.name);
  }
  const other = [{ name: "any", baseUrl: "http://other.example/v1", models }];
  assert.deepEqual((await choose({ config: { providers: other }, env })).providers[0].models, []);
});
