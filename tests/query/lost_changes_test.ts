import assert from "node:assert/strict";
import fs from "../../extensions/fs/mod.ts";
import { type Extension, fn, z } from "../../src/extension/mod.ts";
import { startEngine } from "../helpers/engine.ts";
import { final, replyJson } from "../helpers/scripted_provider.ts";
import { withFolder } from "../helpers/with_folder.ts";

Deno.test("after a process ended during a block, its request and the next message list the changed files", async () => {
  await withFolder(async (workspace) => {
    const running = Promise.withResolvers<void>(), left = Promise.withResolvers<void>();
    const wait = fn("wait", async () => {
      running.resolve();
      await left.promise;
    }, { doc: "Waits.", args: z.tuple([]), returns: "undefined" });
    const gate: Extension = {
      ...{ namespace: "test.gate", alias: { ns: "test.ext.gate", alias: "gate" }, doc: "Waits.", version: "0.1.0" },
      symbols: [wait],
    };
    await using engine = await startEngine([
      replyJson('await fs.writeFile("a.txt", "one\\n"); await gate.wait()'),
      final("Never."),
      final("It is written."),
    ], { extensions: [fs, gate], workspace });
    const lost = engine.ask("Write it").catch(() => {});
    await running.promise;
    const [{ queryId = "" } = {}] = await engine.store.queries(engine.branch.branchId);
    assert.equal(await engine.store.sweepLost(() => false), 1);
    const query = await engine.store.query(queryId);
    assert.deepEqual([query?.reason, query?.notes], ["process_lost", ["1 file changed +1 −0 (a.txt)"]]);
    left.resolve();
    await lost;
    await engine.ask("Continue");
    const context = engine.context(engine.provider.requests.length - 1);
    assert.match(context, /^files changed: a\.txt \+1 −0$/m);
    assert.match(context, /Variables that it defined or changed are gone\. Finished changes of files are kept/);
  });
});
