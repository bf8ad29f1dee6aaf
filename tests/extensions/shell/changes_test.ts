import assert from "node:assert/strict";
import { join } from "node:path";
import { ChangedFiles } from "../../../src/domain/query/work_summary.ts";
import type { FileChanges } from "../../../src/extension/mod.ts";
import { until } from "../../helpers/until.ts";
import { FsPlaces } from "../../../extensions/fs/fs_places.ts";
import { undoCli } from "../../../extensions/fs/undo_cli.ts";
import { withCommands } from "./_with_commands.ts";

const only = (changes: Partial<FileChanges>) => ({ added: [], changed: [], removed: [], ...changes });

Deno.test("shell.run() reports files that a command added, changed and removed, and fs.undo() restores them", async () => {
  await withCommands({ "a.txt": "one\n", "b.txt": "b\n", "c.txt": "c\n" }, async ({ workspace, run, call, diffs }) => {
    assert.deepEqual((await run("cat a.txt")).changes, undefined);
    const { changes } = await run("sed -i s/one/two/ a.txt; rm b.txt; mkdir -p d/e; echo new > d/e/f; mkdir g");
    assert.deepEqual(changes, { files: 4, added: ["d/e/f", "g/"], changed: ["a.txt"], removed: ["b.txt"] });
    assert.deepEqual(diffs, [
      "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n",
      "--- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n",
      "--- /dev/null\n+++ b/d/e/f\n@@ -0,0 +1 @@\n+new\n",
    ]);
    await call("fs.undo");
    assert.deepEqual(await workspace.names(), ["a.txt", "b.txt", "c.txt"]);
    assert.deepEqual([await workspace.text("a.txt"), await workspace.text("b.txt")], ["one\n", "b\n"]);
    await call("fs.undo", { redo: true });
    assert.deepEqual(await workspace.names(), ["a.txt", "c.txt", "d", "g"]);
    assert.equal(await workspace.text("a.txt"), "two\n");
  });
});

Deno.test("undo takes contents of tracked files from git, and of others from copies, with modes and links", async () => {
  const large = `${"x".repeat(99)}\n`.repeat(20_000); // The file is larger than the limit for copies.
  await withCommands({ "large.txt": large, "own.txt": "own\n", "run.sh": "1\n" }, async (at) => {
    const { workspace, run, call, git } = at;
    await Deno.symlink("own.txt", join(workspace.root, "link"));
    await git("init", "-q");
    await git("add", "large.txt", "run.sh");
    await new Promise((resolve) => setTimeout(resolve, 20)); // A file as old as the index may have changed since.
    await git("-c", "core.trustctime=false", "commit", "-qm", "first");
    await Deno.writeTextFile(join(workspace.root, "run.sh"), "2\n");
    const { changes } = await run("sed -i s/x/y/ large.txt; echo >> own.txt; chmod +x run.sh; ln -sfn run.sh link");
    assert.deepEqual(changes, { files: 4, ...only({ changed: ["large.txt", "link", "own.txt", "run.sh"] }) });
    await call("fs.undo");
    assert.equal(await workspace.text("large.txt"), large);
    assert.deepEqual([await workspace.text("own.txt"), await workspace.text("run.sh")], ["own\n", "2\n"]);
    assert.equal(await Deno.readLink(join(workspace.root, "link")), "own.txt");
    assert.equal(((await Deno.stat(join(workspace.root, "run.sh"))).mode ?? 0) & 0o111, 0);
  });
});

Deno.test("files whose previous contents are unknown are reported, and cannot be undone", async () => {
  await withCommands({ "large.bin": "x".repeat(2 << 20), "a.txt": "a\n" }, async ({ workspace, run, call, diffs }) => {
    const { changes } = await run("echo >> large.bin; echo >> a.txt");
    assert.deepEqual(changes, { files: 2, ...only({ changed: ["a.txt", "large.bin"] }), notUndoable: 1 });
    assert.match(diffs[1] ?? "", /^--- a\/large.bin\n\+\+\+ b\/large.bin\n… .*left out, with \+0 −0 lines\n$/);
    const [{ path }, last] = await call("fs.undo");
    assert.deepEqual([path, last], ["a.txt", { path: "large.bin", kept: "had contents of which Vis kept no copy" }]);
    assert.equal(await workspace.text("a.txt"), "a\n");
    assert.equal((await workspace.text("large.bin")).length, (2 << 20) + 1);
  });
});

Deno.test("an undo changes nothing if it cannot restore a file, names the file, and passes it once", async () => {
  const files = { "large.bin": "x".repeat(2 << 20), "a.txt": "a\n", "b.txt": "b\n" };
  await withCommands(files, async ({ workspace, run }) => {
    const undo = async (options = {}) => {
      let text = "";
      const own = { print: (part: string) => void (text += part), workspace: workspace.root, home: workspace.home };
      const code = await undoCli({ scope: "call", ...options }, { ...own, places: new FsPlaces() });
      return [code, JSON.parse(text)];
    };
    await run("echo >> b.txt");
    await run("rm large.bin a.txt");
    const kept = [{ path: "large.bin", reason: "had contents of which Vis kept no copy" }];
    const [listed] = (await undo({ list: true, faults: true }))[1].changes;
    assert.deepEqual([listed.paths, listed.blocked], [["a.txt", "large.bin"], kept]);
    assert.deepEqual((await undo({ list: true }))[1].changes[0].lost, ["large.bin"]);
    assert.deepEqual(await undo(), [1, {
      error: "Cannot undo: large.bin had contents of which Vis kept no copy; no file changed",
      others: 1,
      kept,
    }]);
    assert.deepEqual(await workspace.names(), ["b.txt"]);
    const [code, report] = await undo({ rest: true });
    assert.deepEqual([code, report.files.map(({ path }: { path: string }) => path), report.kept], [1, ["a.txt"], kept]);
    assert.equal(report.code, undefined);
    await run("head -c 3000000 /dev/zero > large.bin");
    await run("rm large.bin");
    assert.deepEqual((await undo({ list: true }))[1].changes[0].lost, undefined);
    await Deno.writeTextFile(join(workspace.root, "large.bin"), "y".repeat(2 << 20));
    await run("rm large.bin");
    assert.match((await undo())[1].error, /^Cannot undo: large.bin had contents of .*; repeat for an earlier change$/);
    for (let tries = 0; tries < 3 && (await undo())[0] !== 0; tries++);
    assert.equal(await workspace.text("b.txt"), "b\n");
  });
});

Deno.test("a command that changes only the mode of a file tells the user", async () => {
  await withCommands({ "run.sh": "1\n" }, async ({ run, diffs, call, workspace }) => {
    await run("chmod 755 run.sh");
    await run("chmod 644 run.sh");
    assert.equal(diffs[1], "--- a/run.sh\n+++ b/run.sh\n… the mode changed from 755 to 644\n");
    const files = new ChangedFiles();
    files.add(diffs[1]);
    assert.equal(files.total, "1 file changed +0 −0 (run.sh)");
    const [undone] = await call("fs.undo");
    assert.equal(undone.diff, "--- a/run.sh\n+++ b/run.sh\n… the mode changed from 644 to 755\n");
    assert.equal(((await Deno.stat(join(workspace.root, "run.sh"))).mode ?? 0) & 0o777, 0o755);
  });
});

Deno.test("a folder that a command moves keeps its files, and goes back as they were", async () => {
  await withCommands(
    { "src/a.ts": "a\n", "src/big.bin": "x".repeat(2 << 20) },
    async ({ workspace, run, call, diffs }) => {
      const { changes } = await run("mv src lib");
      assert.deepEqual(changes, {
        files: 4,
        ...only({ added: ["lib/a.ts", "lib/big.bin"], removed: ["src/a.ts", "src/big.bin"] }),
      });
      assert.deepEqual(diffs, ["--- a/src/a.ts\n+++ b/lib/a.ts\n", "--- a/src/big.bin\n+++ b/lib/big.bin\n"]);
      await call("fs.undo");
      assert.deepEqual([await workspace.names(), await workspace.names("src")], [["src"], ["a.ts", "big.bin"]]);
    },
  );
});

Deno.test("ignored files, a touch and other rules of .gitignore are no changes; fs's own changes are not reported twice", async () => {
  await withCommands({ ".gitignore": "out/\n", "a.txt": "a\n", "dist/x": "x\n" }, async ({ run, call, workspace }) => {
    assert.equal((await run("mkdir -p out node_modules; touch out/1 node_modules/2 a.txt")).changes, undefined);
    assert.deepEqual((await run("echo dist/ >> .gitignore")).changes, {
      files: 1,
      ...only({ changed: [".gitignore"] }),
    });
    await call("fs.edit", "a.txt", { old: "a", new: "b" });
    assert.equal((await run("true")).changes, undefined);
    await workspace.put("by-user.txt", "user\n");
    assert.equal((await run("true")).changes, undefined);
  });
});

Deno.test("files that a changed .gitignore no longer excludes are not new, and undo does not remove them", async () => {
  const files = { ".gitignore": "dist/\n", "src/.gitignore": "*.log\n", "dist/sub/x": "x\n", "src/a.log": "a\n" };
  await withCommands(files, async ({ run, call, workspace }) => {
    const { changes } = await run("echo out/ > .gitignore; rm src/.gitignore; echo new > src/n.txt");
    assert.deepEqual(changes, {
      files: 3,
      ...only({ added: ["src/n.txt"], changed: [".gitignore"], removed: ["src/.gitignore"] }),
    });
    await call("fs.undo");
    assert.deepEqual(await workspace.names("src"), [".gitignore", "a.log"]);
    assert.equal(await workspace.text("dist/sub/x"), "x\n");
    await run("echo out/ > .gitignore");
    assert.deepEqual((await run("echo more >> dist/sub/x")).changes, {
      files: 1,
      ...only({ changed: ["dist/sub/x"] }),
    });
    await call("fs.undo");
    assert.equal(await workspace.text("dist/sub/x"), "x\n");
  });
});

Deno.test("undo keeps a file that another program changed after the command", async () => {
  await withCommands({ "a.txt": "a\n", "b.txt": "b\n" }, async ({ run, call, workspace }) => {
    await run("echo >> a.txt; echo >> b.txt");
    await workspace.put("a.txt", "by the user\n");
    const undone = await call("fs.undo") as { path: string; kept?: string }[];
    assert.deepEqual(undone.map(({ path, kept }) => [path, kept ?? ""]), [["b.txt", ""], [
      "a.txt",
      "got other changes since",
    ]]);
    assert.equal(await workspace.text("a.txt"), "by the user\n");
  });
});

Deno.test("failed and started commands report changes too: a started one on each read and at its end", async () => {
  await withCommands({ "a.txt": "a\n" }, async ({ run, call, workspace }) => {
    assert.deepEqual((await run("echo >> a.txt; exit 3")).changes, { files: 1, ...only({ changed: ["a.txt"] }) });
    const job = await call("shell.start", "mkfifo fifo; echo 1 > b.txt; echo ready; read x < fifo; echo 2 > c.txt", {
      until: "ready",
      waitMs: 20_000,
    });
    assert.deepEqual(job.changes, { files: 1, ...only({ added: ["b.txt"] }) });
    await call("fs.writeFile", "mine.txt", "mine\n");
    await Deno.writeTextFile(join(workspace.root, "fifo"), "go\n");
    const report = await call("shell.read", job.id, { until: "never", waitMs: 20_000 });
    assert.deepEqual(report.changes, { files: 1, ...only({ added: ["c.txt"] }) });
    assert.equal((await call("shell.read", job.id)).changes, undefined);
    await call("fs.undo");
    assert.ok(!(await workspace.names()).includes("c.txt"));
  });
});

Deno.test("edits of the user while only a background command runs are not the next command's", async () => {
  await withCommands({ "a.txt": "one\n", "b.txt": "b\n" }, async ({ workspace, run, call }) => {
    const end = join(workspace.home, "end");
    const { id } = await call("shell.start", `until [ -e '${end}' ]; do sleep 0.02; done`, { waitMs: 0 });
    await Deno.writeTextFile(join(workspace.root, "a.txt"), "mine\n");
    await Deno.remove(join(workspace.root, "b.txt"));
    const { changes } = await run("echo new > c.txt");
    assert.deepEqual(changes, { files: 1, ...only({ added: ["c.txt"] }) });
    await call("fs.undo");
    assert.deepEqual(await workspace.names(), ["a.txt"]);
    assert.equal(await workspace.text("a.txt"), "mine\n");
    await Deno.writeTextFile(end, "");
    await call("shell.stop", id);
  });
});

Deno.test("commands at once share their changes, and each is reported and undone once", async () => {
  await withCommands({ "a.txt": "a\n", "b.txt": "b\n" }, async ({ run, call, workspace }) => {
    const reports = await Promise.all([run("echo >> a.txt; sleep 0.1"), run("echo >> b.txt; sleep 0.2")]);
    assert.equal(reports.reduce((sum, { changes }) => sum + (changes?.files ?? 0), 0), 2);
    await call("fs.undo", { steps: 2 }).catch(() => call("fs.undo"));
    assert.deepEqual([await workspace.text("a.txt"), await workspace.text("b.txt")], ["a\n", "b\n"]);
  });
});

Deno.test("an edit after the conversation's own formatter needs no new look at the file, and one after the user's does", async () => {
  await withCommands({ "a.ts": "let  a = 1\nlet b = 2\n" }, async ({ run, call, workspace }) => {
    await call("fs.readFile", "a.ts");
    await run("sed -i 's/  / /' a.ts");
    await call("fs.edit", "a.ts", { old: "b = 2", new: "b = 3" });
    assert.equal(await workspace.text("a.ts"), "let a = 1\nlet b = 3\n");
    await run("sed -i s/3/4/ a.ts");
    await assert.rejects(call("fs.writeFile", "a.ts", "all new\n"), /changed on disk since you last read or wrote it/);
    await workspace.put("a.ts", "let a = 1\nlet b = 5\n");
    await assert.rejects(
      call("fs.edit", "a.ts", { old: "b = 5", new: "b = 6" }),
      /changed on disk since you last read or wrote it/,
    );
  });
});

Deno.test("changes of a command whose call was abandoned can be undone", async () => {
  await withCommands({ "a.txt": "a\n" }, async ({ call, workspace, abortable }) => {
    const abort = new AbortController();
    const running = abortable(abort.signal, "shell.run", "echo >> a.txt; mkfifo fifo; exec sleep 100");
    await until(async () => (await workspace.names()).includes("fifo"));
    abort.abort(new Error("given up"));
    await assert.rejects(running);
    await call("fs.undo");
    assert.equal(await workspace.text("a.txt"), "a\n");
  });
});

Deno.test("a file that cannot be read is reported", { ignore: Deno.uid() === 0 }, async () => {
  await withCommands({ "closed.txt": "a\n" }, async ({ run, workspace }) => {
    await Deno.chmod(join(workspace.root, "closed.txt"), 0o200);
    const { changes } = await run("echo b >> closed.txt");
    assert.deepEqual(changes, { files: 1, ...only({ changed: ["closed.txt"] }), notUndoable: 1 });
  });
});
