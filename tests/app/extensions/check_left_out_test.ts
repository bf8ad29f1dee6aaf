import assert from "node:assert/strict";
import { join } from "node:path";
import { checkLeftOut } from "../../../src/app/extensions/extension_source.ts";
import { UsageError } from "../../../src/domain/errors.ts";
import { sample } from "../../extension/_sample.ts";
import { settingsOf } from "../_settings.ts";

const parts = { shipped: { web: () => Promise.resolve({ default: sample({ namespace: "vis.web" }) }) } };

Deno.test("checkLeftOut() takes names that are there, and says which one was meant", async () => {
  const settings = await settingsOf({});
  await checkLeftOut([], { settings, parts });
  await checkLeftOut(["web"], { settings, parts });
  await assert.rejects(checkLeftOut(["web", "wbe"], { settings, parts }), (error) => {
    assert.ok(error instanceof UsageError);
    assert.equal(error.message, "Cannot leave out wbe: unknown extension; did you mean web?");
    return true;
  });
  await assert.rejects(checkLeftOut(["nothing"], { settings, parts }), /there are web$/);
});

Deno.test("checkLeftOut() takes any name where a folder may hold it", async () => {
  const home = await Deno.makeTempDir({ prefix: "vis-left-out-" });
  try {
    await Deno.mkdir(join(home, "extensions/own"), { recursive: true });
    await checkLeftOut(["whatever"], { settings: await settingsOf({ home }), parts });
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});
