import assert from "node:assert/strict";
import { loadModelData } from "../../../src/providers/models/model_data.ts";
import { PRESETS } from "../../../src/providers/models/presets.ts";

Deno.test("PRESETS name what a request needs", () => {
  for (const [name, preset] of Object.entries(PRESETS)) {
    const { protocol, hostname, search, pathname } = new URL(preset.baseUrl);
    const local = preset.localPort !== undefined;
    assert.equal(protocol, local ? "http:" : "https:", name);
    assert.equal(hostname === "127.0.0.1", local, name);
    assert.deepEqual([search, pathname.endsWith("/") && pathname !== "/"], ["", false], name);
    if (preset.byKey) assert.ok(preset.keyNames.length > 0 && preset.key === "required", name);
    assert.match(name, /^[a-z][a-z-]*$/);
  }
});

Deno.test("PRESETS take no variable that serves other ends, unless the provider is named", () => {
  const names = Object.values(PRESETS).filter(({ byKey }) => byKey).flatMap(({ keyNames }) => keyNames);
  assert.equal(new Set(names).size, names.length, "one variable chooses one provider");
  for (const shared of ["GITHUB_TOKEN", "GH_TOKEN"]) assert.equal(names.includes(shared), false);
});

Deno.test("PRESETS have default models that their data knows", async () => {
  for (const [name, { data, defaultModel }] of Object.entries(PRESETS)) {
    if (data === null || defaultModel === null || name === "alibaba") continue;
    assert.ok((await loadModelData(data)).find(defaultModel), `${name}: ${defaultModel}`);
  }
});
