import assert from "node:assert/strict";
import type { Extension } from "@vis/extension";
import { shipped } from "../../extensions/index.ts";

Deno.test("an extension suggests the names that its results have", async () => {
  let checked = 0;
  for (const load of Object.values(shipped)) {
    const { alias: { alias }, symbols = [] }: Extension = (await load()).default;
    for (const symbol of symbols) {
      if (symbol.kind !== "function") continue;
      for (const [name, instead] of Object.entries(symbol.misnamed ?? {})) {
        const [part = "", inner] = name.split(".");
        if (/[( ]|length/.test(instead) || inner !== undefined && !symbol.returns.includes(`${part}: {`)) continue;
        const keys = new Set(symbol.returns.match(/\w+/g));
        for (const key of instead.match(/[A-Za-z]+/g) ?? []) {
          assert.ok(keys.has(key), `${alias}.${symbol.name}: ${name} → ${instead}`);
        }
        checked++;
      }
    }
  }
  assert.ok(checked > 100);
});
