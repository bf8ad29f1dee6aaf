import assert from "node:assert/strict";
import { join } from "node:path";
import fs from "../../extensions/fs/mod.ts";
import rlm from "../../extensions/rlm/mod.ts";
import { startEngine } from "../helpers/engine.ts";
import { final, replyJson } from "../helpers/scripted_provider.ts";
import { withFolder } from "../helpers/with_folder.ts";

const CHANGES = [
  'await fs.writeFile("b.md", "x")',
  'await fs.edit("a.ts", { old: "one", new: "1" })',
  'await fs.remove("a.ts")',
];

Deno.test("a request for a plan reads, changes nothing, and the next request carries it out", async () => {
  await withFolder(async (workspace) => {
    await Deno.writeTextFile(join(workspace, "a.ts"), "one\n");
    await using engine = await startEngine([
      ...CHANGES.map((code) => replyJson(code)),
      replyJson('await fs.readFile("a.ts")'),
      final("1. Rename one"),
      replyJson('await fs.edit("a.ts", { old: "one", new: "1" })'),
      final("It is renamed"),
    ], { extensions: [fs], workspace, settings: { budget: 10 } });
    const ask = (plan: boolean) =>
      engine.conversations.ask(engine.branch, "Rename it", {
        signal: new AbortController().signal,
        emit: () => {},
        plan,
      });
    assert.equal((await ask(true)).answer, "1. Rename one");
    for (const at of CHANGES.keys()) {
      assert.match(engine.context(at + 1), /Cannot call fs\.\w+: this request only makes a plan/);
    }
    assert.match(engine.context(4), /one/);
    assert.equal(await Deno.readTextFile(join(workspace, "a.ts")), "one\n");
    assert.match(engine.provider.requests[0]?.texts[0] ?? "", /Make a plan, and change nothing/);
    assert.equal((await ask(false)).answer, "It is renamed");
    assert.equal(await Deno.readTextFile(join(workspace, "a.ts")), "1\n");
    assert.doesNotMatch(engine.provider.requests.at(-1)?.texts[0] ?? "", /Make a plan/);
  });
});

Deno.test("child queries and repetitions of a request for a plan change nothing either", async () => {
  await withFolder(async (workspace) => {
    const change = replyJson('await fs.writeFile("b.md", "x")');
    await using engine = await startEngine([
      replyJson('(await rlm.run("Write b.md")).answer'),
      change,
      final("I could not"),
      final("The plan"),
      change,
      final("The plan again"),
    ], { extensions: [fs, rlm], workspace, settings: { budget: 10 } });
    const options = { signal: new AbortController().signal, emit: () => {} };
    const first = await engine.conversations.ask(engine.branch, "Write it", { ...options, plan: true });
    assert.equal(first.answer, "The plan");
    assert.match(engine.context(2), /Cannot call fs\.writeFile: this request only makes a plan/);
    assert.equal((await engine.conversations.retry(first.queryId, options)).answer, "The plan again");
    assert.match(engine.context(5), /Cannot call fs\.writeFile: this request only makes a plan/);
    await assert.rejects(Deno.stat(join(workspace, "b.md")));
  });
});
