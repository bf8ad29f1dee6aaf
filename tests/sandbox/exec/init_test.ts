import assert from "node:assert/strict";
import { join } from "node:path";
import { ROOT } from "../../../scripts/_project.ts";
import { INIT_SOURCE } from "../../../src/sandbox/exec/init.ts";

Deno.test("the executable of the first process is made of its source", async () => {
  const source = await Deno.readFile(join(ROOT, "src/sandbox/exec/init.c"));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", source)).toHex();
  assert.equal(INIT_SOURCE, hash, "run deno run -A scripts/generate/init.ts");
});
