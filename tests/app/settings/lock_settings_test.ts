import assert from "node:assert/strict";
import * as index from "../../../extensions/index.ts";
import { lockSettings } from "../../../src/app/settings/settings.ts";
import { DEFAULT_CONFIG } from "../../../src/config/defaults.ts";

Deno.test("lockSettings() requires every wall, and loads only listed extensions that need not be switched on", async () => {
  const { config: open } = await lockSettings({ config: DEFAULT_CONFIG }, index);
  assert.deepEqual(open.sandbox.require, ["realm", "permissions", "process", "kernel"]);
  assert.deepEqual(open.extensions.allow, [], "what lists nothing allows nothing");
  const { extensions, sandbox, server } = DEFAULT_CONFIG;
  const { config, neverLocked } = await lockSettings({
    config: {
      ...DEFAULT_CONFIG,
      sandbox: { ...sandbox, require: ["realm"] },
      extensions: { ...extensions, allow: ["vis.fs", "shell", "vis.shell"] },
      server: { ...server, quota: { queriesPerDay: 7, costUsdPerDay: null, concurrent: 99 } },
    },
  }, index);
  assert.deepEqual(config.sandbox.require.length, 4);
  assert.deepEqual(config.extensions.allow, ["vis.fs"]);
  assert.deepEqual(neverLocked, ["shell", "vis.shell"]);
  assert.deepEqual(config.server.quota, { queriesPerDay: 7, costUsdPerDay: 20, concurrent: 99 });
});
