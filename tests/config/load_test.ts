import assert from "node:assert/strict";
import { settingsSectionsOf } from "../../src/app/settings/settings.ts";
import { type ConfigSources, loadConfig } from "../../src/config/load.ts";
import { ConfigError } from "../../src/domain/errors.ts";
import * as index from "../../extensions/index.ts";

const sections = await settingsSectionsOf(index);

function sources(text: string | null, rest: Partial<ConfigSources> = {}): ConfigSources {
  return { file: text === null ? null : { path: "/home/c/config.jsonc", text }, env: {}, flags: {}, sections, ...rest };
}

async function refusal(asked: ConfigSources): Promise<string> {
  try {
    await loadConfig(asked);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message;
  }
  return assert.fail("accepted");
}

Deno.test("loadConfig() has the documented defaults if nothing is set", async () => {
  const { config, apiKey } = await loadConfig(sources(null));
  assert.equal(apiKey, null);
  assert.deepEqual([config.model, config.provider, config.baseUrl], [null, null, null]);
  const { iterations, ceiling, costUsd, tokens, wallMs } = config.budget;
  assert.deepEqual([iterations, ceiling, costUsd, tokens, wallMs], [4, 40, null, null, null]);
  assert.deepEqual([config.providers, config.localServers], [[], true]);
  const { require, memoryMiB, timeoutMs, timeoutMinMs, timeoutMaxMs } = config.sandbox;
  assert.deepEqual([require, memoryMiB, timeoutMs, timeoutMinMs, timeoutMaxMs], [[], 512, 120_000, 3_000, 1_800_000]);
  const { journalChars, previewChars, attempts, indexRows, inlineChars } = config.context;
  assert.deepEqual([journalChars, previewChars, attempts, indexRows, inlineChars], [24_000, 24_000, 12, 150, 120]);
});

Deno.test("loadConfig() prefers flags to the environment, and the environment to the file", async () => {
  const file =
    '{ "model": "f", "provider": "f", "baseUrl": "http://file/v1", "budget": { "iterations": 9, "ceiling": 20 } }';
  const env = { VIS_MODEL: "e", VIS_PROVIDER: "e", VIS_BASE_URL: "http://env/v1" };
  const fileOnly = (await loadConfig(sources(file))).config;
  assert.deepEqual([fileOnly.model, fileOnly.provider, fileOnly.baseUrl], ["f", "f", "http://file/v1"]);
  assert.deepEqual([fileOnly.budget.iterations, fileOnly.budget.ceiling], [9, 20]);
  const withEnv = (await loadConfig(sources(file, { env }))).config;
  assert.deepEqual([withEnv.model, withEnv.provider, withEnv.baseUrl], ["e", "e", "http://env/v1"]);
  const flags = { model: "x", provider: "x", maxIterations: 2 };
  const { config } = await loadConfig(sources(file, { env, flags }));
  assert.deepEqual([config.model, config.provider, config.budget.iterations], ["x", "x", 2]);
  assert.equal(config.budget.ceiling, 20);
});

Deno.test("loadConfig() treats an empty variable or flag as missing, and trims", async () => {
  const env = { VIS_MODEL: "  ", VIS_BASE_URL: "", VIS_API_KEY: " ", OPENAI_API_KEY: " key\n" };
  const { config, apiKey } = await loadConfig(sources('{ "model": "f" }', { env, flags: { model: "" } }));
  assert.deepEqual([config.model, config.baseUrl, apiKey], ["f", null, "key"]);
});

Deno.test("loadConfig() prefers the key of Vis and never puts it into the settings", async () => {
  const env = { VIS_API_KEY: "own-4711", OPENAI_API_KEY: "usual-4712" };
  const { config, apiKey } = await loadConfig(sources(null, { env }));
  assert.equal(apiKey, "own-4711");
  assert.doesNotMatch(JSON.stringify(config), /471[12]/);
});

Deno.test("loadConfig() reads comments, trailing commas and a byte order mark", async () => {
  const text = `\ufeff// first
{
  /* block, with "quotes" and , */
  "model": "a//b /* no comment */ \\" ,]", // after, with }
  "budget": { "iterations": 7, },
  "sandbox": { "require": ["kernel", /* and */ "realm",], },
}
`;
  const { config } = await loadConfig(sources(text));
  assert.equal(config.model, 'a//b /* no comment */ " ,]');
  assert.deepEqual([config.budget.iterations, config.sandbox.require], [7, ["kernel", "realm"]]);
});

Deno.test("loadConfig() names the key and the file of an unusable value", async () => {
  const cases: [string, RegExp][] = [
    ['{ "budget": { "iterations": 0 } }', /budget\.iterations/],
    ['{ "budget": { "iterations": 1.5 } }', /budget\.iterations/],
    ['{ "budget": { "costUsd": -1 } }', /budget\.costUsd/],
    ['{ "sandbox": { "require": ["kernel", "moat"] } }', /sandbox\.require\.1/],
    ['{ "context": { "journalChars": "many" } }', /context\.journalChars/],
    ['{ "baseUrl": "localhost" }', /baseUrl/],
    ['{ "colour": true }', /colour/],
    ['{ "budget": { "itterations": 3 } }', /itterations/],
    ['["model"]', /the file/],
    ["null", /the file/],
  ];
  for (const [text, key] of cases) {
    const message = await refusal(sources(text));
    assert.match(message, /^Cannot use \/home\/c\/config\.jsonc: /);
    assert.match(message, key);
    assert.equal(message.includes("\n"), false);
  }
});

Deno.test("loadConfig() suggests the intended key, else the known keys", async () => {
  const cases: [string, RegExp][] = [
    ['{ "providrs": [] }', /: providrs is not a setting; did you mean providers\?$/],
    ['{ "budget": { "itterations": 3 } }', /budget\.itterations is not a setting; did you mean iterations\?$/],
    [
      '{ "providers": [{ "name": "x", "basUrl": "http://a" }] }',
      /providers\.0\.basUrl is not a setting; did you mean baseUrl\?$/,
    ],
    [
      '{ "providers": [{ "name": "x", "models": [{ "name": "m", "contxtTokens": 1 }] }] }',
      /providers\.0\.models\.0\.contxtTokens is not a setting; did you mean contextTokens\?$/,
    ],
    ['{ "colour": true }', /: colour is not a setting; choose one of model, provider, providers, /],
    [
      '{ "providers": [{ "name": "x", "apiKey": "sk-4711" }] }',
      /providers\.0\.apiKey is not a setting; choose one of name,.* models, headers, firstTokenMs, silenceMs, rateLimit/,
    ],
  ];
  for (const [text, says] of cases) {
    const message = await refusal(sources(text));
    assert.match(message, says);
    assert.doesNotMatch(message, /4711/);
  }
});

Deno.test("loadConfig() reads providers, and refuses invalid ones", async () => {
  const text =
    '{ "providers": [{ "name": "mine", "preset": "zai", "models": [{ "name": "m", "price": { "input": 1, "output": 2 } }],' +
    ' "rateLimit": { "requests": 3 } }] }';
  const { config: { providers: [mine] } } = await loadConfig(sources(text));
  assert.deepEqual(mine, {
    name: "mine",
    preset: "zai",
    models: [{ name: "m", price: { input: 1, output: 2 } }],
    rateLimit: { requests: 3, perMs: 60_000 },
  });
  const cases: [string, RegExp][] = [
    ['[{ "name": "a/b" }]', /providers\.0\.name must be letters, digits, dots, dashes and underscores/],
    ['[{ "name": "" }]', /providers\.0\.name/],
    ['[{ "name": "x" }, { "name": "x" }]', /providers has two entries named x; rename one of them$/],
    ['[{ "name": "x", "protocol": "smoke" }]', /providers\.0\.protocol/],
    ['[{ "name": "x", "baseUrl": "file:///etc" }]', /providers\.0\.baseUrl/],
    ['[{ "name": "x", "keyEnv": "sk-4711" }]', /providers\.0\.keyEnv must be the name of a variable$/],
    ['[{ "name": "x", "rateLimit": { "requests": 0 } }]', /rateLimit\.requests/],
    ['[{ "name": "x", "models": [{ "name": "m", "price": { "input": -1, "output": 1 } }] }]', /price\.input/],
  ];
  for (const [providers, says] of cases) {
    const message = await refusal(sources(`{ "providers": ${providers} }`));
    assert.match(message, says);
    assert.doesNotMatch(message, /4711/);
  }
});

Deno.test("loadConfig() returns variables of the environment, trimmed, and omits empty ones", async () => {
  const { variable } = await loadConfig(sources(null, { env: { A: " a\n", B: " ", C: undefined } }));
  assert.deepEqual([variable("A"), variable("B"), variable("C"), variable("D")], ["a", null, null, null]);
});

Deno.test("loadConfig() reports the place at which a file is not JSON", async () => {
  for (const text of ["", "{", '{ "model": }', "model = 1"]) {
    assert.match(await refusal(sources(text)), /^Cannot read \/home\/c\/config\.jsonc: /);
  }
  const message = await refusal(sources('{\n  // comment\n  "model": oops\n}'));
  assert.match(message, /"model": oops/);
  assert.equal(message.includes("\n"), false);
});

Deno.test("loadConfig() accepts only http and https for VIS_BASE_URL", async () => {
  for (const url of ["127.0.0.1:8080", "ftp://host/v1", "file:///etc/passwd", "javascript:1", "no url"]) {
    assert.match(await refusal(sources(null, { env: { VIS_BASE_URL: url } })), /^Cannot use VIS_BASE_URL: /);
  }
  const login = await refusal(sources(null, { env: { VIS_BASE_URL: "ftp://me:hunter2@host/v1" } }));
  assert.match(login, /^Cannot use VIS_BASE_URL: ftp:\/\/host\/v1 is not/);
  const { config } = await loadConfig(sources(null, { env: { VIS_BASE_URL: " http://127.0.0.1:1/v1 " } }));
  assert.equal(config.baseUrl, "http://127.0.0.1:1/v1");
  for (const url of ["ftp://host/v1", "file:///etc/passwd"]) {
    assert.match(await refusal(sources(JSON.stringify({ baseUrl: url }))), /baseUrl/);
  }
});

const PROJECT = "/projects/a/.vis/config.jsonc";

function withProject(text: string, rest: Partial<ConfigSources> & { readonly trusted?: boolean } = {}): ConfigSources {
  const { trusted = false, ...more } = rest;
  const project = { path: PROJECT, text, userPath: "/home/c/config.jsonc", trusted: () => Promise.resolve(trusted) };
  return { ...sources(null), project, ...more };
}

Deno.test("loadConfig() accepts the harmless keys of a project, above the user's and below the environment's", async () => {
  const text = '{ "model": "p", "budget": { "iterations": 6 }, "context": { "attempts": 3 } }';
  const file = { path: "u", text: '{ "model": "u", "budget": { "iterations": 9, "tokens": 5 } }' };
  const { config } = await loadConfig(withProject(text, { file }));
  assert.deepEqual([config.model, config.budget.iterations, config.budget.tokens], ["p", 6, 5]);
  assert.deepEqual([config.context.attempts, config.context.indexRows], [3, 150]);
  const { config: above } = await loadConfig(withProject(text, { file, env: { VIS_MODEL: "e" } }));
  assert.equal(above.model, "e");
});

Deno.test("loadConfig() ignores settings of earlier versions, and notes it for each file", async () => {
  const file = { path: "/home/c/config.jsonc", text: '{ "model": "m", "title": { "model": "small" } }' };
  const { config, layers } = await loadConfig(withProject('{ "autoForget": { "afterQueries": 3 } }', { file }));
  assert.equal(config.model, "m");
  assert.deepEqual([Object.hasOwn(config, "title"), Object.hasOwn(config, "autoForget")], [false, false]);
  assert.deepEqual(layers.flatMap(({ ignored = [] }) => ignored), [
    "/home/c/config.jsonc sets title, which is no longer a setting: it has no effect (vis config unset title removes it)",
    `${PROJECT} sets autoForget, which is no longer a setting: it has no effect (vis config unset --project autoForget removes it)`,
  ]);
});

Deno.test("loadConfig() refuses every other key of a project, with the reason and the place for it", async () => {
  const cases: [string, string][] = [
    ['{ "baseUrl": "http://evil" }', "baseUrl"],
    ['{ "provider": "demo" }', "provider"],
    ['{ "providers": [] }', "providers"],
    ['{ "shell": { "enabled": true } }', "shell.enabled"],
    ['{ "shell": { "deny": [], "allow": ["x"] } }', "shell.allow"],
    ['{ "extensions": { "allow": null } }', "extensions.allow"],
    ['{ "extensions": { "config": { "vis.web": {} } } }', "extensions.config.vis.web"],
    ['{ "extensions": { "config": { "vis.shell": { "allow": [] } } } }', "extensions.config.vis.shell.allow"],
    ['{ "sandbox": { "launcher": ["sh"] } }', "sandbox"],
    ['{ "server": { "host": "0.0.0.0" } }', "server"],
    ['{ "budget": { "ceiling": 9 } }', "budget.ceiling"],
  ];
  for (const [text, key] of cases) {
    const message = await refusal(withProject(text));
    assert.ok(message.startsWith(`Cannot use ${PROJECT}: ${key} cannot come from an untrusted workspace`), message);
    assert.match(message, /; move the setting to \/home\/c\/config\.jsonc, or run vis config trust$/);
  }
  const both = await refusal(withProject('{ "baseUrl": "http://a", "model": "m", "server": {} }'));
  assert.match(both, /: baseUrl cannot come from an untrusted workspace \(nor can server\), because/);
  assert.match(await refusal(withProject('{ "modle": "m" }')), /: modle is not a setting; did you mean model\?$/);
  assert.match(
    await refusal(withProject('{ "context": { "atempts": 1 } }')),
    /context\.atempts is not a setting; did you mean attempts\?$/,
  );
});

Deno.test("loadConfig() takes any key of a project that the user trusts, and still checks it", async () => {
  const { config } = await loadConfig(withProject('{ "shell": { "enabled": true } }', { trusted: true }));
  assert.deepEqual(config.extensions.config, { "vis.shell": { enabled: true } });
  assert.match(await refusal(withProject('{ "shell": { "enabled": 1 } }', { trusted: true })), /shell\.enabled/);
});

Deno.test("loadConfig() takes the permission to run commands without a question only from the user", async () => {
  for (
    const text of [
      '{ "shell": { "unwalled": "run" } }',
      '{ "extensions": { "config": { "vis.shell": { "unwalled": "run" } } } }',
    ]
  ) {
    assert.match(
      await refusal(withProject(text, { trusted: true })),
      /shell\.unwalled cannot come from a workspace, even if you trust it/,
    );
    const { config } = await loadConfig(sources(text));
    assert.deepEqual(config.extensions.config, { "vis.shell": { unwalled: "run" } });
  }
});

Deno.test("loadConfig() takes the users of the Telegram bot only from the user, even in a trusted workspace", async () => {
  const text = '{ "telegram": { "allow": [5] } }';
  assert.match(await refusal(withProject(text, { trusted: true })), /telegram\.allow cannot come from a workspace/);
  assert.deepEqual((await loadConfig(sources(text))).config.telegram.allow, [5]);
});

Deno.test("loadConfig() lets no layer allow a thing that another one denies", async () => {
  const file = { path: "u", text: '{ "extensions": { "deny": ["web"] }, "shell": { "deny": ["rm *"] } }' };
  const project = '{ "extensions": { "deny": [] }, "shell": { "deny": ["git push*"] } }';
  const { config } = await loadConfig(withProject(project, { file, flags: { noExtension: ["fs", "web"] } }));
  assert.deepEqual(config.extensions.deny, ["web", "fs"]);
  assert.deepEqual(config.extensions.config, { "vis.shell": { deny: ["rm *", "git push*"] } });
  const spelled = '{ "extensions": { "config": { "vis.shell": { "deny": ["git push*"] } } } }';
  const { config: below } = await loadConfig(withProject(spelled, { file }));
  assert.deepEqual(below.extensions.config, { "vis.shell": { deny: ["rm *", "git push*"] } });
  const section = { path: "u", text: '{ "extensions": { "config": { "vis.shell": { "deny": ["rm *"] } } } }' };
  const { config: placed } = await loadConfig(withProject(project, { file: section }));
  assert.deepEqual(placed.extensions.config, config.extensions.config, "wherever the user's section stands");
});

Deno.test("loadConfig() reads a top-level section only if an extension owns it", async () => {
  const text = '{ "web": { "hosts": ["a.org"] }, "extensions": { "config": { "vis.web": { "local": ["b:1"] } } } }';
  const { config } = await loadConfig(sources(text));
  assert.deepEqual(config.extensions.config, { "vis.web": { hosts: ["a.org"], local: ["b:1"] } });
  assert.match(
    await refusal(sources('{ "web": { "hosts": ["https://a.org"] } }')),
    /^Cannot use \/home\/c\/config\.jsonc: web\.hosts\.0 must be a host such as example\.org, \*\.example\.org or/,
  );
  assert.match(
    await refusal(sources('{ "web": { "host": [] } }')),
    /web\.host is not a setting; did you mean hosts\?$/,
  );
  assert.match(await refusal(sources('{ "shel": {} }')), /shel is not a setting; did you mean shell\?$/);
  assert.match(await refusal(sources('{ "mcp": {} }')), /: mcp is not a setting/);
});

Deno.test("loadConfig() takes limits of one query from the flags", async () => {
  const flags = { maxCostUsd: 0.5, timeoutMs: 60_000, noExtension: [] };
  const { config, layers } = await loadConfig(sources('{ "budget": { "costUsd": 3, "tokens": 9 } }', { flags }));
  assert.deepEqual([config.budget.costUsd, config.budget.wallMs, config.budget.tokens], [0.5, 60_000, 9]);
  assert.equal(layers.at(-1)?.where("budget.costUsd"), "--max-cost");
});

Deno.test("loadConfig() passes over the $schema of a file, which is for editors", async () => {
  const text = '{ "$schema": "./config.schema.json", "model": "m" }';
  assert.equal((await loadConfig(sources(text))).config.model, "m");
  assert.equal((await loadConfig(withProject(text))).config.model, "m");
});

Deno.test("loadConfig() takes from a project only lower limits of context", async () => {
  const text = '{ "context": { "journalChars": 100000, "previewChars": 900, "stdoutChars": 1000000000 } }';
  const limitsOf = async (user: string | null) =>
    (await loadConfig({ ...withProject(text), file: sources(user).file })).config.context;
  const { journalChars, previewChars, stdoutChars } = await limitsOf(null);
  assert.deepEqual([journalChars, previewChars, stdoutChars], [24_000, 900, 24_000]);
  const higher = await limitsOf('{ "context": { "journalChars": 50000, "stdoutChars": 2000000000 } }');
  assert.deepEqual([higher.journalChars, higher.stdoutChars], [50_000, 1_000_000_000]);
});

Deno.test("loadConfig() replaces the patterns of secrets by the user's, and keeps the patterns of a project", async () => {
  const project = (text: string) => ({
    path: "/w/.vis/config.jsonc",
    text,
    trusted: () => Promise.resolve(true),
    userPath: null,
  });
  const secretsOf = async (user: string | null, own: string) =>
    (await loadConfig(sources(user, { project: project(own) }))).config.secrets;
  const added = await secretsOf(null, '{ "secrets": ["prod.json"] }');
  assert.ok(added.includes(".env*") && added.at(-1) === "prod.json");
  assert.deepEqual(await secretsOf('{ "secrets": [] }', "{}"), []);
  assert.deepEqual(await secretsOf('{ "secrets": ["a"] }', '{ "secrets": ["b"] }'), ["a", "b"]);
  const ofRun = async (secrets: readonly string[]) => {
    const set = { layer: "run", values: { secrets }, where: () => "--set" } as const;
    const rest = { project: project('{ "secrets": ["b"] }'), flags: { set } };
    return (await loadConfig(sources('{ "secrets": ["a"] }', rest))).config;
  };
  assert.deepEqual((await ofRun(["!a", "!b"])).secrets, ["a", "b", "!a", "!b"]);
  assert.deepEqual((await ofRun([])).secrets, ["b"]);
  const [first, ...rest] = await secretsOf('{ "secrets": ["!.env"] }', "{}");
  assert.deepEqual([first, rest.at(-1)], [".env*", "!.env"], "exceptions alone keep the default patterns");
  assert.deepEqual((await ofRun(["c", "!a"])).secrets, ["b", "c", "!a"]);
  assert.deepEqual((await ofRun(["c", "!b"])).secrets, ["b", "c", "!b"], "the user decides last");
  assert.match(
    await refusal(sources(null, { project: project('{ "secrets": ["x", "!.env"] }') })),
    /secrets cannot exclude \.env in the file of a workspace/,
  );
});
