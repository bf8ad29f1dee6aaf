import assert from "node:assert/strict";
import { Cancelled } from "../../src/domain/errors.ts";
import { Environment } from "../../src/environment/environment.ts";
import { ExtensionRegistry } from "../../src/extension/registry.ts";
import { createLog } from "../../src/logging/log.ts";
import { openStore } from "../../src/persistence/open_store.ts";
import { type Engine, startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { withDatabase } from "../helpers/with_database.ts";
import { FakeSandbox } from "./_fakes.ts";
import { shown as shownOf } from "./_shown.ts";

const shown = (engine: Engine): string[] => shownOf(engine, engine.events.at(-1)?.queryId);

const END = replyJson([], { final: "That is all" });

Deno.test("forget() removes a variable, from the index and in a new process too", async () => {
  await withDatabase(async (path) => {
    await using engine = await startEngine([
      replyJson("const rows = [1]\nconst kept = 2"),
      replyJson(["await forget('rows', 'missing')", "typeof rows"]),
      END,
    ], { path });
    await engine.ask("x");
    assert.deepEqual(shown(engine).slice(-2), ['{ forgotten: [ "rows" ] }', '"undefined"']);
    assert.match(engine.context(2), /forgotten: rows\(v1\)/);
    await engine.close();
    await using again = await startEngine([replyJson("[typeof rows, kept].join()"), END], { path });
    await again.ask("y");
    assert.deepEqual(shown(again), ['"undefined,2"']);
    assert.match(again.context(0), /forgotten: rows\(v1\)/);
  });
});

Deno.test("forget() and a new value in the same iteration: the variable lives", async () => {
  await withDatabase(async (path) => {
    await using engine = await startEngine([
      replyJson("var rows = [1]"),
      replyJson(["await forget('rows')", "var rows = [2]"]),
      END,
    ], { path });
    await engine.ask("x");
    await engine.close();
    await using again = await startEngine([replyJson("rows[0]"), END], { path });
    await again.ask("y");
    assert.deepEqual(shown(again), ["2"]);
  });
});

Deno.test("restoreVar() brings a forgotten variable back, in the next iteration and a new process", async () => {
  await withDatabase(async (path) => {
    await using engine = await startEngine([
      replyJson("const rows = [1, 2]\nfunction size() { return rows.length }"),
      replyJson("await forget('rows', 'size')"),
      replyJson(["await restoreVar('rows')", "await restoreVar('size')", "size()"]),
      END,
    ], { path });
    await engine.ask("x");
    assert.deepEqual(shown(engine).slice(-3), [
      '{ name: "rows", version: 1 }',
      '{ name: "size", version: 1 }',
      "2",
    ]);
    await engine.close();
    await using again = await startEngine([replyJson("size()"), END], { path });
    await again.ask("y");
    assert.deepEqual(shown(again), ["2"]);
    assert.doesNotMatch(again.context(0), /forgotten/);
  });
});

Deno.test("restoreVar() of an older version makes it the newest one, for good", async () => {
  await withDatabase(async (path) => {
    await using engine = await startEngine([
      replyJson("let n = 1"),
      replyJson("n = 2"),
      replyJson(["await restoreVar('n', 1)", "n"]),
      replyJson(["n", "(await varHistory('n')).map(({ value }) => value).join()"]),
      END,
    ], { path, settings: { budget: 10 } });
    await engine.ask("x");
    assert.deepEqual(shown(engine).slice(-4), ['{ name: "n", version: 1 }', "1", "1", '"1,2,1"']);
    assert.match(engine.context(3), /let n = 1 .*\/\/ v3/);
    await engine.close();
    await using again = await startEngine([replyJson("n"), END], { path });
    await again.ask("y");
    assert.deepEqual(shown(again), ["1"]);
  });
});

Deno.test("restoreVar() and a change in the same block: the change is kept", async () => {
  await withDatabase(async (path) => {
    await using engine = await startEngine([
      replyJson("let list = [1]"),
      replyJson("list = [2]"),
      replyJson("await restoreVar('list', 1)\nlist.push(9)\nlist.join()"),
      END,
    ], { path });
    await engine.ask("x");
    assert.deepEqual(shown(engine).at(-1), '"1,9"');
    await engine.close();
    await using again = await startEngine([replyJson("list.join()"), END], { path });
    await again.ask("y");
    assert.deepEqual(shown(again), ['"1,9"']);
  });
});

Deno.test("restoreVar() explains why it cannot restore a version", async () => {
  await using engine = await startEngine([
    replyJson("const n = 1", { thinking: "hm" }),
    replyJson(["await restoreVar('n', 7)", "await restoreVar('nothing')", "await restoreVar('$reasoning')"]),
    END,
  ]);
  await engine.ask("x");
  const [, first, second, third] = shown(engine);
  assert.match(first ?? "", /Cannot find n v7: it has only version 1/);
  assert.match(second ?? "", /Cannot find nothing: no earlier step stored a variable with this name/);
  assert.match(third ?? "", /Cannot restore \$reasoning: it is a system variable/);
});

Deno.test("vars() lists variables as the index shows them", async () => {
  await using engine = await startEngine([
    replyJson("// How many\nconst n = 1\nfunction f(a: number) { return a }"),
    replyJson(
      "await answer((await vars()).map(({ name, kind, versions, scope, doc }) => [name, kind, versions, scope, doc]))",
    ),
  ]);
  const { answer } = await engine.ask("x");
  const rows: unknown[][] = JSON.parse(answer);
  assert.deepEqual(rows.find(([name]) => name === "n"), ["n", "data", 1, "live", "How many"]);
  assert.deepEqual(rows.find(([name]) => name === "f")?.slice(0, 4), ["f", "function", 1, "live"]);
  assert.deepEqual(rows.find(([name]) => name === "$query")?.[3], "system");
});

Deno.test("Environment gives a new process the system variables of the query before", async () => {
  await withDatabase(async (path) => {
    await using engine = await startEngine([replyJson("1", { thinking: "my thought", final: "my answer" })], { path });
    await engine.ask("my question");
    await engine.close();
    await using again = await startEngine([replyJson("[$query, $reasoning, $answer].join('|')"), END], { path });
    await again.ask("another");
    const [text] = shown(again);
    assert.match(text ?? "", /^"another\|.*\|my answer"$/);
  });
});

Deno.test("Environment keeps a block's variables when a later block kills the child", async () => {
  await using engine = await startEngine([
    replyJson([
      "const list = [1]",
      "list.push(2)",
      "(function f() { Promise.resolve().then(f) })()",
      "list.push(3); list.join()",
    ]),
    END,
  ], { settings: { deadlines: { defaultMs: 300, minMs: 100, maxMs: 300 } } });
  await engine.ask("x");
  assert.equal(shown(engine).at(-1), '"1,2,3"');
});

Deno.test("Environment.close() releases resources that extensions registered for it", async () => {
  const store = await openStore({ path: ":memory:" });
  const released: string[] = [];
  const never = (): never => assert.fail("not needed");
  const environment = await Environment.open({
    store,
    branch: await store.createConversation({ title: "T", channel: "test", workspace: "/w" }),
    registry: { activate: never, namedFile: never, release: (id) => released.push(id) },
    openSandbox: never,
    log: createLog("test"),
    now: Date.now,
  });
  await environment.close();
  assert.deepEqual(released, [environment.envId]);
  await store.close();
});

Deno.test("Environment starts no child for work that outlives its query", async () => {
  await using engine = await startEngine([]);
  let opened = 0;
  const environment = await Environment.open({
    branch: engine.branch,
    store: engine.store,
    registry: new ExtensionRegistry({ log: createLog("test") }),
    log: createLog("test"),
    openSandbox: () => (opened++, Promise.resolve(new FakeSandbox())),
    now: Date.now,
  });
  const { signal } = new AbortController();
  const rest = { requestMore: () => ({ granted: 0, budget: 4 }), answer: () => {}, onCall: () => {} };
  await environment.beginQuery({ queryId: "q", signal, budget: () => 4, ...rest });
  assert.equal(opened, 1);
  await environment.endQuery();
  await environment.rest();
  assert.equal(environment.alive, false);
  await assert.rejects(environment.readVariable("x", { maxBytes: 1 }), Cancelled);
  assert.deepEqual([opened, environment.alive], [1, false]);
});
