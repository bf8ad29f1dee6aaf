import assert from "node:assert/strict";
import { join } from "node:path";
import memo from "../../../extensions/memo/mod.ts";
import { ExtensionRegistry } from "../../../src/extension/registry/registry.ts";
import { recordingLog, VIEW } from "../../extension/_sample.ts";
import { withFolder } from "../../helpers/with_folder.ts";

interface Note {
  readonly id: string;
  readonly scope: string;
  readonly text: string;
}

async function activeIn(home: string | null, workspace = "/projects/a") {
  const registry = new ExtensionRegistry({ log: recordingLog().log, home });
  registry.register(memo);
  const env = { ...VIEW, workspace };
  const active = await registry.activate(env);
  const call = (name: string, ...args: unknown[]) =>
    active.call(`memo.${name}`, args, { env, signal: new AbortController().signal });
  return { block: active.blocks[0] ?? "", functions: active.functions, call };
}

Deno.test("memo says nothing before there is a note, and is not there without a home", () =>
  withFolder(async (home) => {
    const { block, functions } = await activeIn(home);
    assert.deepEqual([block, functions], ["", ["memo.add", "memo.list", "memo.remove"]]);
    assert.deepEqual((await activeIn(null)).functions, []);
  }));

Deno.test("memo keeps notes of a project and of the user over conversations", () =>
  withFolder(async (home) => {
    const { call } = await activeIn(home);
    const note = await call("add", "Tests run with:\n make check") as Note;
    assert.equal((await call("add", "Tests run with: make check") as Note).id, note.id);
    await call("add", "Answer in French", { scope: "user" });
    const again = await activeIn(home);
    assert.match(
      again.block,
      new RegExp(`project:\\n- \\[${note.id}\\] Tests run with: make check\\nuser:\\n.*French`),
    );
    const elsewhere = await activeIn(home, "/projects/b");
    assert.doesNotMatch(elsewhere.block, /make check/);
    assert.match(elsewhere.block, /French/);
    assert.equal(await again.call("remove", note.id), true);
    assert.equal(await again.call("remove", note.id), false);
    assert.deepEqual((await again.call("list") as Note[]).map(({ scope, text }) => [scope, text]), [
      ["user", "Answer in French"],
    ]);
    for await (const { name } of Deno.readDir(join(home, "memo"))) assert.doesNotMatch(name, /\.new$/);
  }));

Deno.test("memo loses no note of writers at the same time", () =>
  withFolder(async (home) => {
    const { call } = await activeIn(home);
    await Promise.all(Array.from({ length: 20 }, (_, at) => call("add", `Note ${at}`)));
    assert.equal((await call("list") as Note[]).length, 20);
  }));

Deno.test("memo is bounded: length, number, prompt; and says what it cannot read", () =>
  withFolder(async (home) => {
    const { call } = await activeIn(home);
    await assert.rejects(call("add", "x".repeat(1_001)), /argument 1/);
    await assert.rejects(call("add", " \n "), /Cannot keep the note/);
    for (let at = 0; at < 200; at++) await call("add", `Note ${at} ${"x".repeat(50)}`);
    await assert.rejects(call("add", "one more"), /there are 200 of the project/);
    const { block } = await activeIn(home);
    assert.ok(block.length < 1_500, `${block.length}`);
    assert.match(block, /the newest \d+ of 200; memo\.list\(\)/);
    assert.match(block, /Note 199 /);
    await Deno.writeTextFile(join(home, "memo/user.json"), "[]");
    await assert.rejects(call("list"), /user\.json: it holds no notes/);
    assert.equal((await activeIn(home)).block, ""); // left out and logged; the query goes on
  }));

Deno.test("vis memo and vis memos keep, list and remove", () =>
  withFolder(async (home) => {
    const out: string[] = [];
    const context = { print: (text: string) => void out.push(text), workspace: "/projects/a", home, config: undefined };
    const [add, list] = memo.cli ?? [];
    await add?.run({ text: "Use tabs", user: true }, context);
    const [, id = ""] = /Kept as (\w+)/.exec(out[0] ?? "") ?? [];
    await list?.run({}, context);
    assert.equal(out[1], `${id}  user  Use tabs\n`);
    assert.equal(await list?.run({ remove: id }, context), 0);
    assert.equal(await list?.run({ remove: id }, context), 1);
  }));
