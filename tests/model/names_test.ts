import assert from "node:assert/strict";
import { errorForModel } from "../../src/domain/query/host_call.ts";
import memo from "../../extensions/memo/mod.ts";
import rlm from "../../extensions/rlm/mod.ts";
import type { QueryEvent } from "../../src/domain/query/query_schemas.ts";
import type { Extension } from "../../src/extension/mod.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { withFolder } from "../helpers/with_folder.ts";

const NAMES = [
  "memo",
  "rlm",
  "history",
  "debug",
  "results",
  "printed",
  "answer",
  "vars",
  "doc",
  "shape",
  "crypto",
  "print",
];
const ABSENT = [
  ...["process", "module", "exports", "require", "global", "Buffer", "Deno", "navigator", "fetch", "postMessage"],
  ...["close", "open", "Worker", "setImmediate", "WebAssembly", "Atomics"],
];
const LAST = replyJson([], { final: "It is finished." });
const extensions: readonly Extension[] = [rlm, memo];

function previews(events: readonly QueryEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === "block_finished"
      ? [event.result.error ? errorForModel(event.result.error) : event.result.preview]
      : []
  );
}

Deno.test("the model's declaration of a name of the sandbox wins, over blocks, replies, queries and processes", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/vis.db`;
    const all = [...NAMES, ...ABSENT];
    const list = `[${all.join(", ")}].map((it) => it.v).join()`;
    const values = all.map((_, i) => i).join();
    const end = { final: "It is finished." };
    {
      await using engine = await startEngine([
        replyJson([all.map((name, i) => `const ${name} = { v: ${i} };`).join("\n"), list]),
        replyJson([list, "memo.v = 50; close.v = 51; memo.v"]),
        LAST,
        replyJson(["memo.v + ' ' + close.v"], end),
      ], { path, extensions });
      await engine.ask("x");
      await engine.ask("y");
      const shown = previews(engine.events);
      assert.deepEqual([shown[1], shown[2], shown[4]], [`"${values}"`, `"${values}"`, '"50 51"']);
      const context = engine.context(1);
      assert.ok(context.includes("rlm is now your variable; the original is vis.ext.rlm"), context);
      assert.ok(context.includes("answer is now your variable; the original is vis.answer"), context);
      assert.ok(!engine.context(2).includes("is now your variable"));
      assert.ok(!context.includes("history is now your variable"));
    }
    await using engine = await startEngine([
      replyJson(["memo.v + ' ' + close.v", "typeof vis.print + typeof vis.ext.rlm + vis.results.length"], end),
    ], { path, extensions });
    await engine.ask("z");
    assert.deepEqual(previews(engine.events), ['"50 51"', '"functionobject1"']);
  });
});

Deno.test("a hidden function is called through vis, and is back when the variable is forgotten", async () => {
  await using engine = await startEngine([
    replyJson([
      "const vars = 1, print = 2, doc = 3",
      "vis.print('out'); (await vis.vars()).map((one) => one.name).join()",
      "await forget('vars', 'print'); 0",
    ]),
    replyJson(["print('again'); (await vars()).length + ' ' + doc"]),
    replyJson(["await vis.answer('It is the answer.')"]),
  ], { extensions });
  const { answer } = await engine.ask("x");
  const shown = previews(engine.events);
  assert.match(shown[1]!, /vars,print,doc|doc,print,vars/);
  assert.equal(shown[3], '"4 3"');
  assert.equal(answer, "It is the answer.");
});

Deno.test("names that cannot be given up are refused before anything runs, all in one error", async () => {
  await using engine = await startEngine([
    replyJson(["print('ran');\nconst undefined = 1, { NaN } = {};\nfunction globalThis() {}\nvar $query = 2"]),
    replyJson([], { final: "It is finished." }),
  ]);
  await engine.ask("x");
  const context = engine.context(1);
  assert.ok(!context.includes("stdout: ran"));
  assert.match(
    context,
    /Cannot declare undefined \(line 2:7\), NaN \(line 2:24\), globalThis \(line 3:10\), \$query \(line 4:5\): the language or the sandbox uses these names; choose/,
  );
});

Deno.test("a declaration that was not reached gives the name back", async () => {
  await using engine = await startEngine([
    replyJson(["throw new Error('no'); const print = 1"]),
    replyJson(["print('here'); typeof print"]),
    LAST,
  ]);
  await engine.ask("x");
  assert.equal(previews(engine.events)[1], '"function"');
});
