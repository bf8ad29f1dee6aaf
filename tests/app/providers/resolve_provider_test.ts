import assert from "node:assert/strict";
import { isProvider, keyAdvice, resolveProvider } from "../../../src/app/providers/choose_providers.ts";
import { Credentials } from "../../../src/providers/credentials.ts";
import { settingsOf } from "../_settings.ts";

interface Asked {
  readonly config?: object;
  readonly env?: Readonly<Record<string, string>>;
  readonly sole?: boolean;
}

async function resolve(name: string, { sole = false, ...rest }: Asked = {}) {
  return await resolveProvider(name, { settings: await settingsOf(rest), credentials: new Credentials(null), sole });
}

Deno.test("resolveProvider() lets an entry override its preset", async () => {
  const entry = {
    name: "work",
    preset: "openrouter",
    protocol: "anthropic",
    baseUrl: "https://gateway.example.org/v1",
    headers: { "x-team": "blue" },
    models: [{ name: "m" }],
  };
  const work = await resolve("work", { config: { providers: [entry] }, env: { OPENROUTER_API_KEY: "k" } });
  assert.deepEqual([work.title, work.protocol, work.baseUrl, work.defaultModel, work.data], [
    "OpenRouter",
    "anthropic",
    "https://gateway.example.org/v1",
    "m",
    "openrouter",
  ]);
  assert.deepEqual(work.headers, { "x-title": "vis", "x-team": "blue" });
  assert.deepEqual([work.key.value, work.need], ["k", "optional"]);
});

Deno.test("resolveProvider() uses VIS_API_KEY and VIS_BASE_URL only if no provider was requested", async () => {
  const env = { VIS_API_KEY: "own", VIS_BASE_URL: "http://127.0.0.1:9/v1", ZAI_API_KEY: "usual" };
  const alone = await resolve("zai", { env, sole: true });
  assert.deepEqual([alone.key.value, alone.key.from, alone.baseUrl], ["own", "VIS_API_KEY", "http://127.0.0.1:9/v1"]);
  const among = await resolve("zai", { env });
  assert.deepEqual([among.key.value, among.key.from, among.baseUrl], [
    "usual",
    "ZAI_API_KEY",
    "https://api.z.ai/api/paas/v4",
  ]);
});

Deno.test("resolveProvider() prefers keyEnv, and requires it without a preset", async () => {
  const providers = [{ name: "zai", keyEnv: "MINE" }, { name: "x", baseUrl: "http://127.0.0.1:9/v1", keyEnv: "XKEY" }];
  const env = { MINE: "mine", ZAI_API_KEY: "usual" };
  assert.equal((await resolve("zai", { config: { providers }, env })).key.from, "MINE");
  const x = await resolve("x", { config: { providers }, env });
  assert.deepEqual([x.key.value, x.need, keyAdvice(x)], [null, "required", "set XKEY or run vis auth login x"]);
});

Deno.test("isProvider() knows presets and configured names, but nothing inherited", async () => {
  const { config } = await settingsOf({ config: { providers: [{ name: "mine", preset: "zai" }] } });
  const names = ["zai", "mine", "acme", "constructor", "__proto__", "demo"];
  assert.deepEqual(names.map((name) => isProvider(name, config)), [true, true, false, false, false, false]);
});
