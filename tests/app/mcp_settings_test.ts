import assert from "node:assert/strict";
import { mcpSettings } from "../../src/app/mcp_settings.ts";
import { DEFAULT_CONFIG } from "../../src/config/defaults.ts";

function settingsOf(servers: object, home: string | null = null) {
  const extensions = { ...DEFAULT_CONFIG.extensions, config: { "vis.mcp": { servers } } };
  const variable = (name: string): string | null => name === "KEY" ? "of the environment" : null;
  return { config: { ...DEFAULT_CONFIG, extensions }, home, variable };
}

Deno.test("mcpSettings() fills secrets into headers and variables, and into nothing else", async () => {
  const plain = settingsOf({ a: { command: "x", args: ["$KEY"] } });
  assert.equal(await mcpSettings(plain), plain);
  const home = await Deno.makeTempDir({ prefix: "vis-mcp-settings-" });
  try {
    await Deno.writeTextFile(
      `${home}/auth.json`,
      JSON.stringify({ version: 1, providers: { hub: { type: "key", key: "of the file" } } }),
      {
        mode: 0o600,
      },
    );
    const { config } = await mcpSettings(settingsOf({
      a: { command: "${KEY}", args: ["${KEY}"], env: { A: "x ${KEY} ${NONE}" } },
      b: { url: "https://x.example/${KEY}", headers: { authorization: "Bearer ${auth:hub}", other: "${auth:none}" } },
    }, home));
    assert.deepEqual(config.extensions.config["vis.mcp"], {
      servers: {
        a: { command: "${KEY}", args: ["${KEY}"], env: { A: "x of the environment ${NONE}" } },
        b: { url: "https://x.example/${KEY}", headers: { authorization: "Bearer of the file", other: "${auth:none}" } },
      },
    });
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});

Deno.test("mcpSettings() leaves a section that is wrong to the extension, which says so", async () => {
  for (const wrong of [null, [], "x", { servers: ["${KEY}"] }, { servers: { a: "${KEY}" } }]) {
    const extensions = { ...DEFAULT_CONFIG.extensions, config: { "vis.mcp": wrong } };
    await mcpSettings({ config: { ...DEFAULT_CONFIG, extensions }, home: null, variable: () => null });
  }
});

Deno.test("mcpSettings() adds servers that a caller names to those of the user, whose own come first", async () => {
  const own = settingsOf({ a: { command: "own" }, b: { command: "b" } });
  const servers = { a: { command: "theirs" }, c: { command: "c", env: { A: "${KEY}" } } };
  const { config } = await mcpSettings(own, servers);
  assert.deepEqual(config.extensions.config["vis.mcp"], {
    servers: { a: { command: "own" }, c: { command: "c", env: { A: "of the environment" } }, b: { command: "b" } },
  });
  assert.equal(await mcpSettings(own, {}), own);
  const none = { ...own, config: DEFAULT_CONFIG };
  assert.deepEqual((await mcpSettings(none, { d: { command: "d" } })).config.extensions.config["vis.mcp"], {
    servers: { d: { command: "d" } },
  });
  assert.equal(await mcpSettings(none), none);
});
