import assert from "node:assert/strict";
import memo from "../../../extensions/memo/mod.ts";
import { ExtensionRegistry } from "../../../src/extension/registry.ts";
import type { OwnStore } from "../../../src/extension/mod.ts";
import { OwnStores } from "../../environment/_own_stores.ts";
import { recordingLog, VIEW } from "../../extension/_sample.ts";

interface Note {
  readonly id: string;
  readonly scope: string;
  readonly text: string;
}

async function activeIn(stores: OwnStores, workspace = "/projects/a") {
  const registry = new ExtensionRegistry({ log: recordingLog().log, home: null });
  registry.register(memo);
  const env = { ...VIEW, workspace, store: stores.of("vis.memo", workspace) };
  const active = await registry.activate(env);
  const call = (name: string, ...args: unknown[]) =>
    active.call(`memo.${name}`, args, { env, signal: new AbortController().signal });
  return { block: active.blocks[0] ?? "", functions: active.functions, call };
}

Deno.test("memo shows nothing before there is a memo, and is absent in a sub-query", async () => {
  await using stores = await OwnStores.open();
  const { block, functions } = await activeIn(stores);
  assert.deepEqual([block, functions], ["", ["memo.add", "memo.list", "memo.remove"]]);
  assert.equal(memo.activate?.({ ...VIEW, depth: 1 }), false);
});

Deno.test("memo keeps memos of a project and of the user across conversations", async () => {
  await using stores = await OwnStores.open();
  const { call } = await activeIn(stores);
  const note = await call("add", "Tests run with:\n make check") as Note;
  assert.equal((await call("add", "Tests run with: make check") as Note).id, note.id);
  await call("add", "Answer in French", { scope: "user" });
  const again = await activeIn(stores);
  assert.match(
    again.block,
    new RegExp(`project:\\n- \\[${note.id}\\] Tests run with: make check\\nuser:\\n.*French`),
  );
  const elsewhere = await activeIn(stores, "/projects/b");
  assert.doesNotMatch(elsewhere.block, /make check/);
  assert.match(elsewhere.block, /French/);
  assert.equal(await again.call("remove", note.id), true);
  assert.equal(await again.call("remove", note.id), false);
  assert.deepEqual((await again.call("list") as Note[]).map(({ scope, text }) => [scope, text]), [
    ["user", "Answer in French"],
  ]);
});

Deno.test("memo loses no memo of writers at the same time, and keeps the same text of two once", async () => {
  await using stores = await OwnStores.open();
  const { call } = await activeIn(stores);
  await Promise.all(Array.from({ length: 20 }, (_, at) => call("add", `Note ${at >> 1}`)));
  assert.equal((await call("list") as Note[]).length, 10);
});

Deno.test("memo gives the same text of the project and of the user two ids", async () => {
  await using stores = await OwnStores.open();
  const { call } = await activeIn(stores);
  const [ofProject, ofUser] = await Promise.all([
    call("add", "Use tabs") as Promise<Note>,
    call("add", "Use tabs", { scope: "user" }) as Promise<Note>,
  ]);
  assert.notEqual(ofProject.id, ofUser.id);
  await call("remove", ofUser.id);
  assert.deepEqual((await call("list") as Note[]).map(({ id, scope }) => [id, scope]), [[ofProject.id, "project"]]);
});

Deno.test("memo is bounded: length, number, prompt", async () => {
  await using stores = await OwnStores.open();
  const { call } = await activeIn(stores);
  await assert.rejects(call("add", "x".repeat(1_001)), /argument 1/);
  await assert.rejects(call("add", " \n "), /Cannot keep the memo: its text is empty/);
  const { id } = await call("add", "y".repeat(1_000)) as Note;
  assert.ok((await activeIn(stores)).block.includes(`- [${id}] yyy`));
  await call("remove", id);
  for (let at = 0; at < 200; at++) await call("add", `Note ${at} ${"x".repeat(50)}`);
  await assert.rejects(call("add", "one more"), /this workspace has 200 memos, the limit/);
  const { block } = await activeIn(stores);
  assert.ok(block.length < 1_500, `${block.length}`);
  assert.match(block, /the newest \d+ of 200; memo\.list\(\)/);
});

Deno.test("vis memo and vis memos keep, list and remove", async () => {
  await using stores = await OwnStores.open();
  const out: string[] = [];
  const store: OwnStore = stores.of("vis.memo", "/projects/a");
  const print = (text: string) => void out.push(text);
  const context = {
    print,
    workspace: "/projects/a",
    home: null,
    config: undefined,
    ask: () => assert.fail("asked"),
    store,
  };
  const [add, list] = memo.cli ?? [];
  await add?.run({ text: "Use tabs", user: true }, context);
  const [, id = ""] = /Kept as (\w+)/.exec(out[0] ?? "") ?? [];
  await list?.run({}, context);
  assert.equal(out[1], `${id}  user  Use tabs\n`);
  assert.equal(await list?.run({ remove: id }, context), 0);
  assert.equal(await list?.run({ remove: id }, context), 2);
});
