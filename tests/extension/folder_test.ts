import { discoverFolders } from "../../src/extension/discover.ts";
import { readExtensionFolder } from "../../src/extension/folder.ts";
import { loadShipped } from "../../src/extension/loader.ts";
import { FakeClock } from "../helpers/fake_clock.ts";
import { withFolder } from "../helpers/with_folder.ts";
import { manifestOf, moduleOf, optionsIn, write } from "./_folders.ts";
import { recordingLog, sample } from "./_sample.ts";
import { join } from "node:path";
import assert from "node:assert/strict";

const { log } = recordingLog();

const REFUSED: readonly (readonly [string, Readonly<Record<string, string>>, RegExp])[] = [
  ["no manifest", { "mod.ts": "" }, /has no vis\.json/],
  [
    "a manifest that is no JSON",
    { "vis.json": "{" },
    /Cannot use extension folder .*: vis\.json is not valid JSON \(.*\); correct the file$/,
  ],
  ["a manifest that is a list", { "vis.json": "[]" }, /vis\.json is not valid, because the file must be an object$/],
  ["a huge manifest", { "vis.json": " ".repeat(70_000) }, /vis\.json has 70000 bytes, and the limit is 65536/],
  ["a path that climbs", { "vis.json": manifestOf({ entry: "../../mod.ts" }) }, /extensions\.0\.entry must be a path/],
  ["an absolute path", { "vis.json": manifestOf({ entry: "/etc/x.ts" }) }, /extensions\.0\.entry must be a path/],
  ["an address", { "vis.json": manifestOf({ entry: "https://a.example/mod.ts" }) }, /entry must be a path/],
  ["a backslash", { "vis.json": manifestOf({ entry: "..\\mod.ts" }) }, /entry must be a path/],
  ["an entry that is no code", { "vis.json": manifestOf({ entry: "mod.wasm" }) }, /must end in/],
  [
    "an entry that is not there",
    { "vis.json": manifestOf() },
    /vis\.json names mod\.ts, which does not exist in this folder; correct the entry/,
  ],
  ["a namespace that is a path", { "vis.json": manifestOf({ namespace: "../x" }) }, /namespace must look like/],
  ["a version that is a number", { "vis.json": manifestOf({ version: 1 }) }, /extensions\.0\.version must be text$/],
  ["requires of a wrong type", { "vis.json": manifestOf({ requires: { a: 1 } }) }, /extensions\.0\.requires/],
  ["a grant that does not exist", { "vis.json": manifestOf({ allow: { run: ["ls"] } }) }, /extensions\.0\.allow/],
  ["an unknown key", { "vis.json": manifestOf({ postinstall: "x" }) }, /extensions\.0 has the unknown key postinstall/],
  ["no extension", { "vis.json": '{"extensions":[]}' }, /names no extension/],
];
for (const [what, files, expected] of REFUSED) {
  Deno.test(`readExtensionFolder() refuses ${what}`, () =>
    withFolder(async (folder) => {
      await write(folder, files);
      await assert.rejects(readExtensionFolder(folder), expected);
    }));
}

Deno.test("readExtensionFolder() refuses links, wherever they lead, and files that are too large", () =>
  withFolder(async (folder) => {
    await write(folder, { "x/vis.json": manifestOf(), "x/mod.ts": moduleOf(), "real.ts": "" });
    await Deno.symlink("/etc/passwd", join(folder, "x/data.txt"));
    await assert.rejects(readExtensionFolder(join(folder, "x")), /data\.txt is a link/);
    await Deno.remove(join(folder, "x/data.txt"));
    await Deno.symlink(join(folder, "x"), join(folder, "y"));
    await assert.rejects(readExtensionFolder(join(folder, "y")), /it is a link; use the folder that the link names$/);
    const file = await Deno.open(join(folder, "x/huge.bin"), { create: true, write: true });
    await file.truncate(40 * 1024 * 1024);
    file.close();
    await assert.rejects(readExtensionFolder(join(folder, "x")), /it is larger than 32 MiB, the limit/);
    await Deno.remove(join(folder, "x/huge.bin"));
    for (let at = 0; at < 2_000; at++) Deno.writeTextFileSync(join(folder, `x/${at}`), "");
    await assert.rejects(readExtensionFolder(join(folder, "x")), /more than 2000 files and folders/);
    for (let at = 0; at < 2_000; at++) Deno.removeSync(join(folder, `x/${at}`));
    await Deno.mkdir(join(folder, "x", "d/".repeat(20)), { recursive: true });
    await assert.rejects(
      readExtensionFolder(join(folder, "x")),
      /its folders are nested more than 16 levels deep, the limit/,
    );
  }));

Deno.test("readExtensionFolder() changes its hash with any byte and any path, but not with the place", () =>
  withFolder(async (folder) => {
    const files = { "vis.json": manifestOf(), "mod.ts": moduleOf(), "a": "bc" };
    const hash = async (name: string, more: Readonly<Record<string, string>>) =>
      (await readExtensionFolder(await write(join(folder, name), { ...files, ...more }))).hash;
    const first = await hash("one", {});
    assert.equal(await hash("two", {}), first);
    assert.equal(await hash("git", { ".git/config": "x" }), first);
    assert.notEqual(await hash("three", { "mod.ts": `${moduleOf()} ` }), first);
    assert.notEqual(await hash("four", { "new": "" }), first);
    await Deno.remove(join(folder, "two/a"));
    assert.notEqual(await hash("two", { "ab": "c", "a": "" }), first);
  }));

Deno.test("discoverFolders() searches the user's own, the project's, then the named folders", () =>
  withFolder(async (folder) => {
    await write(folder, {
      "home/extensions/b/vis.json": "",
      "home/extensions/a/x": "",
      "home/extensions/.new/x": "",
      "home/extensions/file": "",
      "ws/.vis/extensions/c/x": "",
    });
    const found = await discoverFolders({ home: join(folder, "home"), workspace: join(folder, "ws"), paths: ["/p"] });
    assert.deepEqual(found.map(({ place, path }) => `${place} ${path.replace(folder, "")}`), [
      "home /home/extensions/a",
      "home /home/extensions/b",
      "project /ws/.vis/extensions/c",
      "path /p",
    ]);
    assert.deepEqual(await discoverFolders({ home: null, workspace: join(folder, "nowhere") }), []);
  }));

Deno.test("discoverFolders() reads a limited number of folders, and the loader reports that there are more", () =>
  withFolder(async (folder) => {
    const extensions = join(folder, "ws/.vis/extensions");
    for (let at = 0; at < 101; at++) await Deno.mkdir(join(extensions, `e${at}`), { recursive: true });
    const places = { home: null, workspace: join(folder, "ws") };
    const found = await discoverFolders(places);
    const fault = `${extensions} has more than 100 folders, the limit, so Vis omits some extensions; remove some`;
    assert.deepEqual([found.length, found.at(-1)], [101, { place: "project", path: extensions, fault }]);
    const { skipped } = await loadShipped({}, { log, folders: found.slice(-1) });
    assert.deepEqual(skipped.map(({ reason }) => reason), [`Cannot load extensions: ${fault}`]);
    for (let at = 0; at < 1_000; at++) await Deno.writeTextFile(join(extensions, `${at}`), "");
    assert.match(
      (await discoverFolders(places)).at(-1)?.fault ?? "",
      /.* has more than 1000 names, the limit, so Vis omits some extensions/,
    );
  }));

Deno.test("loadShipped() loads TypeScript of a folder, follows its imports, and loads the copy", () =>
  withFolder(async (folder) => {
    const path = await write(join(folder, "x"), {
      "vis.json": manifestOf({ entry: "src/mod.ts" }),
      "src/mod.ts": moduleOf(
        "",
        `import { deep } from "./deep/one.ts";\nimport data from "../data.json" with { type: "json" };
         import { sep } from "node:path";\nimport type { Nothing } from "lodash";
         enum Color { Red = 1 }\nif (deep + data.n + Color.Red !== 6 || !sep) throw new Error("no");
         const later = async () => (await import("./deep/one.ts")).deep;\nvoid later;
         const text = 'import "./not_there.ts"'; void text;`,
      ),
      "src/deep/one.ts":
        'import { defineExtension as d } from "@vis/extension"; void d; export const deep: number = 2;',
      "data.json": '{"n": 3}',
    });
    const folderOptions = optionsIn(join(folder, "home"));
    const { loaded, skipped } = await loadShipped({}, { log, folders: [{ place: "home", path }], folderOptions });
    assert.deepEqual(skipped, []);
    assert.deepEqual(loaded.map(({ namespace }) => namespace), ["test.a"]);
    await Deno.writeTextFile(join(path, "src/mod.ts"), "throw new Error('the folder again')");
    const copies = await Array.fromAsync(Deno.readDir(join(folder, "home/cache")));
    assert.equal(copies.length, 1);
  }));

Deno.test("loadShipped() skips a broken extension, gives the reason, and loads the others", () =>
  withFolder(async (folder) => {
    const broken: Readonly<Record<string, readonly [Readonly<Record<string, string>>, RegExp]>> = {
      a_syntax: [{ "mod.ts": "export default {" }, /Cannot load test\.a: Unexpected token, .* \(mod\.ts:1\)$/],
      b_throws: [{ "mod.ts": "\nthrow new Error('at load')" }, /at load \(mod\.ts:2\)$/],
      c_package: [
        { "mod.ts": moduleOf("", 'import _ from "lodash"; _();') },
        /^Cannot import lodash in mod\.ts: an.* modules and its own files; bundle packages into it/,
      ],
      d_url: [{ "mod.ts": moduleOf("", 'import _ from "https://x.example/a.js"; _();') }, /import https:\/\/x/],
      e_outside: [
        { "mod.ts": moduleOf("", 'import "../../x.ts";') },
        /Cannot import \.\.\/\.\.\/x\.ts in mod\.ts: the extension's folder has no such file/,
      ],
      f_nothing: [{ "mod.ts": "export const a = 1;" }, /Cannot use extension without a namespace/],
      g_version: [
        { "mod.ts": moduleOf('version: "2.0.0",') },
        /vis\.json gives version 1\.0\.0, but its module gives 2\.0\.0/,
      ],
      h_more: [
        { "mod.ts": moduleOf('globals: ["Deno.readFile"], allow: { read: ["/"] },') },
        /its module needs allow\.read \/, which vis\.json does not list/,
      ],
      i_requires: [
        { "mod.ts": moduleOf('requires: ["test.b"],') },
        /vis\.json gives requires nothing, but its module gives test\.b/,
      ],
    };
    for (const [name, [files]] of Object.entries(broken)) {
      await write(join(folder, name), { "vis.json": manifestOf(), ...files });
    }
    const needs = {
      "vis.json": manifestOf({ requires: ["test.gone"] }),
      "mod.ts": moduleOf('requires: ["test.gone"],'),
    };
    await write(join(folder, "j_needs"), needs);
    await write(join(folder, "z_good"), { "vis.json": manifestOf(), "mod.ts": moduleOf() });
    const names = [...Object.keys(broken), "z_good"];
    const folders = names.map((name) => ({ place: "home" as const, path: join(folder, name) }));
    const folderOptions = optionsIn(join(folder, "home"));
    const { loaded, skipped } = await loadShipped({}, { log, folders, folderOptions });
    assert.deepEqual(loaded.map(({ namespace }) => namespace), ["test.a"]);
    assert.equal(skipped.length, Object.keys(broken).length);
    for (const [at, [, expected]] of Object.values(broken).entries()) assert.match(skipped[at]?.reason ?? "", expected);
    const alone = [{ place: "home" as const, path: join(folder, "j_needs") }];
    const unmet = await loadShipped({}, { log, folders: alone, folderOptions });
    assert.match(
      unmet.skipped[0]?.reason ?? "",
      /Cannot load test\.a: a required extension is not loaded \(test\.a → test\.gone\); add test\.gone with vis extensions add FOLDER, or enable it in the settings/,
    );
  }));

Deno.test("loadShipped() runs a project's code only while just this content is trusted", () =>
  withFolder(async (folder) => {
    const mark = join(folder, "ran");
    const ran = () => Deno.stat(mark).then(() => true, () => false);
    const head = `await Deno.writeTextFile(${JSON.stringify(mark)}, "x");`;
    const path = await write(join(folder, "x"), { "vis.json": manifestOf(), "mod.ts": moduleOf("", head) });
    const folderOptions = optionsIn(join(folder, "home"));
    const folders = [{ place: "project" as const, path }];
    const load = () => loadShipped({}, { log, folders, folderOptions });
    assert.match((await load()).skipped[0]?.reason ?? "", /it is not trusted; review it with vis extensions trust/);
    assert.equal(await ran(), false);
    const { hash } = await readExtensionFolder(path);
    await folderOptions.trust.add({ path: join(folder, "elsewhere"), hash, namespaces: [], at: "" });
    assert.equal((await load()).loaded.length, 0); // Trust applies to a folder with its content.
    await folderOptions.trust.add({ path, hash, namespaces: ["test.a"], at: "" });
    assert.equal((await load()).loaded.length, 1);
    assert.equal(await ran(), true);
    await Deno.remove(mark);
    await Deno.writeTextFile(join(path, "other.txt"), "changed");
    assert.match((await load()).skipped[0]?.reason ?? "", /it is not trusted/);
    assert.equal(await ran(), false);
    assert.equal(await folderOptions.trust.remove(path), true);
  }));

Deno.test("loadShipped() allow loads exactly the listed ones, deny none of them, and no code of others runs", () =>
  withFolder(async (folder) => {
    const path = await write(join(folder, "x"), {
      "vis.json": manifestOf(),
      "mod.ts": moduleOf("", "globalThis.__ranDenied = true;"),
    });
    const base = { log, folders: [{ place: "home" as const, path }], folderOptions: optionsIn(join(folder, "home")) };
    const shipped = { one: () => Promise.resolve({ default: sample({ namespace: "test.one" }) }) };
    const names = async (options: object) =>
      (await loadShipped(shipped, { ...base, ...options })).loaded.map(({ namespace }) => namespace);
    assert.deepEqual(await names({ allow: ["test.one"] }), ["test.one"]);
    assert.deepEqual(await names({ deny: ["test.a", "one"] }), []);
    assert.equal(Reflect.get(globalThis, "__ranDenied"), undefined);
    assert.deepEqual(await names({ allow: ["test.a"] }), ["test.a"]);
    Reflect.deleteProperty(globalThis, "__ranDenied");
  }));

Deno.test("loadShipped() keeps the first of a namespace; a folder that was named replaces it; aliases do not clash", () =>
  withFolder(async (folder) => {
    const path = await write(join(folder, "x"), { "vis.json": manifestOf(), "mod.ts": moduleOf() });
    const folderOptions = optionsIn(join(folder, "home"));
    const load = (namespace: string, place: "home" | "path") =>
      loadShipped(
        { a: () => Promise.resolve({ default: sample({ namespace, alias: { ns: "vis.a", alias: "a" } }) }) },
        {
          log,
          folders: [{ place, path }],
          folderOptions,
        },
      );
    const kept = await load("test.a", "home");
    assert.deepEqual([kept.loaded[0]?.symbols?.length, kept.skipped[0]?.reason], [
      0,
      "Cannot load test.a: another extension named test.a is loaded already",
    ]);
    assert.equal((await load("test.a", "path")).loaded[0]?.symbols?.length, 1);
    assert.match((await load("test.other", "path")).skipped[0]?.reason ?? "", /alias a belongs to test\.other/);
  }));

Deno.test("TrustList refuses an invalid file", () =>
  withFolder(async (folder) => {
    const { trust } = optionsIn(folder);
    assert.deepEqual(await trust.all(), []);
    await Deno.writeTextFile(join(folder, "trusted_extensions.json"), '{"trusted": [1]}');
    await assert.rejects(trust.has("/x", "y"), /it is not a list of trusted extensions or settings files/);
  }));

Deno.test("loadShipped() logs found folders as info, and skipped ones as errors", () =>
  withFolder(async (folder) => {
    const good = await write(join(folder, "good"), { "vis.json": manifestOf(), "mod.ts": moduleOf() });
    const bad = await write(join(folder, "bad"), { "mod.ts": moduleOf() });
    const { log: kept, entries } = recordingLog();
    const folders = [good, bad].map((path) => ({ place: "home" as const, path }));
    await loadShipped({}, { log: kept, folders, folderOptions: optionsIn(join(folder, "home")) });
    assert.deepEqual(entries.map(({ level, event, data }) => [level, event, data["ext"]]), [
      ["info", "extension.loaded", "test.a"],
      ["error", "extension.skipped", "bad"],
    ]);
  }));

Deno.test("loadShipped() over a read-only workspace: parts that are marked for it, and folders without a mark", () =>
  withFolder(async (folder) => {
    const made = '{ doc: "X.", args: z.tuple([]), returns: "x" }';
    const code = (part: string) =>
      moduleOf(`symbols: [fn("find", () => 1, ${made}), fn("put", () => 1, ${made})], ${part}`);
    const names = async (name: string, part: string, locked?: { readonly writable: boolean }) => {
      const path = await write(join(folder, name), { "vis.json": manifestOf(), "mod.ts": code(part) });
      const options = { log, folders: [{ place: "home", path } as const], folderOptions: optionsIn(folder), locked };
      const { loaded: [one], skipped } = await loadShipped({}, options);
      assert.deepEqual(skipped, []);
      return one?.symbols.map((symbol) => symbol.name);
    };
    const part = 'readOnly: { symbols: ["find"], prompt: "Reads." }';
    assert.deepEqual(await names("part", part), ["find", "put"]);
    assert.deepEqual(await names("writable", part, { writable: true }), ["find", "put"]);
    assert.deepEqual(await names("reading", part, { writable: false }), ["find"]);
    assert.deepEqual(
      await names("silent", "", { writable: false }),
      ["find", "put"],
      "whoever listed it answers for it",
    );
    assert.deepEqual(await names("off", "onByDefault: false", { writable: false }), undefined);
    const shipped = { one: () => Promise.resolve({ default: sample() }) };
    assert.deepEqual((await loadShipped(shipped, { log, locked: { writable: false } })).loaded, []);
  }));

Deno.test("loadShipped() skips a module whose top-level await never settles", () =>
  withFolder(async (folder) => {
    await write(folder, { "x/vis.json": manifestOf(), "x/mod.ts": moduleOf("", "await new Promise(() => {});") });
    const { loaded, skipped } = await loadShipped({}, {
      log,
      folders: [{ place: "home", path: join(folder, "x") }],
      folderOptions: { ...optionsIn(folder), clock: new FakeClock() },
    });
    assert.deepEqual(loaded, []);
    assert.match(
      skipped[0]?.reason ?? "",
      /: its module did not load within 30 s, the limit; correct the extension, or add its name to extensions\.deny$/,
    );
  }));
