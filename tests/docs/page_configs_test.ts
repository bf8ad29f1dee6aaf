import assert from "node:assert/strict";
import { join } from "node:path";
import * as index from "../../extensions/index.ts";
import { resolveProvider } from "../../src/app/providers/choose_providers.ts";
import { settingsSectionsOf } from "../../src/app/settings/settings.ts";
import { parseJsonc } from "../../src/config/jsonc.ts";
import { loadConfig } from "../../src/config/load.ts";
import { ConfigSchema } from "../../src/config/schema.ts";
import { messageOf } from "../../src/domain/errors.ts";
import { Credentials } from "../../src/providers/credentials.ts";
import { filesOf } from "../architecture/import_graph.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

Deno.test("Vis accepts the configurations of the pages, with their providers", async () => {
  const sections = await settingsSectionsOf(index);
  const keys = [...Object.keys(ConfigSchema.shape), ...Object.keys(await sections.atTop())];
  const faultOf = async (text: string): Promise<string | null> => {
    try {
      const settings = await loadConfig({ file: { path: "config.jsonc", text }, env: {}, flags: {}, sections });
      for (const { name } of settings.config.providers) {
        await resolveProvider(name, { settings, credentials: new Credentials(null), sole: false });
      }
      for (const { namespace } of sections.all) {
        await sections.check(`extensions.config.${namespace}`, { values: sections.merged(settings.layers) });
      }
      return null;
    } catch (error) {
      return messageOf(error);
    }
  };
  assert.match(await faultOf('{ "providers": [{ "name": "x", "models": [{ "name": "m" }] }] }') ?? "", /no address/);
  assert.match(await faultOf('{ "web": { "hosts": 1 } }') ?? "", /hosts/);
  const found: string[] = [];
  let seen = 0;
  for (
    const page of (await filesOf(ROOT, "docs/")).filter((path) => /\.md$/.test(path) && !/\/generated\//.test(path))
  ) {
    const markdown = await Deno.readTextFile(join(ROOT, page));
    for (const [, code = ""] of markdown.matchAll(/^ *```jsonc?\n([^]*?)^ *```$/gm)) {
      const text = /^\s*[{[]/.test(code) ? code : `{\n${code}\n}`;
      const values = Object(parseJsonc({ path: page, text }));
      const isManifest = Array.isArray(values.extensions);
      if (isManifest || Array.isArray(values) || !Object.keys(values).every((key) => keys.includes(key))) continue;
      seen++;
      const fault = await faultOf(text);
      if (fault !== null) found.push(`${page}: ${fault}: ${code.slice(0, 60)}`);
    }
  }
  assert.ok(seen >= 10, `only ${seen} configurations are found`);
  assert.deepEqual(found, []);
});
