import assert from "node:assert/strict";
import { openStore } from "../../src/persistence/open_store.ts";
import { startEngine } from "../helpers/engine.ts";
import { buildSandbox } from "../helpers/sandbox.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { inPlace } from "./_place.ts";

const DAY = 86_400_000;
const NAMES = ["a", "b", "c", "d", "e", "f"];

Deno.test("a clock that jumps disorders no queries, iterations, versions and variables", async () => {
  await buildSandbox();
  await inPlace(async ({ path, workspace }) => {
    let asked = 0;
    // Each look at the clock is on another day, forwards or backwards.
    const now = (): number => 1_700_000_000_000 + (asked++ % 2 === 0 ? asked : -asked) * DAY;
    const replies = NAMES.flatMap((name, at) => [
      replyJson(`var ${name} = ${at}; var last = ${at}`, { thinking: `first ${at}` }),
      replyJson("1", { thinking: `second ${at}`, final: `{{${name}}} it is` }),
    ]);
    const queries = async (): Promise<void> => {
      const store = await openStore({ path, now });
      await using engine = await startEngine(replies.splice(0, 4), { store, workspace, now });
      const { branchId } = engine.branch;
      for (const n of [0, 1]) {
        const before = (await store.queries(branchId)).length;
        const result = await engine.ask(`request ${before}`);
        assert.deepEqual([result.status, result.answer, n < 2], ["done", `${before} it is`, true]);
        assert.ok(result.ms >= 0, `${result.ms} ms`);
      }
    };
    for (const _process of [1, 2, 3]) await queries();
    const store = await openStore({ path });
    const { branchId = "" } = await store.latestConversation(workspace) ?? {};
    const all = await store.queries(branchId);
    assert.deepEqual(all.map(({ text }) => text), NAMES.map((_, at) => `request ${at}`));
    const thinkings = await Promise.all(all.map(async ({ queryId }) => {
      return (await store.iterations(queryId)).map(({ thinking }) => thinking);
    }));
    assert.deepEqual(thinkings, NAMES.map((_, at) => [`first ${at}`, `second ${at}`]));
    const versions = await store.variableVersions(branchId, "last");
    assert.deepEqual(versions.map(({ image }) => image.summary.inline), NAMES.map((_, at) => `${at}`));
    const heads = (await store.variables(branchId)).map(({ name }) => name).filter((name) => NAMES.includes(name));
    assert.deepEqual(heads, NAMES.toReversed(), "newest first");
    await store.close();
  });
});
