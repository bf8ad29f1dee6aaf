import assert from "node:assert/strict";
import { described, live, realm, shipped } from "../../extensions/index.ts";
import { buildRegistry, extensionSource } from "../../src/app/extension_source.ts";
import { VIEW } from "../extension/_sample.ts";
import { settingsOf } from "./_settings.ts";
import { withFolder } from "../helpers/with_folder.ts";

/** The first request never is on its way. */
const NOT_YET = { soon: () => {} };

/** The shipped extensions, and which of them were loaded. */
function counted() {
  const loads: string[] = [];
  const own = Object.fromEntries(
    Object.entries(shipped).map(([name, load]) => [name, async () => {
      loads.push(name);
      return await load();
    }]),
  );
  return { loads, parts: { shipped: own, described, live, realm } };
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
    for (const key of ["list", "functions", "constants", "grants", "globals", "modules", "blocks"] as const) {
      assert.deepEqual(lazy[key], full[key], key);
    }
    assert.match(lazy.blocks.join(), /HTTP to example\.org only/);
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
