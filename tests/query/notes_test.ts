import assert from "node:assert/strict";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";

Deno.test("runQuery() notes in the next call a name that the model overwrote and that was restored", async () => {
  await using engine = await startEngine([
    replyJson("globalThis.vars = 1"),
    replyJson("typeof vars"),
    replyJson([], { final: "It is done: 1" }),
  ]);
  await engine.ask("overwrite");
  assert.match(engine.context(1), /<notes>[\s\S]*vars[\s\S]*<\/notes>/);
  assert.match(engine.context(2), /typeof vars → .?function/);
  assert.doesNotMatch(engine.context(2), /<notes>/);
});

Deno.test("runQuery() notes in the next call an error that occurred after its block", async () => {
  await using engine = await startEngine([
    replyJson(['Promise.reject(new Error("astray")); 1', "await new Promise((go) => setTimeout(go, 20)); 2"]),
    replyJson([], { final: "It is done: 1" }),
  ]);
  await engine.ask("reject");
  assert.match(engine.context(1), /<notes>[\s\S]*astray[\s\S]*<\/notes>/);
});

Deno.test("runQuery() bounds the notes of the sandbox", async () => {
  await using engine = await startEngine([
    replyJson([
      'for (let i = 0; i < 500; i++) Promise.reject(new Error("astray " + "x".repeat(5000)))',
      "await new Promise((go) => setTimeout(go, 20)); 2",
    ]),
    replyJson([], { final: "It is done: 1" }),
  ]);
  await engine.ask("reject");
  assert.ok((engine.context(1).split("</notes>")[0]?.length ?? 0) < 3_100);
});
