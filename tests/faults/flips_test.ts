/** One bit or byte of the database is another one: docs/decisions/0023-verified-reads.md. */
import assert from "node:assert/strict";
import { buildSandbox } from "../helpers/sandbox.ts";
import { flipTries } from "./flip_tries.ts";

Deno.test("after a flipped bit in any kind of page each read gives what was stored or says that it is damaged", async () => {
  await buildSandbox();
  const folder = await Deno.makeTempDir({ prefix: "vis-flips-" });
  try {
    const report = await flipTries({ count: 150, seed: 20_260_101, folder, reads: 60, sandboxEvery: 25 });
    const { tries, wrong, unclear, refused, unharmed, examples } = report;
    assert.deepEqual({ tries, wrong, unclear }, { tries: 150, wrong: 0, unclear: 0 }, examples.join("\n"));
    // A harness that harms nothing, or in which everything is refused, shows nothing.
    assert.ok(refused >= 15 && unharmed >= 15, `${refused} refused, ${unharmed} unharmed`);
    assert.ok(report.byKind.size > 80, `${report.byKind.size} kinds of pages`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
