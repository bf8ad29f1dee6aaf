import assert from "node:assert/strict";
import { join } from "node:path";
import { chooseChanges, openChanges } from "../../../extensions/fs/change/undo_changes.ts";
import type { Checkpoint } from "../../../extensions/fs/checkpoints.ts";
import { FsPlaces } from "../../../extensions/fs/fs_places.ts";
import { UNDO_ARGUMENTS, undoCli } from "../../../extensions/fs/undo_cli.ts";
import type { CliContext } from "../../../src/extension/mod.ts";
import { LinuxWall } from "../../../src/processes/linux/linux_wall.ts";
import { Workspace } from "./_workspace.ts";

const checkpoint = (id: string, more: Partial<Checkpoint> = {}): Checkpoint => ({
  id,
  at: 0,
  change: "edit",
  of: [],
  conversationId: "c1",
  queryId: "q1",
  iterationId: "i1",
  items: [{ path: "a.txt", before: null, after: null }],
  temporary: [],
  ...more,
});
const ids = (all: readonly Checkpoint[]): string => all.map(({ id }) => id).join(" ");

Deno.test("chooseChanges() selects the last changes, the newest step or the newest request", () => {
  const all = [
    checkpoint("1", { queryId: "q0", iterationId: "i0" }),
    checkpoint("2"),
    checkpoint("3", { conversationId: "c2", queryId: "q9", iterationId: "i9" }),
    checkpoint("4"),
    checkpoint("5", { iterationId: "i2" }),
    checkpoint("6", { iterationId: "i2" }),
  ];
  assert.equal(ids(chooseChanges(all, {})), "6");
  assert.equal(ids(chooseChanges(all, { steps: 3 })), "6 5 4");
  assert.equal(ids(chooseChanges(all, { scope: "step" })), "6 5");
  assert.equal(ids(chooseChanges(all, { scope: "request" })), "6 5 4 2");
  assert.equal(ids(chooseChanges(all, { scope: "request", conversation: "c2" })), "3");
  assert.equal(ids(chooseChanges(all, { steps: 9, conversation: "c1" })), "6 5 4 2 1");
  assert.equal(ids(chooseChanges(all, { redo: true })), "");
  assert.equal(ids(chooseChanges([], { scope: "request" })), "");
});

Deno.test("chooseChanges() goes by iterations where no query is known, and by changes where neither is", () => {
  const none = { queryId: null, iterationId: null };
  assert.equal(ids(chooseChanges([checkpoint("1", none), checkpoint("2", none)], { scope: "request" })), "2");
  const all = [checkpoint("1", { queryId: null }), checkpoint("2", { queryId: null })];
  assert.equal(ids(chooseChanges(all, { scope: "request" })), "2 1");
});

Deno.test("openChanges() omits undone changes, and includes redone ones", () => {
  const all = [checkpoint("1"), checkpoint("2"), checkpoint("3", { change: "undo", of: ["2"] })];
  assert.equal(ids(openChanges(all)), "1 3");
  assert.equal(ids(chooseChanges(all, { redo: true })), "3");
  const again = [...all, checkpoint("4", { change: "redo", of: ["3"] })];
  assert.equal(ids(openChanges(again)), "1 2 4");
  assert.equal(ids(chooseChanges(again, { steps: 5 })), "2 1");
});

Deno.test("chooseChanges() omits later changes of a query that is cut, and of no other one", () => {
  const all = [
    checkpoint("1", { at: 5 }),
    checkpoint("2", { at: 10 }),
    checkpoint("3", { at: 11, queryId: "q2" }),
    checkpoint("4", { at: 12 }),
  ];
  const cuts = [{ queryId: "q1", at: 10 }];
  assert.equal(ids(chooseChanges(all, { steps: 9, cuts })), "3 1");
  assert.equal(ids(chooseChanges(all.slice(0, 2), { scope: "request", cuts })), "1");
  assert.equal(ids(chooseChanges(all, { steps: 9, cuts: [{ queryId: "q2", at: 0 }] })), "4 2 1");
});

Deno.test("chooseChanges() redoes no undo of a change that is cut", () => {
  const all = [
    checkpoint("1"),
    checkpoint("2", { at: 10, queryId: "q2" }),
    checkpoint("3", { at: 11, change: "undo", of: ["1"], queryId: null }),
    checkpoint("4", { at: 12, change: "undo", of: ["2"], queryId: null }),
  ];
  assert.equal(ids(chooseChanges(all, { redo: true })), "4");
  assert.equal(ids(chooseChanges(all, { redo: true, cuts: [{ queryId: "q2", at: 0 }] })), "3");
});

async function cli(
  workspace: Workspace,
  options: Record<string, unknown>,
  more: { readonly spawn?: NonNullable<CliContext["spawn"]>; readonly secrets?: readonly string[] } = {},
) {
  let text = "";
  const own = { workspace: workspace.root, home: workspace.home, ...more };
  const place = { ...own, print: (part: string) => void (text += part) };
  const code = await undoCli(UNDO_ARGUMENTS.parse(options), { ...place, places: new FsPlaces() });
  return { code, told: JSON.parse(text) };
}

async function git(folder: string, ...args: string[]): Promise<void> {
  const own = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"];
  const { success } = await new Deno.Command("git", { args: [...own, ...args], cwd: folder }).output();
  assert.ok(success, args.join(" "));
}

Deno.test("undoCli() lists, undoes and redoes, for the conversation that made the changes", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one\n" });
  await workspace.call("edit", "a.txt", { old: "one", new: "two" });
  const { conversationId } = workspace.env;
  const listed = await cli(workspace, { list: true });
  assert.equal(listed.code, 0);
  assert.deepEqual(
    listed.told.changes.map(({ id: _, at: __, ...one }: { id: string; at: number }) => one),
    [{ change: "edit", conversationId, queryId: null, iterationId: null, paths: ["a.txt"], undone: false }],
  );
  for (const conversation of ["nobody", conversationId.slice(0, 8)]) {
    assert.equal((await cli(workspace, { conversation })).code, 1, "only a whole id names a conversation");
    assert.deepEqual((await cli(workspace, { list: true, conversation })).told.changes, []);
  }
  const { code, told } = await cli(workspace, { conversation: conversationId });
  assert.deepEqual([code, told.files.length, await workspace.text("a.txt")], [0, 1, "one\n"]);
  assert.deepEqual((await cli(workspace, { list: true })).told.changes.map((one: { undone: boolean }) => one.undone), [
    false,
    true,
  ]);
  await cli(workspace, { redo: true, conversation: conversationId });
  assert.equal(await workspace.text("a.txt"), "two\n");
});

Deno.test("undoCli() refuses files that were changed by others, and forces them if requested", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one\n" });
  await workspace.call("edit", "a.txt", { old: "one", new: "two" });
  await workspace.put("a.txt", "mine\n");
  assert.deepEqual(await cli(workspace, {}), {
    code: 1,
    told: {
      error: "Cannot undo: a.txt got other changes since",
      kept: [{ path: "a.txt", reason: "got other changes since" }],
      code: "files_changed",
    },
  });
  assert.equal((await cli(workspace, { force: true })).code, 0);
  assert.equal(await workspace.text("a.txt"), "one\n");
  await cli(workspace, { redo: true });
  assert.equal(await workspace.text("a.txt"), "mine\n");
});

Deno.test("undoCli() counts the other files and folders apart", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one\n" });
  await workspace.call("edit", "a.txt", { old: "one", new: "two" });
  await workspace.call("writeFile", "new/b.txt", "b\n");
  await workspace.put("a.txt", "mine\n");
  const { told } = await cli(workspace, { steps: 2 });
  assert.deepEqual([told.others, told.otherFolders], [1, 1]);
});

Deno.test("undoCli() keeps a file that was committed after its change, and forces it if requested", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one\n", "b.txt": "one\n" });
  await git(workspace.root, "init", "-q");
  await git(workspace.root, "add", ".");
  await git(workspace.root, "commit", "-qm", "first");
  await workspace.call("edit", "a.txt", { old: "one", new: "two" });
  assert.equal((await cli(workspace, { dryRun: true })).code, 0);
  const committed = async () =>
    (await cli(workspace, { list: true })).told.changes.map((one: { committed?: string[] }) => one.committed);
  assert.deepEqual(await committed(), [undefined]);
  await git(workspace.root, "commit", "-qam", "second");
  assert.deepEqual(await committed(), [["a.txt"]]);
  assert.deepEqual(await cli(workspace, {}), {
    code: 1,
    told: {
      error: "Cannot undo: a.txt went into a git commit since",
      kept: [{ path: "a.txt", reason: "went into a git commit since" }],
      code: "files_changed",
    },
  });
  assert.equal(await workspace.text("a.txt"), "two\n");
  const shown = await cli(workspace, { dryRun: true, rest: true, committed: true });
  assert.match(shown.told.files[0].diff, /-one\n\+two/);
  await workspace.call("edit", "b.txt", { old: "one", new: "three" });
  assert.equal((await cli(workspace, {})).code, 0);
  assert.equal(await workspace.text("b.txt"), "one\n");
  assert.equal((await cli(workspace, { force: true })).code, 0);
  assert.equal(await workspace.text("a.txt"), "one\n");
  assert.equal((await cli(workspace, { redo: true })).code, 0);
  assert.deepEqual((await committed()).at(-1), ["a.txt"], "the redo brings the committed content back");
  await workspace.put("a.txt", "broken\n");
  await workspace.call("readFile", "a.txt");
  await workspace.call("edit", "a.txt", { old: "broken", new: "two" });
  assert.deepEqual([(await committed()).at(0), (await committed()).at(-1)], [undefined, ["a.txt"]]);
});

Deno.test("undoCli() keeps a file that was committed in a repository below the workspace", async () => {
  await using workspace = await Workspace.with({ "mono/a.txt": "one\n", "tools/a.txt": "one\n" });
  const [mono, tools] = ["mono", "tools"].map((name) => `${workspace.root}/${name}`) as [string, string];
  for (const folder of [mono, tools]) await git(folder, "init", "-q");
  for (const path of ["mono/a.txt", "tools/a.txt", "tools/new/b.txt"]) await workspace.call("writeFile", path, "two\n");
  await git(tools, "add", ".");
  await git(tools, "commit", "-qm", "first");
  const { changes } = (await cli(workspace, { list: true })).told;
  assert.deepEqual(
    changes.map(({ committed }: { committed?: string[] }) => committed),
    [["tools/new/b.txt"], ["tools/a.txt"], undefined],
  );
  const { code, told } = await cli(workspace, { steps: 3 });
  assert.deepEqual([code, told.code, told.kept.length, told.others], [1, "files_changed", 2, 1]);
});

Deno.test({
  name: "undoCli() undoes a file that is only staged, although another commit followed",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    await using workspace = await Workspace.with({ "a.txt": "one\n", "b.txt": "one\n" });
    const { root, home } = workspace;
    await git(root, "init", "-q");
    await git(root, "add", "a.txt");
    for (const path of ["new \u00e9.txt", "a.txt"]) await workspace.call("writeFile", path, "two\n");
    await git(root, "add", "b.txt");
    await git(root, "commit", "-qm", "first");
    await git(root, "add", ".");
    const env = { PATH: "/usr/local/bin:/usr/bin:/bin" };
    const wall = new LinuxWall({ home, visHome: home, read: [], network: false, env, temporary: workspace.outside });
    const spawn: CliContext["spawn"] = (argv, options) => wall.spawn(root, argv, options);
    assert.equal((await cli(workspace, { steps: 2 }, { spawn })).code, 0);
    assert.deepEqual(await workspace.names(), [".git", "a.txt", "b.txt"]);
    await cli(workspace, { redo: true });
    await git(root, "commit", "-qam", "second");
    assert.equal((await cli(workspace, { steps: 2 }, { spawn })).told.kept.length, 2);
  },
});

Deno.test("undoCli() lists the files that it could not undo, and why, with the changes that block each other", async () => {
  await using workspace = await Workspace.with({ "a.txt": "1\n", "b.txt": "1\n", "c.txt": "1\n" });
  const blocked = async () =>
    (await cli(workspace, { list: true, faults: true })).told.changes
      .map((one: { blocked?: { path: string; reason: string }[] }) =>
        one.blocked?.map(({ path, reason }) => `${path} ${reason}`)
      );
  const others = (path: string): string => `${path} got other changes since`;
  for (const now of ["2", "3"]) {
    for (const path of ["a.txt", "b.txt"]) await workspace.call("writeFile", path, `${now}\n`);
  }
  assert.deepEqual(await blocked(), [undefined, undefined, undefined, undefined], "later changes of Vis block nothing");
  await workspace.put("b.txt", "mine\n");
  assert.deepEqual(await blocked(), [[others("b.txt")], undefined, [others("b.txt")], undefined]);
  await workspace.put("a.txt", "between\n");
  await workspace.call("readFile", "a.txt");
  await workspace.call("edit", "a.txt", { old: "between", new: "4" });
  assert.deepEqual((await blocked()).slice(0, 3), [undefined, [others("b.txt")], [others("a.txt")]]);
  await cli(workspace, { scope: "call" });
  assert.deepEqual((await blocked()).slice(0, 2), [undefined, undefined], "neither the undo nor the undone change");
  await workspace.call("edit", "c.txt", { old: "1", new: "2" });
  for await (const { name } of Deno.readDir(`${workspace.home}/checkpoints`)) {
    await Deno.remove(`${workspace.home}/checkpoints/${name}/objects`, { recursive: true });
  }
  assert.deepEqual((await blocked())[0], ["c.txt Vis no longer keeps the previous content of the file"]);
  const { told } = await cli(workspace, { list: true });
  assert.ok(told.changes.every((one: object) => !("blocked" in one)), "only where it was asked for");
});

Deno.test("undoCli() changes no file beside another program's changes, unless the rest or all is requested", async () => {
  await using workspace = await Workspace.with({ "a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n" });
  await workspace.call("writeFile", "c.txt", "C\n");
  await workspace.call("edit", [{ path: "a.txt", old: "a", new: "A" }, { path: "b.txt", old: "b", new: "B" }]);
  await workspace.put("b.txt", "mine\n");
  const texts = () => Promise.all(["a.txt", "b.txt", "c.txt"].map((name) => workspace.text(name)));
  const kept = [{ path: "b.txt", reason: "got other changes since" }];
  const error = "Cannot undo: b.txt got other changes since; no file changed";
  for (const dryRun of [true, false]) {
    const refused = await cli(workspace, { dryRun, scope: "call" });
    assert.deepEqual(refused, { code: 1, told: { error, code: "files_changed", others: 1, kept } });
    assert.deepEqual(await texts(), ["A\n", "mine\n", "C\n"]);
  }
  assert.equal((await cli(workspace, { list: true })).told.changes.length, 2);
  const shown = await cli(workspace, { dryRun: true, scope: "call", rest: true });
  assert.deepEqual([shown.code, shown.told.kept, await texts()], [1, kept, ["A\n", "mine\n", "C\n"]]);
  const undone = await cli(workspace, { scope: "call", rest: true });
  assert.deepEqual([undone.code, undone.told.kept, undone.told.files.length], [1, kept, 1]);
  assert.deepEqual(await texts(), ["a\n", "mine\n", "C\n"]);
  const [, partly] = (await cli(workspace, { list: true })).told.changes;
  assert.deepEqual([partly.undone, partly.paths, partly.kept], [true, ["a.txt", "b.txt"], ["b.txt"]]);
  const older = await cli(workspace, { scope: "call" });
  assert.deepEqual([older.code, await texts()], [0, ["a\n", "mine\n", "c\n"]]);
  assert.equal((await cli(workspace, { redo: true })).code, 0);
  assert.deepEqual(await texts(), ["a\n", "mine\n", "C\n"]);
  await cli(workspace, { scope: "call" });
  const forced = await cli(workspace, { scope: "call", force: true });
  assert.deepEqual([forced.code, forced.told.files.length, await texts()], [0, 1, ["a\n", "b\n", "c\n"]]);
  assert.equal((await cli(workspace, { scope: "call", force: true })).told.error, "Nothing to undo");
  await cli(workspace, { redo: true });
  assert.deepEqual(await texts(), ["a\n", "mine\n", "c\n"]);
});

Deno.test("undoCli() with rest keeps a file whose previous content is gone, and undoes the others", async () => {
  await using workspace = await Workspace.with({ "a.txt": "a\n" });
  await workspace.call(
    "patch",
    "a.txt\n<<<<<<< SEARCH\na\n=======\nA\n>>>>>>> REPLACE\nb.txt\n<<<<<<< SEARCH\n=======\nb\n>>>>>>> REPLACE\n",
  );
  for await (const { name } of Deno.readDir(`${workspace.home}/checkpoints`)) {
    await Deno.remove(`${workspace.home}/checkpoints/${name}/objects`, { recursive: true });
  }
  const refused = (await cli(workspace, {})).told;
  assert.match(refused.error, /^Cannot undo: a\.txt stayed, because .*; no file changed$/);
  assert.deepEqual([refused.code, refused.others, await workspace.text("b.txt")], [undefined, 1, "b\n"]);
  const { code, told } = await cli(workspace, { rest: true });
  assert.deepEqual([code, told.files.map(({ path }: { path: string }) => path)], [1, ["b.txt"]]);
  assert.match(told.kept[0].reason, /Vis no longer keeps the previous content of the file/);
  assert.deepEqual([await workspace.text("a.txt"), await workspace.names()], ["A\n", ["a.txt"]]);
});

Deno.test("undoCli() shows a file that was moved and edited as one file with its changed lines", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one\ntwo\n", "old/b.txt": "b\n", "c.png": "" });
  await Deno.writeFile(join(workspace.root, "c.png"), new Uint8Array([0, 1, 2]));
  await workspace.call("move", "a.txt", "first.txt");
  await workspace.call("move", "first.txt", "new/a.txt");
  await workspace.call("edit", "new/a.txt", { old: "one", new: "1" });
  await workspace.call("move", "old", "moved");
  await workspace.call("move", "c.png", "d.png");
  const shown = async (options: object): Promise<Readonly<Record<string, string>>> => {
    const { files } = (await cli(workspace, { dryRun: true, steps: 5, ...options })).told;
    return Object.fromEntries(files.map(({ path, diff }: { path: string; diff: string }) => [path, diff]));
  };
  const lines = "@@ -1,2 +1,2 @@\n-one\n+1\n two\n";
  assert.deepEqual(await shown({}), {
    "a.txt": "",
    "new/a.txt": `--- a/a.txt\n+++ b/new/a.txt\n${lines}`,
    "old/b.txt": "",
    "moved/b.txt": "--- a/old/b.txt\n+++ b/moved/b.txt\n",
    "c.png": "Binary file c.png removed\n",
    "d.png": "Binary file d.png replaced\n",
  });
  assert.equal(
    (await shown({ effect: true }))["new/a.txt"],
    "--- a/new/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-1\n+one\n two\n",
  );
  await cli(workspace, { steps: 5 });
  assert.equal((await shown({ redo: true, effect: true }))["a.txt"], `--- a/a.txt\n+++ b/new/a.txt\n${lines}`);
});

Deno.test("undoCli() shows changes without undoing them, and undoes named ones once", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one\n" });
  await workspace.call("edit", "a.txt", { old: "one", new: "two" });
  const { told } = await cli(workspace, { dryRun: true });
  assert.match(told.files[0].diff, /\n-one\n\+two\n$/);
  const effect = (await cli(workspace, { dryRun: true, effect: true })).told.files;
  assert.match(effect[0].diff, /\n-two\n\+one\n$/);
  assert.equal(await workspace.text("a.txt"), "two\n");
  const changes = told.changes.map(({ id }: { id: string }) => id).join(",");
  const { files } = (await cli(workspace, { changes })).told;
  assert.deepEqual(files.map(({ diff }: { diff: string }) => diff), effect.map(({ diff }: { diff: string }) => diff));
  assert.match(
    (await cli(workspace, { dryRun: true, effect: true, redo: true })).told.files[0].diff,
    /\n-one\n\+two\n$/,
  );
  assert.deepEqual(await cli(workspace, { changes }), {
    code: 0,
    told: { changes: [], files: [], folders: [], kept: [] },
  });
  assert.equal(await workspace.text("a.txt"), "one\n");
});

Deno.test("undoCli() says that nothing is left of a change, and then undoes an earlier one", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one\n", "b.txt": "one\n" });
  await workspace.call("edit", "a.txt", { old: "one", new: "two" });
  await workspace.call("edit", "b.txt", { old: "one", new: "two" });
  await workspace.put("b.txt", "one\n");
  const first = await cli(workspace, { scope: "call" });
  assert.deepEqual([first.code, first.told], [
    1,
    { error: "Cannot undo the change: the state of b.txt is already as before it; repeat for an earlier change" },
  ]);
  assert.deepEqual((await cli(workspace, { redo: true })).told, { error: "Nothing to redo", nothing: true });
  const { code, told } = await cli(workspace, { scope: "call" });
  assert.deepEqual([code, told.files.length, await workspace.text("a.txt")], [0, 1, "one\n"]);
});

Deno.test("undoCli() reports that there is nothing to undo", async () => {
  await using workspace = await Workspace.with();
  let text = "";
  const place = { workspace: workspace.root, home: null, print: (part: string) => void (text += part) };
  assert.equal(await undoCli({}, { ...place, places: new FsPlaces() }), 1);
  assert.match(text, /Vis has no home folder, so it stored no file checkpoints/);
});

Deno.test("undoCli() counts a change of which every file was kept as not undone", async () => {
  await using workspace = await Workspace.with({ "a.txt": "a\n", "b.txt": "b\n" });
  await workspace.call("writeFile", "b.txt", "B\n");
  await workspace.call("writeFile", "a.txt", "A\n");
  await workspace.put("b.txt", "mine\n");
  for (const dryRun of [true, false]) {
    const { told } = await cli(workspace, { steps: 2, dryRun, rest: true });
    assert.deepEqual(told.changes.map(({ paths }: { paths: string[] }) => paths), [["a.txt"]]);
    assert.deepEqual(told.kept.map(({ path }: { path: string }) => path), ["b.txt"]);
  }
});

Deno.test("undoCli() counts no folder that stays because it has other files", async () => {
  await using workspace = await Workspace.with();
  await workspace.call("writeFile", "new/a.txt", "a\n");
  await workspace.put("new/b.txt", "mine\n");
  const { told } = await cli(workspace, {});
  assert.deepEqual([told.files.length, told.folders, told.notes], [1, [], [
    "new stays, because the folder is not empty",
  ]]);
  assert.equal(await workspace.text("new/b.txt"), "mine\n");
});

Deno.test("undoCli() shows no line of a secret file, whose change it undoes", async () => {
  await using workspace = await Workspace.with({ ".env": "KEY=1\n" });
  await workspace.call("writeFile", ".env", "KEY=2\n");
  const shown = "--- a/.env\n+++ b/.env\n… the lines of this secret file are left out, with +1 −1 lines\n";
  for (const dryRun of [true, false]) {
    const { told } = await cli(workspace, { dryRun }, { secrets: [".env*"] });
    assert.deepEqual(told.files.map(({ diff }: { diff: string }) => diff), [shown]);
  }
  assert.equal(await workspace.text(".env"), "KEY=1\n");
});
