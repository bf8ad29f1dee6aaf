import { realmFile, withModules } from "../../scripts/generate/extensions.ts";
import { loadShipped, realmScripts, type ShippedIndex, withScripts } from "../../src/extension/loader.ts";
import { type Extension, validate } from "../../src/extension/mod.ts";
import { ExtensionRegistry } from "../../src/extension/registry.ts";
import { REALM_SCRIPTS } from "../../src/extension/validate.ts";
import { realmModuleReader } from "../../src/sandbox/modules/modules.ts";
import { withFolder } from "../helpers/with_folder.ts";
import { manifestOf, moduleOf, optionsIn, write } from "./_folders.ts";
import { recordingLog, sample, VIEW } from "./_sample.ts";
import { join } from "node:path";
import assert from "node:assert/strict";

const of = (name: string, requires: readonly string[] = []) => () =>
  Promise.resolve({ default: sample({ namespace: `test.${name}`, requires }) });
const broken = () => Promise.reject(new Error("Module is gone"));

async function load(index: ShippedIndex) {
  const { log, entries } = recordingLog();
  const report = await loadShipped(index, { log });
  return { loaded: report.loaded.map(({ namespace }) => namespace), skipped: report.skipped, entries };
}

Deno.test("loadShipped() loads all, in their order", async () => {
  assert.deepEqual((await load({ a: of("a"), b: of("b") })).loaded, ["test.a", "test.b"]);
});

Deno.test("loadShipped() skips an extension that fails, and its dependents, with the reason", async () => {
  const { loaded, skipped, entries } = await load({
    a: broken,
    b: of("b", ["test.a"]),
    c: of("c", ["test.b"]),
    d: of("d"),
  });
  assert.deepEqual(loaded, ["test.d"]);
  assert.deepEqual(skipped.map(({ name }) => name), ["a", "b", "c"]);
  assert.equal(skipped[0]?.reason, "Cannot load a: Module is gone");
  assert.match(skipped[2]?.reason ?? "", /Cannot load c: .*test\.c → test\.b → test\.a/);
  assert.equal(entries.filter(({ level }) => level === "error").length, 3);
});

Deno.test("loadShipped() skips a circle and continues", async () => {
  const { loaded, skipped } = await load({ a: of("a", ["test.b"]), b: of("b", ["test.a"]), c: of("c") });
  assert.deepEqual(loaded, ["test.c"]);
  assert.match(
    skipped[0]?.reason ?? "",
    /^Cannot load a: its requirements form the circle test\.a → test\.b → test\.a/,
  );
});

Deno.test("loadShipped() skips an invalid extension and other modules", async () => {
  const odd = { default: { namespace: "x" } as unknown as Extension };
  const empty = {} as { default: Extension };
  const { loaded, skipped } = await load({
    odd: () => Promise.resolve(odd),
    empty: () => Promise.resolve(empty),
    a: of("a"),
  });
  assert.deepEqual(loaded, ["test.a"]);
  assert.match(skipped[0]?.reason ?? "", /^Cannot use extension x: alias is missing/);
  assert.equal(skipped[1]?.name, "empty");
  assert.match(skipped[1]?.reason ?? "", /^Cannot use extension /);
});

const { log } = recordingLog();
const read = realmModuleReader();
const named = (name: string, fields: Partial<Extension> = {}) =>
  validate(sample({ namespace: `test.${name}`, ...fields }));
const scripted = (name: string, modules: Readonly<Record<string, string>>) =>
  withScripts(named(name, { modules }), { textOf: () => "export const a = 1", read });

Deno.test("withScripts() names extension and module of a file that is absent or cannot be one", () => {
  const extension = named("a", { modules: { stats: "./stats.ts" } });
  assert.throws(() => withScripts(extension, { textOf: () => null, read }), {
    message:
      "Cannot use extension test.a: modules.stats is ./stats.ts, which does not exist in its folder; correct the path",
  });
  assert.throws(() => withScripts(extension, { textOf: () => 'import "node:fs"; export const a = 1', read }), {
    message: /extension test\.a: Vis cannot load its module stats \(\.\/stats\.ts\), because it imports "node:fs"/,
  });
});

Deno.test("register() refuses modules that were not read, and one of no path of the author's own", () => {
  const registry = new ExtensionRegistry({ log });
  const bare = sample({ namespace: "test.a", modules: { stats: "./stats.ts" } });
  assert.throws(() => registry.register(bare), {
    message:
      "Cannot register extension test.a: Vis has not read the file of modules.stats; load the folder of the extension with env.load",
  });
  assert.throws(() => registry.registerFor("env-1", bare), /Vis has not read the file of modules\.stats/);
  assert.doesNotThrow(() => registry.register(realmScripts(validate(bare), { stats: "1" })));
});

Deno.test("register() refuses a name twice: module and module, module and alias, alias and module", async () => {
  const registry = new ExtensionRegistry({ log });
  registry.register(scripted("a", { stats: "./stats.ts" }));
  const refused = (extension: Extension, expected: RegExp) =>
    assert.throws(() => registry.register(extension), { message: expected });
  refused(scripted("b", { stats: "./other.ts" }), /its module stats belongs to extension test\.a/);
  refused(scripted("b", { a: "./other.ts" }), /its module a belongs to extension test\.a/);
  refused(
    named("b", { alias: { ns: "vis.ext.b", alias: "stats" } }),
    /test\.b: its alias stats belongs to extension test\.a/,
  );
  registry.register(scripted("a", { stats: "./again.ts" })); // An extension may replace its own module.
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

Deno.test("loadShipped() reads modules of a folder next to the entry, from the hashed bytes", () =>
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
    assert.match(
      (await load()).skipped[0]?.reason ?? "",
      /test\.a: Vis cannot load its module stats \(\.\/realm\/stats\.ts\), because it waits at its top level/,
    );
    await Deno.remove(join(path, "src/realm/stats.ts"));
    assert.match(
      (await load()).skipped[0]?.reason ?? "",
      /Cannot use extension test\.a: modules\.stats is \.\/realm\/stats\.ts, which does not exist in its folder/,
    );
  }));

Deno.test("loadShipped() loads an extension that is off by default if the user named its folder", () =>
  withFolder(async (folder) => {
    const path = await write(join(folder, "x"), {
      "vis.json": manifestOf(),
      "mod.ts": moduleOf("onByDefault: false,"),
    });
    const load = async (place: "home" | "path", config: object = {}) =>
      (await loadShipped({}, {
        ...{ log, folders: [{ place, path }], folderOptions: optionsIn(join(folder, "home")) },
        config: { "test.a": config },
      })).loaded.length;
    assert.deepEqual([await load("home"), await load("path"), await load("path", { enabled: false })], [0, 1, 0]);
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

Deno.test("the generator makes scripts of the files next to a shipped extension", () =>
  withFolder(async (folder) => {
    await write(folder, { "stats.ts": "export const a: number = 1;" });
    const made = withModules(sample({ modules: { stats: "./stats.ts" } }), new URL(`file://${folder}/`));
    assert.match(made[REALM_SCRIPTS]?.["stats"] ?? "", /const a\s*= 1/);
  }));

Deno.test("extensions/realm.ts is the output of the generator", async () => {
  assert.equal(await Deno.readTextFile(new URL("../../extensions/realm.ts", import.meta.url)), await realmFile());
});
