import assert from "node:assert/strict";
import { join } from "node:path";
import { checkLeftOut } from "../../../src/app/extensions/extension_source.ts";
import { UsageError } from "../../../src/domain/errors.ts";
import { sample } from "../../extension/_sample.ts";
import { manifestOf, moduleOf, write } from "../../extension/_folders.ts";
import { withFolder } from "../../helpers/with_folder.ts";
import { settingsOf } from "../_settings.ts";

const parts = { shipped: { web: () => Promise.resolve({ default: sample({ namespace: "vis.web" }) }) } };

Deno.test("checkLeftOut() accepts existing names, and suggests the intended one otherwise", async () => {
  const settings = await settingsOf({});
  await checkLeftOut([], { settings, parts });
  await checkLeftOut(["web"], { settings, parts });
  await assert.rejects(checkLeftOut(["web", "wbe"], { settings, parts }), (error) => {
    assert.ok(error instanceof UsageError);
    assert.equal(error.message, "Cannot leave out extension wbe: no extension has this name; did you mean web?");
    return true;
  });
  await assert.rejects(
    checkLeftOut(["nothing"], { settings, parts }),
    /no extension has this name; choose one of web$/,
  );
});

Deno.test("checkLeftOut() accepts any name if a folder may contain it", async () => {
  const home = await Deno.makeTempDir({ prefix: "vis-left-out-" });
  try {
    await Deno.mkdir(join(home, "extensions/own"), { recursive: true });
    await checkLeftOut(["whatever"], { settings: await settingsOf({ home }), parts });
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});

Deno.test("checkLeftOut() knows the extensions of the folders of --extension", () =>
  withFolder(async (folder) => {
    await write(folder, { "vis.json": manifestOf({ namespace: "my.foo" }), "mod.ts": moduleOf() });
    const place = { settings: await settingsOf({}), parts, paths: [folder] };
    await checkLeftOut(["my.foo"], place);
    await assert.rejects(checkLeftOut(["my.fo"], place), /did you mean my\.foo\?$/);
  }));
