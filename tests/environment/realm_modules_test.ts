import assert from "node:assert/strict";
import { errorForModel } from "../../src/domain/query/host_call.ts";
import { realmScripts } from "../../src/extension/loader.ts";
import { type Extension, validate } from "../../src/extension/mod.ts";
import { realmModuleReader } from "../../src/sandbox/modules/modules.ts";
import { sample } from "../extension/_sample.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";

const read = realmModuleReader();
const END = replyJson([], { final: "That is all" });

function withModule(source: string, fields: Partial<Extension> = {}): Extension {
  const extension = validate(sample({ namespace: "test.a", modules: { stats: "./sandbox/stats.ts" }, ...fields }));
  return realmScripts(extension, { stats: read(source, "stats.ts") });
}

const shown = (events: readonly { readonly type: string }[]): string[] =>
  (events as readonly { type: string; result?: { ok: boolean; preview: string; error: { message: string } | null } }[])
    .flatMap(({ type, result }) =>
      type === "block_finished" && result
        ? [result.ok ? result.preview : result.error ? errorForModel(result.error) : ""]
        : []
    );

Deno.test("a module exists for blocks, for restored functions, and after a restart of the child", async () => {
  const extensions = [withModule("export const twice = (n: number): number => n * 2;")];
  await using engine = await startEngine([
    replyJson(["const four = stats.twice(2)", "function eight() { return stats.twice(four) }", "eight()"]),
    replyJson("const all = []; for (;;) all.push(new Array(1e6).fill(1.5))"),
    replyJson("eight() + stats.twice(1)"),
    END,
  ], { extensions, limits: { memoryBytes: 96 << 20 } });
  await engine.ask("x");
  assert.equal(shown(engine.events).at(-1), "10");
});

Deno.test("a module that throws or ends the child is reported once, and blocks run without it", async () => {
  for (
    const source of [
      "throw new Error('at load'); export {}; export const a = 1",
      "const all = []; for (;;) all.push(new Array(1e6).fill(1.5)); export { all }",
    ]
  ) {
    await using engine = await startEngine([replyJson("typeof stats"), replyJson("1 + 1"), END], {
      extensions: [withModule(source)],
      limits: { memoryBytes: 96 << 20 },
    });
    await engine.ask("x");
    assert.deepEqual(shown(engine.events), ['"undefined"', "2"]);
    assert.match(engine.context(1), /Vis could not load module stats, so stats is not defined: /);
    assert.doesNotMatch(engine.context(2), /could not be loaded/);
    const [warned, ...more] = engine.logged.filter(({ event }) => event === "module_failed");
    assert.equal(warned?.level, "warn");
    assert.deepEqual(more, []);
  }
});

Deno.test("a module of an extension that is not active is not there, and is once it is active", async () => {
  let on = false;
  await using engine = await startEngine([
    replyJson("typeof stats"),
    END,
    replyJson("stats.version"),
    END,
  ], { extensions: [withModule("export const version = 1", { activate: () => on })] });
  await engine.ask("x");
  on = true;
  await engine.ask("y");
  assert.deepEqual(shown(engine.events), ['"undefined"', "1"]);
});

Deno.test("an instance of a module's class lives as long as its child, and is named when it is lost", async () => {
  await using engine = await startEngine([
    replyJson("const money = new stats.Money(5); money.cents"),
    replyJson("const all = []; for (;;) all.push(new Array(1e6).fill(1.5))"),
    replyJson("typeof money"),
    END,
  ], {
    extensions: [withModule("export class Money { constructor(readonly cents: number) {} }")],
    limits: { memoryBytes: 96 << 20 },
  });
  await engine.ask("x");
  assert.equal(shown(engine.events).at(0), "5");
  assert.equal(shown(engine.events).at(-1), '"undefined"');
  assert.match(engine.context(1) + engine.context(2), /money.*(?:lost|could not be)/);
});
