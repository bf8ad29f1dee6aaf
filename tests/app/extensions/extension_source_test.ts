import assert from "node:assert/strict";
import * as index from "../../../extensions/index.ts";
import { buildRegistry, extensionSource } from "../../../src/app/extensions/extension_source.ts";
import { sample, VIEW } from "../../extension/_sample.ts";
import { settingsOf } from "../_settings.ts";
import { withFolder } from "../../helpers/with_folder.ts";

/** The first request never is on its way. */
const NOT_YET = { soon: () => {} };

/** The shipped extensions, and which of them were loaded. */
function counted() {
  const loads: string[] = [];
  const own = Object.fromEntries(
    Object.entries(index.shipped).map(([name, load]) => [name, async () => {
      loads.push(name);
      return await load();
    }]),
  );
  return { loads, parts: { ...index, shipped: own } };
}

async function settingsIn(folder: string, config: object) {
  return { ...await settingsOf({ config: { extensions: { config } }, home: folder }), workspace: folder };
}

const MCP = { servers: { files: { command: "x" }, off: { command: "y", disabled: true } } };
const view = (workspace: string) => ({ ...VIEW, depth: 0, workspace });

Deno.test("extensionSource() loads the extension alone that has settings, and says what the registry of all says", () =>
  withFolder(async (folder) => {
    const settings = await settingsIn(folder, { "vis.web": { hosts: ["example.org"] }, "vis.mcp": MCP });
    const { loads, parts } = counted();
    const { source, notes } = await extensionSource(settings, parts, NOT_YET);
    const lazy = await source.activate(view(folder));
    assert.deepEqual([loads.toSorted(), notes], [["mcp", "web"], []]);
    const { registry } = await buildRegistry(settings, parts, { folders: [] });
    const full = await registry.activate(view(folder));
    for (
      const key of [
        "list",
        "functions",
        "untimed",
        "constants",
        "grants",
        "globals",
        "modules",
        "blocks",
        "example",
      ] as const
    ) assert.deepEqual(lazy[key], full[key], key);
    assert.match(lazy.example?.code ?? "", /fs\.count/);
    assert.match(lazy.blocks.join(), /HTTP to example\.org; the user allows others/);
    assert.match(lazy.blocks.join(), /MCP servers: files\./);
    for (const name of ["web", "web.get", "mcp.call", "fs.grep", "none"]) assert.equal(lazy.doc(name), full.doc(name));
    assert.deepEqual(source.known?.("e"), registry.known("e"));
  }));

Deno.test("extensionSource() leaves out the extension whose settings are wrong, and says why", () =>
  withFolder(async (folder) => {
    const settings = await settingsIn(folder, { "vis.web": { hosts: 3 } });
    const { loads, parts } = counted();
    const { source, notes } = await extensionSource(settings, parts, NOT_YET);
    assert.deepEqual(loads, ["web"]);
    assert.match(notes.join(), /Cannot use extension vis\.web: extensions\.config\.vis\.web\.hosts: /);
    const { list } = await source.activate(view(folder));
    assert.equal(list.some(({ namespace }) => namespace === "vis.web"), false);
    assert.equal(list.some(({ namespace }) => namespace === "vis.fs"), true);
  }));

Deno.test("extensionSource() loads nothing for settings of an extension that is denied or not there", () =>
  withFolder(async (folder) => {
    const plain = await settingsIn(folder, { "vis.web": {}, "vis.none": {} });
    const { extensions } = plain.config;
    const settings = { ...plain, config: { ...plain.config, extensions: { ...extensions, deny: ["web"] } } };
    const { loads, parts } = counted();
    await (await extensionSource(settings, parts, NOT_YET)).source.activate(view(folder));
    assert.deepEqual(loads, []);
  }));

Deno.test("extensionSource() loads no extension before its first call for settings that Vis handles itself", () =>
  withFolder(async (folder) => {
    const shell = { enabled: true, network: true, read: ["/usr"], deny: [] };
    const settings = await settingsIn(folder, { "vis.shell": shell, "vis.mcp": {}, "vis.web": { hosts: [] } });
    const { loads, parts } = counted();
    const { source } = await extensionSource(settings, parts, NOT_YET);
    const { functions, untimed } = await source.activate(view(folder));
    assert.deepEqual(loads, []);
    assert.ok(functions.includes("shell.run") && untimed.includes("shell.run") && untimed.includes("rlm.ask"));
    assert.ok(!untimed.includes("fs.grep") && !untimed.includes("fs.glob"));
    const strict = await settingsIn(folder, { "vis.shell": { ...shell, deny: ["rm *"] } });
    await extensionSource(strict, parts, NOT_YET);
    assert.deepEqual(loads, ["shell"]);
  }));

Deno.test("extensionSource() takes servers of a client without settings of its own", () =>
  withFolder(async (folder) => {
    const { loads, parts } = counted();
    const offered = { mcpServers: { hub: { command: "x" } } };
    const { source } = await extensionSource({ ...await settingsIn(folder, {}), offered }, parts, NOT_YET);
    assert.match((await source.activate(view(folder))).blocks.join(), /MCP servers: hub\./);
    assert.deepEqual(loads, ["mcp"]);
  }));

/** Functions of the shipped extensions in the locked profile, by alias. */
async function locked(folder: string, writable: boolean) {
  const plain = await settingsIn(folder, { "vis.shell": { enabled: true } });
  const extensions = { ...plain.config.extensions, allow: [...Object.keys(index.shipped), "fresh"] };
  const { loads, parts } = counted();
  const fresh = () =>
    Promise.resolve({ default: sample({ namespace: "test.fresh", alias: { ns: "x.f", alias: "f" } }) });
  const settings = { ...plain, config: { ...plain.config, extensions }, locked: { writable } };
  const { source } = await extensionSource(settings, { ...parts, shipped: { ...parts.shipped, fresh } });
  return { loads, active: await source.activate(view(folder)) };
}

Deno.test("extensionSource() the locked profile has of the shipped extensions what cannot write, and nothing else", () =>
  withFolder(async (folder) => {
    const { loads, active } = await locked(folder, false);
    assert.deepEqual(
      loads.toSorted(),
      ["debug", "fs", "history", "memo", "rlm", "skills", "tabular", "web"],
      "no others' code",
    );
    assert.deepEqual(active.functions.filter((name) => name.startsWith("fs.")), [
      "fs.readFile",
      "fs.readFiles",
      "fs.glob",
      "fs.grep",
      "fs.count",
      "fs.listFiles",
      "fs.stat",
      "fs.readLines",
    ]);
    const block = active.blocks.find((text) => text.startsWith("## fs")) ?? "";
    assert.match(block, /Files of cwd; nothing can be written\. Find first/);
    assert.doesNotMatch(block, /fs\.(?:edit|write|patch|move|remove|undo)|Read before you write/);
    assert.equal(active.doc("fs.edit"), null);
    assert.ok(!active.list.some(({ namespace }) => namespace === "test.fresh"), "one that says nothing of itself");
  }));

Deno.test("extensionSource() the locked profile over a workspace that may be written has all but what is switched on", () =>
  withFolder(async (folder) => {
    const { loads, active } = await locked(folder, true);
    assert.ok(!loads.includes("shell"));
    assert.ok(active.functions.includes("fs.edit") && active.functions.every((name) => !name.startsWith("shell.")));
    assert.ok(active.list.some(({ namespace }) => namespace === "test.fresh"));
  }));
