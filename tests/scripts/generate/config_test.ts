import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { configFiles } from "../../../scripts/generate/config.ts";

Deno.test("configFiles() are current: deno task gen", async () => {
  for (const [name, text] of Object.entries(await configFiles())) {
    const there = await readFile(new URL(`../../../${name}`, import.meta.url), "utf8");
    assert.equal(there, text, `${name} is stale: run deno task gen`);
  }
});

Deno.test("configFiles() name every setting, also of lists and extensions, with its default", async () => {
  const page = (await configFiles())["docs/generated/configuration.md"] ?? "";
  for (const key of ["model", "budget.iterations", "providers[].name", "providers[].models[].price.input"]) {
    assert.ok(page.includes(`| \`${key}\` |`), key);
  }
  assert.match(page, /^\| `budget\.iterations` \| integer \| `4` \| yes \| [A-Z]/m);
  assert.match(page, /^\| `extensions\.config\.vis\.shell\.deny` \| list of string \| `\[\]` \| yes \|/m);
  assert.match(page, /This section also has a shorter name, `web` at the top of the file/);
  assert.match(page, /^\| `providers\[\]\.rateLimit\.perMs` \| integer \| `60000` \|/m);
});
