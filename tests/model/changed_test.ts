import assert from "node:assert/strict";
import { join } from "node:path";
import { FsPlaces } from "../../extensions/fs/fs_places.ts";
import { UNDO_ARGUMENTS, undoCli } from "../../extensions/fs/undo_cli.ts";
import { ApprovalFolder } from "../../src/app/session/approval_folder.ts";
import { ChangedFiles } from "../../src/domain/query/work_summary.ts";
import { ExtensionRegistry } from "../../src/extension/registry.ts";
import { startEngine } from "../helpers/engine.ts";
import { final, replyJson } from "../helpers/scripted_provider.ts";
import { withFolder } from "../helpers/with_folder.ts";
import fs from "../../extensions/fs/mod.ts";
import rlm from "../../extensions/rlm/mod.ts";

Deno.test("the model sees which files its request changed, and the user learns them at the end", async () => {
  await withFolder(async (workspace) => {
    await Deno.writeTextFile(join(workspace, "a.ts"), "one\ntwo\nthree\n");
    await using engine = await startEngine([
      replyJson('await fs.readFile("a.ts"); await fs.edit("a.ts", { old: "two", new: "2\\n2b" })'),
      replyJson('await fs.writeFile("b.md", "new\\n".repeat(800)); await fs.edit("a.ts", { old: "three", new: "3" })'),
      replyJson([], { final: "It is changed." }),
      replyJson([], { final: "Nothing more." }),
    ], { extensions: [fs], workspace });
    const { notes } = await engine.ask("Change it");
    assert.match(engine.context(1), /^<changed> a\.ts \+2 −1$/m);
    assert.match(engine.context(2), /^<changed> a\.ts \+3 −2, b\.md \+800 −0$/m);
    assert.deepEqual(notes, ["2 files changed +803 −2 (a.ts, b.md)"]);
    assert.doesNotMatch(engine.context(0), /<changed>/);
    assert.deepEqual((await engine.ask("And now?")).notes, []);
    assert.doesNotMatch(engine.context(3), /^<changed>/m);
    assert.match(engine.context(3), /2 files changed \+803 −2/);
  });
});

Deno.test("changes of an added folder ask once in each conversation, and count as changed files", async () => {
  await withFolder(async (lib) => {
    await withFolder(async (workspace) => {
      await Deno.writeTextFile(join(lib, "a.ts"), "one\n".repeat(300));
      const write =
        `await fs.writeFile("${lib}/b.ts", "b\\n"); await fs.edit("${lib}/a.ts", {old: "one", new: "1", all: true})`;
      await using engine = await startEngine([
        replyJson(`const text = await fs.readFile("${lib}/a.ts")`),
        replyJson(write),
        replyJson([], { final: "It is changed." }),
        replyJson(`await fs.remove("${lib}/b.ts")`),
        replyJson([], { final: "It is removed." }),
        replyJson(`await fs.remove("${lib}/a.ts")`),
        replyJson([], { final: "It is not removed." }),
      ], { extensions: [fs], workspace, readFolders: [lib], approvalRules: new ApprovalFolder(workspace) });
      const asked: string[] = [];
      const approve = ({ what }: { readonly what: string }) => {
        asked.push(what);
        const decision = asked.length === 1 ? "conversation" as const : "no" as const;
        return Promise.resolve({ decision, reason: "" });
      };
      const { notes } = await engine.ask("Change it", { approve });
      assert.deepEqual(notes, [`2 files changed +301 −300 (${lib}/a.ts, ${lib}/b.ts)`]);
      assert.match(engine.context(2), new RegExp(`^<changed> .*${lib}/a\\.ts \\+300 −300`, "m"));
      assert.match(engine.context(2), /^const text\b.*which changed since$/m);
      await engine.ask("Remove b.ts", { approve });
      assert.deepEqual(asked, [`change b.ts in ${lib}, an added folder`]);
      const other = await engine.conversations.create({ title: "other", channel: "test", workspace });
      const signal = new AbortController().signal;
      await engine.conversations.ask(other, "Remove a.ts", { approve, signal, emit: () => {} });
      assert.deepEqual(asked.slice(1), [`change a.ts in ${lib}, an added folder`]);
      assert.deepEqual(Array.from(Deno.readDirSync(lib), ({ name }) => name), ["a.ts"]);
    });
  });
});

Deno.test("the index marks variables with text of a file that changed since", async () => {
  await withFolder(async (workspace) => {
    await Deno.writeTextFile(join(workspace, "a.ts"), "one\n".repeat(300));
    await Deno.writeTextFile(join(workspace, "b.ts"), "two\n".repeat(300));
    const edit = (path: string) => `await fs.writeFile("${path}", "new\\n".repeat(300))`;
    await using engine = await startEngine([
      replyJson([
        'const a = await fs.readFile("./a.ts"), b = await fs.readFile("b.ts")',
        'const lines = a.split("\\n"), size = a.length, both = await fs.readFiles(["*.ts"])',
        'const other = "x".repeat(300)',
      ]),
      replyJson([edit("a.ts"), 'const now = await fs.readFile("a.ts")']),
      replyJson([], { final: "Done: a.ts is new." }),
      replyJson(['const a = await fs.readFile("a.ts"); await fs.move("b.ts", "c.ts")']),
      replyJson([], { final: "Read again." }),
      replyJson(['const edited = await fs.edit("a.ts", [{ old: a, new: a.slice(4) }]), half = a.slice(600)']),
      replyJson([], { final: "Edited." }),
    ], { extensions: [fs], workspace });
    const marked = (call: number) =>
      [...engine.context(call).matchAll(/^const (\w+)\b.*\/\/.* ?from (\S+), which changed since$/gm)].map((
        [, name, path],
      ) => `${name} ${path}`).toSorted();
    await engine.ask("Change it");
    assert.deepEqual(marked(1), []);
    assert.deepEqual(marked(2), ["a a.ts", "both a.ts", "lines a.ts"]);
    await engine.ask("Read it again");
    assert.deepEqual(marked(3), ["a a.ts", "both a.ts", "lines a.ts"]);
    assert.deepEqual(marked(4), ["b b.ts", "both a.ts", "lines a.ts"]);
    await engine.ask("Edit it");
    assert.deepEqual(marked(6), ["a a.ts", "b b.ts", "both a.ts", "half a.ts", "lines a.ts", "now a.ts"]);
  });
});

Deno.test("the index does not mark the result of a change, whatever its block has read", async () => {
  await withFolder(async (workspace) => {
    for (const name of ["a.ts", "b.ts"]) await Deno.writeTextFile(join(workspace, name), "one\n".repeat(300));
    await using engine = await startEngine([
      replyJson([
        `const text = await fs.readFile("a.ts")
const e5 = await fs.edit("a.ts", {
  old: text, new: "two\\n".repeat(300)
})
const e6 = await fs.writeFile("b.ts", "two\\n")
const both = [await fs.readFile("b.ts"), await fs.edit("b.ts", {old: "two", new: "three"})]`,
      ]),
      replyJson([], { final: "Changed." }),
    ], { extensions: [fs], workspace });
    await engine.ask("Change it");
    const marked = [...engine.context(1).matchAll(/^const (.+?)[: ].*which changed since$/gm)].map(([, name]) => name);
    assert.deepEqual(marked.toSorted(), ["both", "text"], engine.context(1));
  });
});

Deno.test("a later process knows which variables have text of a file that changed since, by any program", async () => {
  await withFolder(async (folder) => {
    const workspace = join(folder, "workspace"), path = join(folder, "vis.db");
    await Deno.mkdir(workspace);
    const write = (name: string, text: string) => Deno.writeTextFile(join(workspace, name), text.repeat(300));
    for (const name of ["a.ts", "b.ts", "c.ts", "d.ts"]) await write(name, "one\n");
    const read = "abcd".split("").map((name) => `${name} = await fs.readFile("${name}.ts")`).join(", ");
    const marked = ({ context }: { context(call: number): string }, call: number) =>
      [...context(call).matchAll(/^const (\w+)\b.*\/\/.* ?from (\S+), which changed since$/gm)].map((
        [, name, path],
      ) => `${name} ${path}`).toSorted();
    {
      await using engine = await startEngine([
        replyJson([
          `const ${read}`,
          'const lines = a.split("\\n")',
          'await fs.writeFile("d.ts", "two\\n".repeat(300))',
          'const late = d.split("\\n"), again = await fs.readFile("d.ts")',
        ]),
        replyJson([], { final: "Read." }),
      ], { extensions: [fs], workspace, path });
      await engine.ask("Read them");
      assert.deepEqual(marked(engine, 1), ["d d.ts", "late d.ts"]);
    }
    await write("a.ts", "three\n");
    await Deno.remove(join(workspace, "b.ts"));
    {
      await using engine = await startEngine([
        replyJson('const a = await fs.readFile("a.ts")'),
        replyJson([], { final: "Read again." }),
        replyJson('await restoreVar("a", 1)'),
        replyJson([], { final: "Restored." }),
        replyJson([], { final: "c.ts is another one." }),
      ], { extensions: [fs], workspace, path });
      await engine.ask("Read a.ts again");
      assert.deepEqual(marked(engine, 0), ["a a.ts", "b b.ts", "d d.ts", "late d.ts", "lines a.ts"]);
      assert.deepEqual(marked(engine, 1), ["b b.ts", "d d.ts", "late d.ts", "lines a.ts"]);
      await engine.ask("Restore a");
      assert.deepEqual(marked(engine, 3), ["a a.ts", "b b.ts", "d d.ts", "late d.ts", "lines a.ts"]);
      await write("c.ts", "three\n");
      await engine.ask("And c.ts?");
      assert.deepEqual(marked(engine, 4), ["a a.ts", "b b.ts", "c c.ts", "d d.ts", "late d.ts", "lines a.ts"]);
    }
  });
});

Deno.test("changes of a sub-query count as changes of its request, and are undone with it", async () => {
  await withFolder(async (folder) => {
    const [workspace, home] = [join(folder, "workspace"), join(folder, "home")];
    await Deno.mkdir(workspace);
    const registry = new ExtensionRegistry({ log: { debug() {}, info() {}, warn() {}, error() {} }, home });
    for (const extension of [fs, rlm]) registry.register(extension);
    await using engine = await startEngine([
      replyJson('await fs.writeFile("a.md", "a\\n"); await rlm.run("Write b.md")'),
      replyJson('await fs.writeFile("b.md", "b\\n"); await answer("It is written")'),
      replyJson('await fs.writeFile("c.md", "c\\n")', { final: "All of them are written." }),
    ], { source: () => registry, workspace });
    const { notes, queryId } = await engine.ask("Write them");
    assert.deepEqual(notes, ["3 files changed +3 −0 (c.md, b.md, a.md)"]);
    let told = "";
    const undo = (options: object) => {
      told = "";
      const place = { workspace, home, places: new FsPlaces(), print: (text: string) => void (told += text) };
      return undoCli(UNDO_ARGUMENTS.parse(options), place);
    };
    await undo({ list: true });
    const { changes } = JSON.parse(told) as { changes: { queryId: string }[] };
    assert.deepEqual(changes.map((change) => change.queryId), [queryId, queryId, queryId]);
    await undo({});
    assert.deepEqual([...Deno.readDirSync(workspace)], []);
  });
});

Deno.test("an undo by the user while a request runs reaches the model and the summary, and so does a redo", async () => {
  await withFolder(async (folder) => {
    const [workspace, home] = [join(folder, "workspace"), join(folder, "home")];
    await Deno.mkdir(workspace);
    for (const name of ["a.ts", "b.ts"]) await Deno.writeTextFile(join(workspace, name), "one\n");
    const registry = new ExtensionRegistry({ log: { debug() {}, info() {}, warn() {}, error() {} }, home });
    registry.register(fs);
    const place = { workspace, home, places: new FsPlaces(), print: () => {} };
    const undoes = (options: object, text: string) => () => ({
      text,
      after: undoCli(UNDO_ARGUMENTS.parse(options), place),
    });
    const edit = (name: string) => replyJson(`await fs.edit("${name}", { old: "one", new: "two" })`);
    await using engine = await startEngine([
      edit("a.ts"),
      undoes({}, edit("b.ts")),
      undoes({ redo: true }, replyJson("1 + 1")),
      undoes({ scope: "call" }, replyJson('await fs.writeFile("c.ts", "c\\n"); await fs.undo()')),
      undoes({}, replyJson([], { final: "Both are changed." })),
    ], { source: () => registry, workspace });
    const { notes } = await engine.ask("Change them");
    const shown = [1, 2, 3, 4].map((call) => /^<changed> (.*)$/m.exec(engine.context(call))?.[1]);
    const told = [1, 2, 3, 4].map((call) => /The user (?:undid|reapplied).*$/m.exec(engine.context(call))?.[0]);
    assert.deepEqual(shown, ["a.ts +1 −1", "b.ts +1 −1", "a.ts +1 −1, b.ts +1 −1", "a.ts +1 −1"]);
    assert.deepEqual(told, [
      undefined,
      "The user undid your changes of these files, so do not make them again unasked: a.ts",
      "The user reapplied your changes of these files: a.ts",
      "The user undid your changes of these files, so do not make them again unasked: b.ts",
    ]);
    assert.deepEqual(notes, []);
    assert.equal(await Deno.readTextFile(join(workspace, "a.ts")), "one\n");
    engine.provider.push(edit("b.ts"), replyJson([], { final: "b.ts is changed." }), final("Nothing is left."));
    await engine.ask("Change b.ts");
    await undoCli(UNDO_ARGUMENTS.parse({}), place);
    await engine.ask("And now?");
    assert.match(engine.context(7), /\[The user undid your changes of these files, .*: b\.ts\]/);
    assert.doesNotMatch(engine.context(7), /^files changed/m);
  });
});

Deno.test("ChangedFiles names binary and removed files, and counts the hidden ones", () => {
  const changed = new ChangedFiles();
  changed.add("Binary file p.png replaced\n");
  changed.add("--- a/gone.ts\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n");
  assert.equal(changed.line, "gone.ts +0 −1, p.png +0 −0");
  for (let at = 0; at < 300; at++) changed.add(`--- a/f${at}\n+++ b/f${at}\n@@ -1 +1 @@\n-a\n+b\n`);
  assert.match(changed.line, /^f197 \+1 −1, f196 \+1 −1, .*, f190 \+1 −1, 192 more$/);
});

Deno.test("a reverted change does not count, and removed and moved files are named", async () => {
  await withFolder(async (workspace) => {
    const sql = "-- one\nselect 1;\n-- two\n";
    for (const name of ["a.sql", "b.sql", "c.sql", "d.sql"]) await Deno.writeTextFile(join(workspace, name), sql);
    await using engine = await startEngine([
      replyJson(
        'await requestMoreIterations(4); await fs.readFiles("*.sql"); await fs.edit("a.sql", { old: "-- one", new: "-- 1" })',
      ),
      replyJson(
        'await fs.edit("a.sql", { old: "-- 1", new: "-- eins" }); await fs.edit("b.sql", { old: "1", new: "2" })',
      ),
      replyJson(
        'await fs.edit("b.sql", { old: "2", new: "1" }); await fs.remove("c.sql"); await fs.move("d.sql", "e.sql"); await fs.writeFile("f", "x")',
      ),
      replyJson('await fs.remove("f"); await fs.edit("a.sql", { old: "-- eins", new: "-- one" })'),
      replyJson('await fs.move("e.sql", "d.sql"); await fs.remove("c.sql.bak").catch(() => {})'),
      replyJson([], { final: "The files are renamed." }),
    ], { extensions: [fs], workspace });
    const { notes } = await engine.ask("Change it");
    assert.match(engine.context(1), /^<changed> a\.sql \+1 −1$/m);
    assert.match(engine.context(2), /^<changed> b\.sql \+1 −1, a\.sql \+1 −1$/m);
    assert.match(engine.context(3), /^<changed> f \+1 −0, e\.sql moved from d\.sql, c\.sql removed, a\.sql \+1 −1$/m);
    assert.match(engine.context(4), /^<changed> e\.sql moved from d\.sql, c\.sql removed$/m);
    assert.match(engine.context(5), /^<changed> c\.sql removed$/m);
    assert.deepEqual(notes, ["1 file changed +0 −0 (c.sql removed)"]);
  });
});

Deno.test("lines count that a diff is too long to show, and a file that two names lead to counts once", async () => {
  await withFolder(async (workspace) => {
    const long = "x".repeat(100_000);
    await Deno.writeTextFile(join(workspace, "long.js"), `${long}OLD${long}\n`);
    await Deno.writeTextFile(join(workspace, "many.txt"), `a\n${"b\n".repeat(500_001)}c\n`);
    await Deno.mkdir(join(workspace, "real"));
    await Deno.writeTextFile(join(workspace, "real/f.txt"), "1\n2\n");
    await Deno.symlink("real", join(workspace, "folder"));
    await Deno.symlink("real/f.txt", join(workspace, "link"));
    await using engine = await startEngine([
      replyJson('await fs.edit("long.js", { old: "OLD", new: "NEW\\n" }); await fs.readFile("link")'),
      replyJson(
        'await fs.edit("many.txt", { old: "c\\n", new: "d\\ne\\n" }); await fs.writeFile("all.txt", "y\\n".repeat(40000))',
      ),
      replyJson(
        'await fs.edit("link", { old: "1", new: "one" }); await fs.edit("folder/f.txt", { old: "2", new: "two" })',
      ),
      replyJson('await fs.patch("--- a/folder/f.txt\\n+++ b/folder/f.txt\\n@@ -1 +1 @@\\n-one\\n+1\\n")'),
      replyJson([], { final: "The files are changed." }),
    ], { extensions: [fs], workspace });
    const { notes } = await engine.ask("Change them");
    assert.match(engine.context(1), /^<changed> long\.js \+2 −1$/m);
    assert.match(engine.context(2), /^<changed> all\.txt \+40000 −0, many\.txt \+2 −1, long\.js \+2 −1$/m);
    assert.match(engine.context(3), /^<changed> real\/f\.txt \+2 −2, all/m);
    assert.deepEqual(notes, [
      "4 files changed +40005 −3 (real/f.txt, all.txt, many.txt, long.js)",
    ]);
  });
});

Deno.test("the first message of a follow-up has the earlier request's changes of files, within limits", async () => {
  await withFolder(async (workspace) => {
    await Deno.writeTextFile(`${workspace}/a.ts`, "one\ntwo\n");
    await using engine = await startEngine([
      replyJson('await fs.edit("a.ts", { old: "two", new: "2" })'),
      replyJson([`await fs.writeFile("b.ts", "line of it\\n".repeat(900))`], { final: "It is done" }),
      replyJson("1"),
      replyJson([], { final: "Nothing more is to be done" }),
      replyJson([], { final: "It stays" }),
    ], { extensions: [fs], workspace });
    await engine.ask("Change it");
    await engine.ask("And now?");
    await engine.ask("And then?");
    const handover = /<handover>\n([^]*?)\n<\/handover>/.exec(engine.context(2))?.[1] ?? "";
    assert.match(handover, /\nfiles changed: b\.ts \+900 −0, a\.ts \+1 −1\nits changes: --- a\/a\.ts\n/);
    assert.match(handover, /\n {2}-two\n {2}\+2\n[^]* characters left out [^]*\nanswer given: It is done/);
    assert.ok(handover.length < 2_500, `${handover.length}`);
    assert.doesNotMatch(engine.context(3), /files changed/);
    assert.doesNotMatch(engine.context(4), /files changed/);
  });
});
