import assert from "node:assert/strict";
import { join } from "node:path";
import { withModules } from "../../scripts/generate/extensions.ts";
import { loadShipped } from "../../src/extension/loading/loader.ts";
import { REALM_SCRIPTS, realmScripts, withScripts } from "../../src/extension/realm_scripts.ts";
import { ExtensionRegistry } from "../../src/extension/registry/registry.ts";
import { type Extension, validate } from "../../src/extension/spec.ts";
import { realmModuleReader } from "../../src/sandbox/modules/realm_module.ts";
import { manifestOf, moduleOf, optionsIn, write } from "./loading/_folders.ts";
import { recordingLog, sample, VIEW } from "./_sample.ts";
import { withFolder } from "../helpers/with_folder.ts";

const { log } = recordingLog();
const read = realmModuleReader();
const named = (name: string, fields: Partial<Extension> = {}) =>
  validate(sample({ namespace: `test.${name}`, ...fields }));
const scripted = (name: string, modules: Readonly<Record<string, string>>) =>
  withScripts(named(name, { modules }), { textOf: () => "export const a = 1", read });

Deno.test("withScripts() names extension and module of a file that is absent or cannot be one", () => {
  const extension = named("a", { modules: { stats: "./stats.ts" } });
  assert.throws(() => withScripts(extension, { textOf: () => null, read }), {
    message: "Cannot use extension test.a: modules.stats: ./stats.ts is not in its folder",
  });
  assert.throws(() => withScripts(extension, { textOf: () => 'import "node:fs"; export const a = 1', read }), {
    message: /extension test\.a: modules\.stats: Cannot use module \.\/stats\.ts: it imports "node:fs"/,
  });
});

Deno.test("register() refuses modules that were not read, and one of no path of the author's own", () => {
  const registry = new ExtensionRegistry({ log });
  const bare = sample({ namespace: "test.a", modules: { stats: "./stats.ts" } });
  assert.throws(() => registry.register(bare), {
    message: "Cannot register extension test.a: modules.stats is a file, load its folder (env.load)",
  });
  assert.throws(() => registry.registerFor("env-1", bare), /modules\.stats is a file/);
  assert.doesNotThrow(() => registry.register(realmScripts(validate(bare), { stats: "1" })));
});

Deno.test("register() refuses a name twice: module and module, module and alias, alias and module", async () => {
  const registry = new ExtensionRegistry({ log });
  registry.register(scripted("a", { stats: "./stats.ts" }));
  const refused = (extension: Extension, expected: RegExp) =>
    assert.throws(() => registry.register(extension), { message: expected });
  refused(scripted("b", { stats: "./other.ts" }), /extension test\.b: module stats belongs to test\.a/);
  refused(scripted("b", { a: "./other.ts" }), /extension test\.b: module a belongs to test\.a/);
  refused(named("b", { alias: { ns: "vis.ext.b", alias: "stats" } }), /test\.b: alias stats belongs to test\.a/);
  registry.register(scripted("a", { stats: "./again.ts" })); // its own may be replaced
  assert.deepEqual(Object.keys((await registry.activate(VIEW)).modules), ["stats"]);
  registry.register(named("a"));
  registry.register(scripted("b", { stats: "./other.ts" }));
});

Deno.test("activate() gives the modules of active extensions only", async () => {
  const registry = new ExtensionRegistry({ log });
  registry.register({ ...scripted("a", { one: "./a.ts" }), activate: () => false });
  registry.register(scripted("b", { two: "./b.ts" }));
  const { modules } = await registry.activate(VIEW);
  assert.deepEqual(Object.keys(modules), ["two"]);
  assert.match(modules["two"] ?? "", /^\(function \(\) \{ "use strict";/);
});

Deno.test("loadShipped() reads modules of a folder beside the entry, out of what was hashed", () =>
  withFolder(async (folder) => {
    const path = await write(join(folder, "x"), {
      "vis.json": manifestOf({ entry: "src/mod.ts" }),
      "src/mod.ts": moduleOf('modules: { stats: "./realm/stats.ts" },'),
      "src/realm/stats.ts": "export const twice = (n: number): number => n * 2;",
    });
    const folderOptions = optionsIn(join(folder, "home"));
    const load = () => loadShipped({}, { log, folders: [{ place: "home", path }], folderOptions });
    const { loaded: [extension], skipped } = await load();
    assert.deepEqual(skipped, []);
    assert.match(extension?.[REALM_SCRIPTS]?.["stats"] ?? "", /const twice = \(n\s*\) *=> n \* 2/);
    await Deno.writeTextFile(join(path, "src/realm/stats.ts"), "export const a = await 1;");
    assert.match((await load()).skipped[0]?.reason ?? "", /test\.a: modules\.stats: .*it waits at its top level/);
    await Deno.remove(join(path, "src/realm/stats.ts"));
    assert.match((await load()).skipped[0]?.reason ?? "", /modules\.stats: \.\/realm\/stats\.ts is not in its folder/);
  }));

Deno.test("loadShipped() gives shipped extensions the scripts that were made at build time", async () => {
  const extension = sample({ namespace: "test.a", modules: { stats: "./stats.ts" } });
  const index = { a: () => Promise.resolve({ default: extension }) };
  const { loaded } = await loadShipped(index, { log, realm: { a: { stats: "1" } } });
  assert.deepEqual(loaded[0]?.[REALM_SCRIPTS], { stats: "1" });
  const registry = new ExtensionRegistry({ log });
  registry.register(loaded[0] ?? assert.fail());
  assert.deepEqual((await registry.activate(VIEW)).modules, { stats: "1" });
});

Deno.test("the generator makes scripts of the files beside a shipped extension", () =>
  withFolder(async (folder) => {
    await write(folder, { "stats.ts": "export const a: number = 1;" });
    const made = withModules(sample({ modules: { stats: "./stats.ts" } }), new URL(`file://${folder}/`));
    assert.match(made[REALM_SCRIPTS]?.["stats"] ?? "", /const a\s*= 1/);
  }));
