import assert from "node:assert/strict";
import { join } from "node:path";
import { extensionCommands } from "../../../src/app/extensions/extension_commands.ts";
import { type Extension, z } from "../../../src/extension/spec.ts";
import { manifestOf, moduleOf, write } from "../../extension/loading/_folders.ts";
import { sample } from "../../extension/_sample.ts";
import { settingsOf } from "../_settings.ts";
import { withFolder } from "../../helpers/with_folder.ts";

const NOTE: NonNullable<Extension["cli"]>[number] = {
  name: "note",
  doc: "Keeps a note.\nAt length.",
  args: z.object({ text: z.string(), user: z.boolean().optional(), limit: z.number().default(3) }),
  run: () => Promise.resolve(),
};
const LISTED = {
  name: "note",
  doc: "Keeps a note.",
  flags: [{ flag: "--user", kind: "boolean" }, { flag: "--limit", kind: "number" }],
};

function counted() {
  const loads: string[] = [];
  const one = () => {
    loads.push("one");
    return Promise.resolve({ default: sample({ namespace: "test.one", cli: [NOTE] }) });
  };
  return { loads, parts: { shipped: { one }, described: {} } };
}

Deno.test("extensionCommands() lists what extensions add, and loads none of them again while nothing has changed", () =>
  withFolder(async (home) => {
    const settings = { ...await settingsOf({ home }), workspace: home };
    const { loads, parts } = counted();
    assert.deepEqual(await extensionCommands(settings, parts), [LISTED]);
    assert.deepEqual(await extensionCommands(settings, parts), [LISTED]);
    assert.equal(loads.length, 1);
    const { extensions } = settings.config;
    const denied = { ...settings, config: { ...settings.config, extensions: { ...extensions, deny: ["one"] } } };
    assert.deepEqual(await extensionCommands(denied, parts), []);
    await Deno.writeTextFile(join(home, "cache/extension_commands.json"), "{ damaged");
    assert.deepEqual(await extensionCommands(settings, parts), [LISTED]);
  }));

Deno.test("extensionCommands() sees a folder that comes, changes and goes", () =>
  withFolder(async (home) => {
    const settings = { ...await settingsOf({ home }), workspace: home };
    const { loads, parts } = counted();
    const names = async () => (await extensionCommands(settings, parts)).map(({ name }) => name);
    assert.deepEqual(await names(), ["note"]);
    const cli = (name: string) => `cli: [{ name: "${name}", doc: "D.", run: () => Promise.resolve() }],`;
    const folder = join(home, "extensions/a");
    await write(folder, { "vis.json": manifestOf(), "mod.ts": moduleOf(cli("first")) });
    assert.deepEqual(await names(), ["note", "first"]);
    await write(folder, { "mod.ts": moduleOf(cli("the-second")) });
    assert.deepEqual(await names(), ["note", "the-second"]);
    assert.deepEqual(await names(), ["note", "the-second"]);
    await Deno.remove(folder, { recursive: true });
    assert.deepEqual(await names(), ["note"]);
    assert.equal(loads.length, 4);
  }));

Deno.test("extensionCommands() keeps nothing where there is no home", () =>
  withFolder(async (workspace) => {
    const { loads, parts } = counted();
    const settings = { ...await settingsOf({}), home: null, workspace };
    for (let time = 0; time < 2; time++) assert.deepEqual(await extensionCommands(settings, parts), [LISTED]);
    assert.equal(loads.length, 2);
  }));
