import assert from "node:assert/strict";
import { ConfigSchema } from "../../src/config/schema.ts";
import { settingList } from "../../src/config/setting_list.ts";
import { z } from "zod";

const ROOT = new URL("../../", import.meta.url);
const HERE = "tests/e2e/suites/limits_suite.ts";
/** Numbers that limit nothing. */
const NO_LIMITS = [
  "providers[].models[].contextTokens",
  "providers[].models[].price",
  "providers[].models[].speed",
  "providers[].models[].intelligence",
  "server.port",
  "telegram.allow",
];

async function rows(): Promise<{ readonly setting: string; readonly test: string }[]> {
  const page = await Deno.readTextFile(new URL("docs/internals/limits.md", ROOT));
  return [...page.matchAll(/^\| `(.+?)` +\| .+? \| +(?:`(.+?)`)? *\|$/gm)].map(([, setting = "", test = HERE]) => ({
    setting,
    test,
  }));
}

Deno.test("docs/internals/limits.md has every setting that limits something, and no other", async () => {
  const all = settingList(z.toJSONSchema(ConfigSchema, { io: "input" }));
  const numbers = all.filter(({ key, type }) =>
    /\b(?:integer|number)\b/.test(type) && !NO_LIMITS.some((name) => key === name || key.startsWith(`${name}.`))
  );
  assert.deepEqual((await rows()).map(({ setting }) => setting).sort(), numbers.map(({ key }) => key).sort());
});

Deno.test("the tests that docs/internals/limits.md names set the limit", async () => {
  for (const { setting, test } of await rows()) {
    const text = await Deno.readTextFile(new URL(test, ROOT));
    const name = test === HERE ? setting : setting.split(".").at(-1) ?? "";
    assert.ok(text.includes(name), `${test} has no ${name}`);
  }
});
