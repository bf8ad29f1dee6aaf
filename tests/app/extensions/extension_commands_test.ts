import assert from "node:assert/strict";
import { join } from "node:path";
import { settingsOf } from "../_settings.ts";
import { AppExtensionAdmin, extensionCommands } from "../../../src/app/extensions/extension_admin.ts";
import { type Extension, z } from "../../../src/extension/mod.ts";
import { manifestOf, moduleOf, write } from "../../extension/_folders.ts";
import { sample } from "../../extension/_sample.ts";
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

const PARTS = {
  shipped: { one: () => Promise.resolve({ default: sample({ namespace: "test.one", cli: [NOTE] }) }) },
};

Deno.test("extensionCommands() lists the commands of extensions", () =>
  withFolder(async (home) => {
    const settings = { ...await settingsOf({ home }), workspace: home };
    assert.deepEqual(await extensionCommands(settings, PARTS), [LISTED]);
    const { extensions } = settings.config;
    const denied = { ...settings, config: { ...settings.config, extensions: { ...extensions, deny: ["one"] } } };
    assert.deepEqual(await extensionCommands(denied, PARTS), []);
  }));

Deno.test("extensionCommands() notices a folder that appears, changes and disappears", () =>
  withFolder(async (home) => {
    const settings = { ...await settingsOf({ home }), workspace: home };
    const names = async () => (await extensionCommands(settings, PARTS)).map(({ name }) => name);
    assert.deepEqual(await names(), ["note"]);
    const cli = (name: string) => `cli: [{ name: "${name}", doc: "D.", run: () => Promise.resolve() }],`;
    const folder = join(home, "extensions/a");
    await write(folder, { "vis.json": manifestOf(), "mod.ts": moduleOf(cli("first")) });
    assert.deepEqual(await names(), ["note", "first"]);
    await write(folder, { "mod.ts": moduleOf(cli("the-second")) });
    assert.deepEqual(await names(), ["note", "the-second"]);
    await Deno.remove(folder, { recursive: true });
    assert.deepEqual(await names(), ["note"]);
  }));

Deno.test("extensionCommands() needs no home", () =>
  withFolder(async (workspace) => {
    const settings = { ...await settingsOf({}), home: null, workspace };
    assert.deepEqual(await extensionCommands(settings, PARTS), [LISTED]);
  }));

Deno.test("requests() lists the names that extensions offer, except faulty ones and names that cannot be typed", () =>
  withFolder(async (home) => {
    const settings = { ...await settingsOf({ home }), workspace: home };
    const offers = (namespace: string, requests: NonNullable<Extension["requests"]>) =>
      Promise.resolve({ default: sample({ namespace, requests }) });
    const shipped = {
      one: () =>
        offers("test.one", ({ workspace }) => [
          { name: "release", doc: "How to release", text: `Release ${workspace}` },
          { name: "Not this", doc: "", text: "" },
        ]),
      two: () => offers("test.two", () => Promise.reject(new Error("broken"))),
    };
    const found = await new AppExtensionAdmin(settings, { shipped, env: {} }).requests();
    assert.deepEqual(found, [{ name: "release", doc: "How to release", text: `Release ${home}` }]);
  }));

Deno.test("requests() lists the names of extensions in further folders", () =>
  withFolder(async (home) => {
    const settings = { ...await settingsOf({ home }), workspace: home };
    const requests = 'requests: () => [{ name: "greet", doc: "Greets", text: "Say hello" }],';
    const folder = await write(join(home, "a"), {
      "vis.json": manifestOf(),
      "mod.ts": moduleOf(requests),
    });
    const admin = new AppExtensionAdmin(settings, { shipped: {}, env: {} });
    assert.deepEqual(await admin.requests(), []);
    assert.deepEqual((await admin.requests([folder])).map(({ name }) => name), ["greet"]);
  }));
