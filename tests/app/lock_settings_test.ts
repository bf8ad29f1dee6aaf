import assert from "node:assert/strict";
import { lockSettings } from "../../src/app/lock_settings.ts";
import { DEFAULT_CONFIG } from "../../src/config/defaults.ts";

Deno.test("lockSettings() asks for every wall, takes commands away and loads what is listed alone", () => {
  const open = lockSettings({ config: DEFAULT_CONFIG }).config;
  assert.deepEqual(open.sandbox.require, ["realm", "permissions", "process", "kernel"]);
  assert.deepEqual(open.extensions.allow, [], "what lists nothing allows nothing");
  const { shell, extensions, sandbox, server } = DEFAULT_CONFIG;
  const { config } = lockSettings({
    config: {
      ...DEFAULT_CONFIG,
      shell: { ...shell, enabled: true, network: true },
      sandbox: { ...sandbox, require: ["realm"] },
      extensions: { ...extensions, allow: ["vis.fs", "shell", "vis.shell"] },
      server: { ...server, quota: { queriesPerDay: 7, costUsdPerDay: null, concurrent: 99 } },
    },
  });
  assert.deepEqual(config.sandbox.require.length, 4);
  assert.deepEqual([config.shell.enabled, config.shell.network], [false, false]);
  assert.deepEqual(config.extensions.allow, ["vis.fs"]);
  assert.deepEqual(config.server.quota, { queriesPerDay: 7, costUsdPerDay: 20, concurrent: 99 });
});
