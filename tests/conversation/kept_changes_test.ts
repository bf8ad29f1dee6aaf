import assert from "node:assert/strict";
import fs from "../../extensions/fs/mod.ts";
import { notesBelow } from "../../src/domain/query/work_summary.ts";
import { type Extension, fn, z } from "../../src/extension/mod.ts";
import type { FileChange } from "../../src/domain/undo.ts";
import { startEngine } from "../helpers/engine.ts";
import { final, replyJson } from "../helpers/scripted_provider.ts";
import { withFolder } from "../helpers/with_folder.ts";

const OPTIONS = { signal: new AbortController().signal, emit: () => {} };

/** `publish` stands for a function such as `git.commit`, after which an undo may have nothing to revert. */
const PRESS: Extension = {
  namespace: "test.press",
  alias: { ns: "test.ext.press", alias: "press" },
  doc: "Publishes.",
  version: "0.1.0",
  symbols: [
    fn("publish", () => "done", {
      doc: "Publishes.",
      args: z.tuple([]),
      returns: "string",
      action: { doing: "publishing", done: "published", things: "pages" },
    }),
  ],
};

function changed(queryId: string, paths: readonly string[], more: Partial<FileChange> = {}): FileChange {
  return { id: `${queryId}${paths.join()}`, at: Infinity, change: "edit", conversationId: "", queryId, paths, ...more };
}

Deno.test("a retry tells the model and the user which changes of earlier attempts are kept", async () => {
  const changes: FileChange[] = [];
  await using engine = await startEngine([final("one"), final("two"), final("three")], {
    fileChanges: () => Promise.resolve(changes),
  });
  const first = await engine.ask("the question");
  changes.push(
    changed(first.queryId, ["a.ts", "b.ts"]),
    changed(first.queryId, ["undone.ts"], { undone: true }),
    changed("other", ["other.ts"]),
  );
  const second = await engine.conversations.retry(first.queryId, OPTIONS);
  assert.match(
    engine.context(1),
    /An earlier attempt at this request changed files, .* still there: a\.ts, b\.ts\. Read/,
  );
  assert.deepEqual(second.notes, ["An earlier attempt changed a.ts, b.ts; these changes are kept"]);
  changes.push(changed(second.queryId, ["c.ts"]));
  const third = await engine.conversations.retry(second.queryId, OPTIONS);
  assert.match(engine.context(2), /still there: a\.ts, b\.ts, c\.ts\./);
  const [stored] = await engine.conversations.queries(engine.branch);
  assert.deepEqual(stored?.notes, third.notes);
});

Deno.test("a retry in a fork names the changes of the request and of the requests after it", async () => {
  const changes: FileChange[] = [];
  await using engine = await startEngine([final("zero"), final("one"), final("two"), final("again")], {
    fileChanges: () => Promise.resolve(changes),
  });
  const before = await engine.ask("before");
  const first = await engine.ask("first");
  const second = await engine.ask("second");
  changes.push(...[before, first, second].map(({ queryId }, at) => changed(queryId, [`${at}.ts`])));
  const { notes } = await engine.conversations.retry(first.queryId, { ...OPTIONS, seenFrom: engine.branch });
  assert.deepEqual(notes, ["An earlier attempt changed 1.ts, 2.ts; these changes are kept"]);
});

Deno.test("a retry runs although the file changes cannot be listed", async () => {
  const fileChanges = () => Promise.reject(new Error("the list is damaged"));
  await using engine = await startEngine([final("one"), final("two")], { fileChanges });
  const { queryId } = await engine.ask("the question");
  assert.deepEqual((await engine.conversations.retry(queryId, OPTIONS)).notes, []);
  assert.deepEqual(engine.logged.filter(({ event }) => event === "file_changes_not_listed").length, 1);
});

Deno.test("an undo is offered below an answer only if it would revert a file", async () => {
  await withFolder(async (workspace) => {
    const changes: FileChange[] = [];
    const write = (n: number) =>
      replyJson(`await fs.writeFile("a.txt", "${n}\\n"); await press.publish()`, { final: "Written" });
    await using engine = await startEngine([1, 2, 3, 4, 5].map(write), {
      extensions: [fs, PRESS],
      workspace,
      fileChanges: () => Promise.resolve(changes),
    });
    let last: string | undefined;
    const offered = async (...listed: readonly FileChange[]): Promise<boolean> => {
      changes.splice(0, Infinity, ...listed);
      const result = await engine.ask("write");
      assert.equal(result.work?.files, 1);
      last = result.notes.at(-1);
      return notesBelow(result, { undo: "vis undo" }).some((note) => note.endsWith("· vis undo"));
    };
    assert.ok(await offered(changed("q", ["a.txt", "b.txt"], { committed: ["b.txt"] })));
    assert.ok(!await offered(changed("q", ["a.txt"], { committed: ["a.txt"] }), changed("q", ["b.txt"], { at: 0 })));
    assert.ok(!await offered(changed("q", ["a.txt"], { lost: ["a.txt"] })));
    assert.ok(await offered(changed("q", ["a.txt", "b.txt"], { lost: ["b.txt"] })));
    assert.equal(last, "Undo cannot revert the changes of b.txt, because Vis kept no copy");
    assert.ok(!await offered());
  });
});

Deno.test("no undo is offered for a file that an extension changed without a record", async () => {
  const stamp = fn("stamp", ({ changedFile }) => changedFile?.("--- /dev/null\n+++ b/z.txt\n@@ -0,0 +1 @@\n+z\n"), {
    doc: "Stamps.",
    args: z.tuple([]),
    returns: "undefined",
  });
  await using engine = await startEngine([replyJson("await press.stamp()", { final: "Stamped" })], {
    extensions: [{ ...PRESS, symbols: [stamp] }],
    fileChanges: () => Promise.resolve([changed("earlier", ["a.txt"], { at: 0 })]),
  });
  const { work } = await engine.ask("stamp");
  assert.deepEqual([work?.files, work?.others.length, work?.noUndo], [1, 0, true]);
});

Deno.test("an undo is offered without listing changes if a request changed files only", async () => {
  await withFolder(async (workspace) => {
    await using engine = await startEngine([
      replyJson('await fs.writeFile("a.txt", "one\\n")', { final: "Written" }),
    ], {
      extensions: [fs],
      workspace,
      fileChanges: () => Promise.reject(new Error("listed")),
    });
    const result = await engine.ask("write");
    assert.ok(notesBelow(result, { undo: "vis undo" }).some((note) => note.endsWith("· vis undo")));
    assert.deepEqual(engine.logged.filter(({ event }) => event === "file_changes_not_listed"), []);
  });
});
