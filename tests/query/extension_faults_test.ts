import assert from "node:assert/strict";
import { sample } from "../extension/_sample.ts";
import { startEngine } from "../helpers/engine.ts";
import { final, replyJson } from "../helpers/scripted_provider.ts";

Deno.test("parts of extensions that throw are one note each next to the answer", async () => {
  const boom = (): never => {
    throw new Error("boom");
  };
  const named = (name: string, more: object) =>
    sample({ namespace: `test.${name}`, alias: { ns: `vis.ext.${name}`, alias: name }, ...more });
  const extensions = [named("a", { activate: boom }), named("b", { prompt: boom }), named("c", { nudge: boom })];
  await using engine = await startEngine([replyJson("1"), final("It is 1")], { extensions });
  const { notes } = await engine.ask("Count");
  assert.deepEqual(notes, [
    "Extension test.a failed in activate: boom",
    "Extension test.b failed in prompt: boom",
    "Extension test.c failed in nudge: boom",
  ]);
});
