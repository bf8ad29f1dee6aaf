import assert from "node:assert/strict";
import { join } from "node:path";
import { shipped } from "../../../extensions/index.ts";
import { realm } from "../../../extensions/realm.ts";
import { extensionSource } from "../../../src/app/extensions/extension_source.ts";
import { fn, z } from "../../../src/extension/mod.ts";
import { isBelow } from "../../../src/domain/kit/files.ts";
import { manifestOf, moduleOf, write } from "../../extension/_folders.ts";
import { sample, VIEW } from "../../extension/_sample.ts";
import { settingsOf } from "../_settings.ts";
import { withFolder } from "../../helpers/with_folder.ts";

async function settingsIn(folder: string, config: object) {
  return { ...await settingsOf({ config: { extensions: { config } }, home: folder }), workspace: folder };
}

const MCP = { servers: { files: { command: "x" }, off: { command: "y", disabled: true } } };
const view = (workspace: string) => ({ ...VIEW, depth: 0, workspace });

Deno.test("extensionSource() returns the contributions of the shipped extensions, with their settings", () =>
  withFolder(async (folder) => {
    const settings = await settingsIn(folder, { "vis.web": { hosts: ["example.org"] }, "vis.mcp": MCP });
    const { source, notes } = await extensionSource(settings, { shipped, realm });
    const { functions, untimed, example, blocks, doc } = await source.activate(view(folder));
    assert.deepEqual(notes, []);
    assert.ok(functions.includes("shell.run") && functions.includes("fs.edit"));
    assert.ok(untimed.includes("rlm.ask") && !untimed.includes("fs.grep") && !untimed.includes("fs.glob"));
    assert.match(example?.code ?? "", /fs\.count/);
    assert.match(blocks.join(), /HTTP to example\.org; the user allows others/);
    assert.match(blocks.join(), /MCP servers: files\./);
    assert.deepEqual(blocks.map((block) => /## (\w+)/.exec(block)?.[1]), [
      "fs",
      "shell",
      "rlm",
      "tabular",
      "mcp",
      "web",
    ]);
    assert.match(doc("fs.grep") ?? "", /^fs\.grep\(/);
    assert.equal(doc("none"), null);
  }));

Deno.test("extensionSource() excludes an extension with invalid settings, and names the reason", () =>
  withFolder(async (folder) => {
    const settings = await settingsIn(folder, { "vis.web": { hosts: 3 } });
    const { source, notes } = await extensionSource(settings, { shipped, realm });
    assert.match(notes.join(), /Cannot use extension vis\.web: extensions\.config\.vis\.web\.hosts must be a list/);
    const { list } = await source.activate(view(folder));
    assert.equal(list.some(({ namespace }) => namespace === "vis.web"), false);
    assert.equal(list.some(({ namespace }) => namespace === "vis.fs"), true);
  }));

Deno.test("extensionSource() accepts servers of a client without settings of its own", () =>
  withFolder(async (folder) => {
    const offered = { mcpServers: { hub: { command: "x" } } };
    const { source } = await extensionSource({ ...await settingsIn(folder, {}), offered }, { shipped, realm });
    assert.match((await source.activate(view(folder))).blocks.join(), /MCP servers: hub\./);
  }));

async function locked(folder: string, writable: boolean) {
  const plain = await settingsIn(folder, { "vis.shell": { enabled: true } });
  const extensions = { ...plain.config.extensions, allow: [...Object.keys(shipped), "fresh"] };
  const fresh = () =>
    Promise.resolve({ default: sample({ namespace: "test.fresh", alias: { ns: "x.f", alias: "f" } }) });
  const settings = { ...plain, config: { ...plain.config, extensions }, locked: { writable } };
  const { source } = await extensionSource(settings, { shipped: { ...shipped, fresh }, realm });
  return await source.activate(view(folder));
}

Deno.test("extensionSource() the locked profile has only the functions of shipped extensions that cannot write", () =>
  withFolder(async (folder) => {
    const active = await locked(folder, false);
    assert.deepEqual(active.list.map(({ namespace }) => namespace).filter((name) => /git|shell|mcp/.test(name)), []);
    assert.deepEqual(active.functions.filter((name) => name.startsWith("fs.")), [
      "fs.readFile",
      "fs.readFiles",
      "fs.glob",
      "fs.grep",
      "fs.count",
      "fs.listFiles",
      "fs.stat",
      "fs.definition",
      "fs.readLines",
    ]);
    const block = active.blocks.find((text) => text.startsWith("## fs")) ?? "";
    assert.match(block, /Files of cwd; nothing can be written\. Find first/);
    assert.doesNotMatch(block, /fs\.(?:edit|write|patch|move|remove|undo)|Read before you write/);
    assert.equal(active.doc("fs.edit"), null);
    assert.ok(!active.list.some(({ namespace }) => namespace === "test.fresh"), "one that says nothing of itself");
  }));

Deno.test("extensionSource() the locked profile over a writable workspace has all except extensions that are switched on", () =>
  withFolder(async (folder) => {
    const active = await locked(folder, true);
    assert.ok(active.functions.includes("fs.edit") && active.functions.every((name) => !name.startsWith("shell.")));
    assert.ok(active.list.some(({ namespace }) => namespace === "test.fresh"));
  }));

Deno.test("env.load() names the setting that excludes the extension of a folder", () =>
  withFolder(async (folder) => {
    const path = join(folder, "extensions/a");
    await write(path, { "vis.json": manifestOf(), "mod.ts": moduleOf() });
    const take = fn("take", async (env, ref: string) => (await env.load?.(ref))?.namespace, {
      doc: "Loads an extension.",
      args: z.tuple([z.string()]),
      returns: "string",
    });
    const one = () => Promise.resolve({ default: sample({ namespace: "test.one", symbols: [take] }) });
    const plain = await settingsIn(folder, {});
    const settings = {
      ...plain,
      config: { ...plain.config, extensions: { ...plain.config.extensions, deny: ["test.a"] } },
    };
    const { source } = await extensionSource(settings, { shipped: { one } });
    const active = await source.activate(view(folder));
    const call = (ref: string) =>
      active.call("one.take", [ref], { env: view(folder), signal: new AbortController().signal });
    await assert.rejects(call(path), /extension test\.a is not loaded, because it is in extensions\.deny/);
    await assert.rejects(call("test.a"), /no loaded extension has this name; for a folder, write a path with a slash/);
  }));

Deno.test("isBelow() accepts paths inside a folder, not paths with the same beginning", () => {
  assert.equal(isBelow("/w/.vis/extensions/a", "/w/.vis"), true);
  assert.equal(isBelow("/w/..a", "/w"), true);
  for (const path of ["/w", "/", "/wx/a", "/w/../other", "/other"]) assert.equal(isBelow(path, "/w"), false, path);
});
