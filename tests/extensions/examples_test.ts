import assert from "node:assert/strict";
import { errorForModel } from "../../src/domain/query/host_call.ts";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { loadShipped } from "../../src/extension/loader.ts";
import { ExtensionRegistry } from "../../src/extension/registry.ts";
import { OwnStores } from "../environment/_own_stores.ts";
import { optionsIn, write } from "../extension/_folders.ts";
import { recordingLog, VIEW } from "../extension/_sample.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { withFolder } from "../helpers/with_folder.ts";

const EXAMPLES = fileURLToPath(new URL("../../docs/extend/examples/", import.meta.url));

async function examplesIn(folder: string) {
  const { log } = recordingLog();
  const entries = await Array.fromAsync(Deno.readDir(EXAMPLES));
  const names = entries.filter(({ isDirectory }) => isDirectory).map(({ name }) => name).sort();
  const folders = names.map((name) => ({ place: "home" as const, path: join(EXAMPLES, name) }));
  const report = await loadShipped({}, { log, folders, folderOptions: optionsIn(folder) });
  const config = { "example.config": { greeting: "Welcome" }, "example.extend": { folders: ["notes"] } };
  const load = () => Promise.resolve(report.loaded[0] ?? assert.fail());
  const registry = new ExtensionRegistry({ log, config, load });
  for (const extension of report.loaded) registry.register(extension);
  return { registry, names, ...report };
}

Deno.test("each example loads as TypeScript from its folder", () =>
  withFolder(async (folder) => {
    const { loaded, skipped, names } = await examplesIn(folder);
    assert.deepEqual(skipped, []);
    assert.deepEqual(loaded.map(({ namespace }) => namespace).sort(), names.map((name) => `example.${name}`));
  }));

Deno.test("each example works as its text shows", () =>
  withFolder(async (folder) => {
    const { registry, loaded } = await examplesIn(folder);
    const workspace = await write(join(folder, "ws"), { Makefile: "all: x\nclean:\n" });
    const env = { ...VIEW, workspace };
    const options = { env, signal: new AbortController().signal };
    const active = await registry.activate(env);
    const call = (name: string, ...args: unknown[]) => active.call(name, args, options);
    assert.equal(await call("weather.celsius", 98.6), 37);
    assert.equal(active.constants["weather.freezing"], 32);
    assert.deepEqual(await call("make.targets"), ["all", "clean"]);
    assert.ok(!(await registry.activate(VIEW)).functions.includes("make.targets"));
    assert.deepEqual(await call("stock.count", " Apples "), { name: "apple", count: 3 });
    await assert.rejects(call("stock.count", "fig"), { message: "Cannot count fig: it is not sold here" });
    assert.deepEqual([active.globals, active.grants.read], [["Deno.readTextFile"], ["."]]);
    assert.equal(await call("greeter.greet", "Ada"), "Welcome, Ada");
    assert.equal(await call("notes.place"), `${workspace}/notes`);
    const order = active.list.map(({ namespace }) => namespace);
    assert.ok(order.indexOf("example.functions") < order.indexOf("example.requires"));
    const slow = {
      code: "",
      result: undefined,
      preview: "",
      stdout: "",
      stderr: "",
      executionTimeMs: 12_000,
      timedOut: false,
      repaired: false,
    };
    const facts = { environment: env, iteration: 1, currentMaxIterations: 4, prevIteration: 0, userVarCount: 0 };
    const [nudge] = active.nudges;
    assert.equal(
      await nudge?.nudge({ ...facts, prevExpressions: [slow] }),
      "A block took 12 s: work on a sample first",
    );
    assert.equal(await nudge?.nudge({ ...facts, prevExpressions: null }), null);
    const printed: string[] = [];
    const [command] = loaded.find(({ namespace }) => namespace === "example.cli")?.cli ?? [];
    await using stores = await OwnStores.open();
    const print = (text: string) => void printed.push(text);
    const ask = () => assert.fail("asked");
    const store = stores.of("example.cli", workspace);
    const context = { print, ask, workspace, home: null, config: undefined, store };
    await command?.run({ text: "hi", times: 2 }, context);
    assert.deepEqual(printed, ["HI!\n", "HI!\n"]);
  }));

Deno.test("the pack brings an extension into one conversation, from the next query on", () =>
  withFolder(async (folder) => {
    const { registry } = await examplesIn(folder);
    const signal = new AbortController().signal;
    const first = await registry.activate(VIEW);
    const opened = await first.call("pack.open", [["example.activate"]], { env: VIEW, signal });
    assert.deepEqual(opened, ["example.pack.alarm", "example.activate"]);
    assert.ok(!first.functions.includes("alarm.ring"));
    const second = await registry.activate(VIEW);
    assert.equal(await second.call("alarm.ring", [], { env: VIEW, signal }), "ring");
    assert.ok(!(await registry.activate({ ...VIEW, envId: "other" })).functions.includes("alarm.ring"));
    registry.release(VIEW.envId);
    assert.ok(!(await registry.activate(VIEW)).functions.includes("alarm.ring"));
  }));

async function run(name: string, blocks: readonly string[]): Promise<readonly string[]> {
  const shown: string[] = [];
  await withFolder(async (folder) => {
    const { loaded } = await examplesIn(folder);
    const extensions = loaded.filter(({ namespace }) => namespace === `example.${name}`);
    await using engine = await startEngine([replyJson(blocks), replyJson([], { final: "That is all" })], {
      extensions,
    });
    await engine.ask("x");
    for (const event of engine.events) {
      if (event.type === "block_finished") {
        shown.push(event.result.error ? errorForModel(event.result.error) : event.result.preview);
      }
    }
  });
  return shown;
}

Deno.test("the example of a store keeps todos and finds the open ones", async () => {
  const blocks = ["[await todo.add('a'), await todo.add('b')].join()", "await todo.done('0001')", "await todo.open()"];
  assert.deepEqual(await run("store", blocks), ['"0001,0002"', "2", '[ { id: "0002", here: true } ]']);
});

Deno.test("the example of modules has bare names that need no await", async () => {
  const blocks = [
    "[stats.mean([1, 2, 6]), stats.median([1, 2, 6, 7])].join()",
    "new Money(5).plus(new Money(7)).cents",
  ];
  assert.deepEqual(await run("modules", blocks), ['"3,4"', "12"]);
});

Deno.test("the example of variables reads one and binds another", async () => {
  const blocks = [
    "const people = [{age: 3}, {age: 4}, {}]; await table.column('people', 'age', 'ages')",
    "ages.join()",
    "await table.column('none', 'age', 'ages')",
  ];
  assert.deepEqual(await run("variables", blocks), [
    '{ name: "ages", rows: 3 }',
    '"3,4,"',
    "Cannot read none: no variable in scope has this name",
  ]);
});
