import assert from "node:assert/strict";
import { configJsonSchema, settingList, settingOf } from "../../src/config/setting_list.ts";
import { PROJECT_KEYS } from "../../src/config/refused_keys.ts";

Deno.test("settingList() has every key with its sentence, its type and its default", () => {
  const all = settingList();
  const find = (key: string) => all.find((one) => one.key === key);
  assert.ok(all.length > 60);
  for (const { key, doc } of all) assert.match(doc, /^[A-Z].*[^.]$/, key);
  assert.deepEqual([find("budget.iterations")?.type, find("budget.iterations")?.default], ["integer", 4]);
  assert.deepEqual(find("localServers")?.choices, [true, false]);
  assert.equal(find("extensions.deny")?.isList, true);
  assert.ok(find("providers[].models[].price.input"));
});

Deno.test("settingOf() finds keys in lists, in what has any key, and above others; nothing else", () => {
  for (const key of ["model", "budget", "providers.0.name", "providers.3.headers.X-Team", "extensions.config.a.b.c"]) {
    assert.ok(settingOf(key), key);
  }
  for (
    const key of ["", "modle", "budget.", "model.x", "providers.name", "__proto__", "constructor", "budget.toString"]
  ) {
    assert.equal(settingOf(key), null, key);
  }
});

Deno.test("settingOf() knows every key that a workspace may set", () => {
  for (const key of PROJECT_KEYS) assert.ok(settingOf(key), key);
  assert.match(JSON.stringify(configJsonSchema()), /"\$schema"/);
});
