import assert from "node:assert/strict";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { withFolder } from "../helpers/with_folder.ts";

const RLE = "function rle(s) { return s.length > 1 ? rle(s.slice(1)) : s }";
const EARLY = "async function* early(a = 1) { yield early }";
const ALL = "[rle, early, arrow, Point, named].map(String).join('\\n')";
const BLOCK = `early();\n${RLE}\nconst arrow = (x) => x * 2;\nclass Point { x = 1 }\n` +
  `const named = function inner() {};\n${EARLY}\nconst old = rle;\n${ALL}`;
const SOURCES = [RLE, "(x) => x * 2"];

Deno.test("a function as text is its source: in its block, later, in an answer and after a restart", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/vis.db`;
    const texts = [RLE, EARLY, "(x) => x * 2", "class Point { x = 1 }", "function inner() {}"].join("\n");
    {
      await using engine = await startEngine([
        replyJson([`${BLOCK} === ${JSON.stringify(texts)}`]),
        replyJson([
          `const text = ${ALL}; text === ${JSON.stringify(texts)}`,
          "function rle() { return 1 }\n[String(rle), String(old), old.name].join('|')",
          "String(Function.prototype.toString)",
        ]),
        replyJson([], { final: "{{text}}" }),
      ], { path });
      const { answer } = await engine.ask("x");
      assert.equal(answer, texts);
      const shown = engine.events.flatMap((event) => event.type === "block_finished" ? [event.result.preview] : []);
      assert.deepEqual(shown.slice(0, 2), ["true", "true"]);
      assert.equal(shown[2], JSON.stringify(`function rle() { return 1 }|${RLE}|rle`));
      assert.equal(shown[3], '"function toString() { [native code] }"');
      assert.ok(!/[\u200b-\u200d]/.test(JSON.stringify(engine.provider.requests)));
    }
    await using engine = await startEngine([
      replyJson(["[rle, early, old, arrow].map(String).join('|')"], { final: "It is read." }),
    ], { path });
    await engine.ask("y");
    const [first] = engine.events.flatMap((event) => event.type === "block_finished" ? [event.result] : []);
    assert.equal(first?.preview, JSON.stringify(["function rle() { return 1 }", EARLY, RLE, SOURCES[1]].join("|")));
  });
});

Deno.test("an error in the last expression points at it", async () => {
  await using engine = await startEngine([
    replyJson(["const b = 2;\nnope();"]),
    replyJson(["const b = 2; // note\n\n  nope"]),
    replyJson(["const c: number = 2;\n nope();"]),
    replyJson([], { final: "It is finished." }),
  ]);
  await engine.ask("x");
  const where = engine.events.flatMap((event) =>
    event.type === "block_finished" ? [[event.result.error?.line, event.result.error?.column]] : []
  );
  assert.deepEqual(where, [[2, 1], [3, 3], [2, 2]]);
});
