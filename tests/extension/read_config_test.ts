import { validate } from "../../src/extension/mod.ts";
import { readExtensionConfig } from "../../src/extension/read_config.ts";
import { sample } from "./_sample.ts";
import { z } from "zod";
import assert from "node:assert/strict";
import mcp from "../../extensions/mcp/mod.ts";

const withSecrets = (text: string): string => text.replaceAll("${KEY}", "secret");
const SERVER = { destructive: false, disabled: false, timeoutMs: 60_000, startMs: 30_000 };
const STDIO = { ...SERVER, args: [], env: {}, network: false, read: [], write: [] };

Deno.test("readConfig() fills secrets into settings that are marked, and into nothing else", () => {
  const servers = {
    a: { command: "${KEY}", args: ["${KEY}"], env: { A: "x ${KEY} ${NONE}" } },
    b: { url: "https://x.example/${KEY}", headers: { authorization: "Bearer ${KEY}" } },
  };
  assert.deepEqual(readExtensionConfig(validate(mcp), { servers }, { withSecrets }), {
    servers: {
      a: { ...STDIO, command: "${KEY}", args: ["${KEY}"], env: { A: "x secret ${NONE}" } },
      b: { ...SERVER, url: "https://x.example/${KEY}", headers: { authorization: "Bearer secret" } },
    },
    variables: {},
  });
  const config = z.object({ token: z.string().meta({ secrets: true }), list: z.array(z.string()), n: z.number() });
  const extension = validate(sample({ config }));
  const section = { token: "${KEY}", list: ["${KEY}"], n: 1 };
  assert.deepEqual(readExtensionConfig(extension, section, { withSecrets }), { ...section, token: "secret" });
  assert.deepEqual(readExtensionConfig(extension, section), section);
});

Deno.test("readConfig() takes a client's offers if the settings request them; the user's own come first", () => {
  const own = { servers: { a: { command: "own" }, b: { command: "b" } } };
  const mcpServers = { a: { command: "theirs" }, c: { command: "c", env: { A: "${KEY}" } } };
  const offered = { mcpServers, others: { x: 1 } };
  assert.deepEqual(readExtensionConfig(validate(mcp), own, { offered, withSecrets }), {
    servers: {
      a: { ...STDIO, command: "own" },
      b: { ...STDIO, command: "b" },
      c: { ...STDIO, command: "c", env: { A: "secret" } },
    },
    variables: {},
  });
  const none = readExtensionConfig(validate(mcp), undefined, { offered }) as typeof own;
  assert.deepEqual(Object.keys(none.servers), ["a", "c"]);
  assert.equal(readExtensionConfig(validate(sample()), undefined, { offered }), undefined);
});

Deno.test("readConfig() names the key of a section that is wrong", () => {
  for (const wrong of [[], "x", { servers: ["${KEY}"] }, { servers: { a: "${KEY}" } }]) {
    assert.throws(
      () => readExtensionConfig(validate(mcp), wrong, { withSecrets }),
      /^SettingError: Cannot use extension vis\.mcp: extensions\.config\.vis\.mcp/,
    );
  }
});
