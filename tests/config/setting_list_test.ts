import assert from "node:assert/strict";
import { settingsSectionsOf } from "../../src/app/settings/settings.ts";
import { configJsonSchema, settingList, settingOf } from "../../src/config/setting_list.ts";
import * as index from "../../extensions/index.ts";

const sections = await settingsSectionsOf(index);
const schema = await configJsonSchema(sections);
const of = (key: string) => settingOf(sections.path(key), schema);

Deno.test("settingList() has every key with its sentence, its type and its default", () => {
  const all = settingList(schema);
  const find = (key: string) => all.find((one) => one.key === key);
  assert.ok(all.length > 60);
  for (const { key, doc } of all) assert.match(doc, /^[A-Z].*[^.]$/, key);
  assert.deepEqual([find("budget.iterations")?.type, find("budget.iterations")?.default], ["integer", 4]);
  assert.deepEqual(find("localServers")?.choices, [true, false]);
  assert.equal(find("extensions.deny")?.isList, true);
  assert.ok(find("providers[].models[].price.input"));
});

Deno.test("settingOf() finds keys in lists, in records of any keys, and above others, and no other keys", () => {
  for (const key of ["model", "budget", "providers.0.name", "providers.3.headers.X-Team", "extensions.config.a.b.c"]) {
    assert.ok(of(key), key);
  }
  for (
    const key of ["", "modle", "budget.", "model.x", "providers.name", "__proto__", "constructor", "budget.toString"]
  ) {
    assert.equal(of(key), null, key);
  }
});

Deno.test("settingOf() knows every key that a workspace may set", () => {
  assert.ok(sections.projectKeys.includes("shell.deny"));
  for (const key of sections.projectKeys) assert.ok(of(key), key);
  assert.match(JSON.stringify(schema), /"\$schema"/);
});

Deno.test("configJsonSchema() has the sections of extensions in both places, without the marks that are for Vis", () => {
  for (
    const key of ["shell.enabled", "extensions.config.vis.shell.enabled", "extensions.config.vis.mcp.servers.a.url"]
  ) {
    assert.ok(of(key), key);
  }
  assert.equal(of("shell.none"), null);
  assert.equal(of("mcp.servers"), null, "a section without a name at the top");
  assert.ok(of("secrets"), "a setting of Vis itself, which has the name of a mark");
  const text = JSON.stringify(schema, (key, value) => key === "properties" ? { ...value, secrets: undefined } : value);
  assert.doesNotMatch(text, /"(?:project|programs|secrets|offered)":/);
});
