import assert from "node:assert/strict";
import { handbookModule, handbookPages } from "../../../scripts/generate/handbook.ts";

Deno.test("docs/mod.ts is the output of scripts/generate/handbook.ts", async () => {
  const written = await Deno.readTextFile(new URL("../../../docs/mod.ts", import.meta.url));
  assert.equal(written, handbookModule(await handbookPages()), "run bin/deno run -A scripts/generate/handbook.ts");
});
