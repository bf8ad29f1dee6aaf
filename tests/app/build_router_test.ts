import assert from "node:assert/strict";
import { buildRouter } from "../../src/app/build_router.ts";
import { loadConfig } from "../../src/config/load.ts";
import { ConfigError } from "../../src/domain/errors.ts";
import type { Router } from "../../src/providers/router.ts";

async function routerOf(env: Readonly<Record<string, string>>): Promise<Router> {
  const loaded = await loadConfig({ file: null, env, flags: {} });
  return await buildRouter({ ...loaded, home: null, database: ":memory:", workspace: "/w" }, { addresses: [] });
}

Deno.test("buildRouter() says what to set where nothing is set", async () => {
  await assert.rejects(routerOf({}), (error) => {
    assert.ok(error instanceof ConfigError);
    for (const name of ["VIS_BASE_URL", "VIS_API_KEY", "VIS_MODEL", "vis demo"]) {
      assert.ok(error.message.includes(name));
    }
    return true;
  });
  await assert.rejects(routerOf({ VIS_API_KEY: "k" }), /^ConfigError: No model is set/);
  await assert.rejects(routerOf({ VIS_PROVIDER: "acme" }), /^ConfigError: Cannot use provider: acme/);
});

Deno.test("buildRouter() takes a base URL or a key for an OpenAI-compatible server", async () => {
  for (const env of [{ VIS_BASE_URL: "http://127.0.0.1:1/v1" }, { VIS_API_KEY: "k" }, { OPENAI_API_KEY: "k" }]) {
    const { provider, model } = (await routerOf({ ...env, VIS_MODEL: "m" })).current();
    assert.deepEqual([provider.name, model], ["openai", "m"]);
  }
});

Deno.test("buildRouter() plays the demo without a key, only when it is named", async () => {
  const { provider, model } = (await routerOf({ VIS_PROVIDER: "demo" })).current();
  assert.deepEqual([provider.name, model], ["demo", provider.defaultModel]);
});
