import assert from "node:assert/strict";
import { join } from "node:path";
import { AppExtensionAdmin } from "../../src/app/extensions/extension_admin.ts";
import { settingsOf } from "../app/_settings.ts";
import { withFolder } from "../helpers/with_folder.ts";

Deno.test("the first extension of the page passes its checks and tests, and can be added and shown", () =>
  withFolder(async (folder) => {
    const page = await Deno.readTextFile(new URL("../../docs/extend/first-extension.md", import.meta.url));
    const [module = "", bugs = "", checks = "", test = ""] = [...page.matchAll(/```(?:ts|json)\n([^]*?)```/g)]
      .map(([, text = ""]) => text);
    const settings = { ...await settingsOf({ config: {}, home: join(folder, "home") }), workspace: folder };
    const parts = { shipped: {}, env: {} };
    const made = await new AppExtensionAdmin(settings, parts).create("tracker");
    const files = { "mod.ts": module, "bugs.json": bugs, "checks.json": checks, "mod_test.ts": test };
    for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(join(made, name), text);
    const admin = new AppExtensionAdmin({ ...settings, workspace: made }, parts);
    const found = await admin.check(made);
    assert.deepEqual(found.map(({ what, ok }) => [what, ok]), [
      ["my.tracker", true],
      ["types", true],
      ['tracker.open("login")', true],
    ], JSON.stringify(found));
    assert.deepEqual(await admin.test(made), [{ what: "a blank search is refused", ok: true, found: "" }]);
    await admin.add(made, { replace: false });
    assert.match((await admin.show("tracker")).text, /tracker\.open\(about/);
  }));
