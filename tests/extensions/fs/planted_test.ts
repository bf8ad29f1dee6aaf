/** No order of changes makes a folder that git takes for a repository, because its settings could run commands. */
import assert from "node:assert/strict";
import { runs } from "../../helpers/long_part.ts";
import { join } from "node:path";
import fc from "fast-check";
import { Workspace } from "./_workspace.ts";

const REFUSED = /git would then take its folder for a repository/;

function planted(workspace: Workspace): string {
  const command = `touch ${mark(workspace)}; false`;
  return `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ${workspace.root}\n\tfsmonitor = "${command}"\n`;
}

const mark = (workspace: Workspace): string => join(workspace.outside, "ran");

function folders(workspace: Workspace, path = "."): string[] {
  const found = [path];
  for (const { name, isDirectory } of Deno.readDirSync(join(workspace.root, path))) {
    if (isDirectory) found.push(...folders(workspace, path === "." ? name : `${path}/${name}`));
  }
  return found;
}

async function isRun(workspace: Workspace): Promise<boolean> {
  const { success } = await new Deno.Command("sh", {
    args: ["-c", 'for folder; do git -C "$folder" status; done; true', "sh", ...folders(workspace)],
    cwd: workspace.root,
    env: { HOME: workspace.outside, GIT_CONFIG_NOSYSTEM: "1", GIT_CEILING_DIRECTORIES: join(workspace.root, "..") },
    stdout: "null",
    stderr: "null",
  }).output();
  assert.ok(success);
  return exists(mark(workspace));
}

function exists(path: string): boolean {
  try {
    return Deno.lstatSync(path) !== null;
  } catch {
    return false;
  }
}

const has = (workspace: Workspace, path: string): boolean => exists(join(workspace.root, path));

function repositories(workspace: Workspace): string[] {
  return folders(workspace).filter((folder) => {
    const [head, common, objects, refs] = ["HEAD", "commondir", "objects", "refs"]
      .map((name) => has(workspace, `${folder}/${name}`));
    return head && (common || (objects && refs));
  });
}

Deno.test("a planted repository runs its command, unless fs makes it", async () => {
  await using bare = await Workspace.with({
    "lib/HEAD": "ref: refs/heads/main\n",
    "lib/objects/x": "",
    "lib/refs/x": "",
  });
  await bare.put("lib/config", planted(bare));
  assert.ok(await isRun(bare));
  await using common = await Workspace.with({
    "lib/HEAD": "ref: refs/heads/main\n",
    "lib/commondir": "../other\n",
    "other/objects/x": "",
    "other/refs/x": "",
  });
  await common.put("other/config", "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n");
  await common.put("lib/config.worktree", planted(common));
  assert.ok(await isRun(common));
});

Deno.test("fs refuses every change that would complete a repository, and leaves no part of it", async () => {
  const parts = ["lib/HEAD", "lib/objects/a/x", "lib/refs/heads/x"];
  for (let first = 0; first < 3; first++) {
    const order = [...parts.slice(first), ...parts.slice(0, first)];
    await using workspace = await Workspace.with();
    await workspace.call("writeFile", "lib/config", planted(workspace));
    for (const path of order.slice(0, 2)) await workspace.call("writeFile", path, "ref: refs/heads/main\n");
    const before = state(workspace);
    assert.match(await workspace.refusal("writeFile", order[2], "ref: refs/heads/main\n"), REFUSED);
    assert.deepEqual(state(workspace), before, order.join());
    assert.equal(await isRun(workspace), false);
  }
});

Deno.test("fs refuses it by move, patch, undo and at the top of the workspace too", async () => {
  await using workspace = await Workspace.with({ "a/objects/x": "", "b/x": "", "h": "ref: refs/heads/main\n" });
  await workspace.call("move", "h", "a/HEAD");
  assert.match(await workspace.refusal("move", "b", "a/refs"), REFUSED);
  assert.match(await workspace.refusal("move", "b/x", "a/refs/x"), REFUSED);
  assert.deepEqual(folders(workspace).sort(), [".", "a", "a/objects", "b"]);
  await workspace.call("move", "b", "a/kept");
  assert.match(await workspace.refusal("move", "a/kept", "a/commondir"), REFUSED);
  const created = (path: string): string => `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`;
  const whole = ["p/HEAD", "p/config", "p/objects/x", "p/refs/x"].map(created).join("");
  assert.match(await workspace.refusal("patch", whole), REFUSED);
  assert.equal(has(workspace, "p"), false);
  await workspace.call("remove", "a/HEAD");
  await workspace.call("writeFile", "a/refs/x", "");
  assert.match(await workspace.refusal("undo", { steps: 2, force: true }), /./);
  assert.deepEqual(repositories(workspace), []);
  for (const path of ["HEAD", "objects/x"]) await workspace.call("writeFile", path, "ref: refs/heads/main\n");
  assert.match(await workspace.refusal("writeFile", "refs/x", "x"), REFUSED);
  assert.match(await workspace.refusal("writeFile", "commondir", "a"), REFUSED);
  assert.equal(has(workspace, "refs"), false);
});

Deno.test("fs does not change the settings of a workspace that is a repository's own folder", async () => {
  await using workspace = await Workspace.with({
    "HEAD": "ref: x\n",
    "objects/x": "",
    "refs/x": "",
    "main/a.txt": "a\n",
  });
  for (
    const path of ["config", "hooks/pre-commit", "Config", "info/attributes", "HEAD", "commondir", "worktrees/a/config"]
  ) {
    assert.match(
      await workspace.refusal("writeFile", path, "x"),
      /the workspace is a repository's own folder, such as \.git/,
    );
  }
  await workspace.call("writeFile", "main/config", "x");
  await workspace.call("edit", "main/a.txt", { old: "a", new: "b" });
  assert.equal(await workspace.text("main/a.txt"), "b\n");
});

const folder = fc.constantFrom("", "lib/", "lib/", "lib/", "lib/in/", "other/");
const entry = fc.constantFrom(
  ...[
    "HEAD",
    "HEAD",
    "objects/x",
    "objects",
    "refs/heads/x",
    "refs",
    "commondir",
    "config",
    "worktree",
    "note",
    "head",
  ],
);
const place = fc.tuple(folder, entry).map((parts) => parts.join(""));
const whole = fc.constantFrom(
  "lib",
  "other",
  "lib/in",
  "lib/objects",
  "lib/refs",
  "links/head",
  "links/objects",
  "links/refs",
);
const text = fc.constantFrom("ref: refs/heads/main\n", "../other\n", "SETTINGS", "0".repeat(40));
const either = fc.oneof(place, whole);
type Step = readonly [name: string, ...args: unknown[]];
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(fc.constant("writeFile"), place, text) },
  { weight: 4, arbitrary: fc.tuple(fc.constant("move"), either, either) },
  { weight: 2, arbitrary: fc.tuple(fc.constant("remove"), either, fc.constant({ recursive: true })) },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.constant("undo"), fc.record({ steps: fc.integer({ min: 1, max: 3 }), force: fc.boolean() })),
  },
  { weight: 1, arbitrary: fc.constant(["undo", { redo: true }] as const) },
  { weight: 1, arbitrary: fc.tuple(fc.constant("edit"), place, fc.constant({ old: "r", new: "R" })) },
  {
    weight: 2,
    arbitrary: fc.uniqueArray(place, { minLength: 1, maxLength: 4 }).map((paths) =>
      [
        "patch",
        paths.map((path) => `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+ref: refs/heads/main\n`).join(""),
      ] as const
    ),
  },
);

function state(workspace: Workspace, path = "."): string[] {
  const found: string[] = [];
  for (const { name, isDirectory, isSymlink } of Deno.readDirSync(join(workspace.root, path))) {
    const inner = `${path}/${name}`, at = join(workspace.root, inner);
    if (isDirectory) found.push(`${inner}/`, ...state(workspace, inner));
    else found.push(`${inner} ${isSymlink ? Deno.readLinkSync(at) : Deno.readTextFileSync(at)}`);
  }
  return found.sort();
}

Deno.test("fs makes no repository in any order of changes, and a refused change changes no file", async () => {
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 24 }), async (steps) => {
      await using workspace = await Workspace.with({ "lib/config": "", "other/objects/x": "", "other/refs/x": "" });
      await Deno.mkdir(join(workspace.root, "links"));
      const links = { head: "refs/heads/main", objects: "../other/objects", refs: "../other/refs" };
      for (const [name, target] of Object.entries(links)) {
        await Deno.symlink(target, join(workspace.root, "links", name));
      }
      const settings = planted(workspace);
      await Deno.writeTextFile(join(workspace.root, "lib/config"), settings);
      for (const [name, ...args] of steps) {
        const before = state(workspace);
        try {
          await workspace.call(name, ...args.map((one) => one === "SETTINGS" ? settings : one));
        } catch (error) {
          refused += REFUSED.test(String(error)) ? 1 : 0;
          assert.deepEqual(state(workspace), before, `${name} ${JSON.stringify(args)}: ${error}`);
        }
        assert.deepEqual(repositories(workspace), [], `${name} ${JSON.stringify(args)}`);
      }
      assert.equal(await isRun(workspace), false);
    }),
    { numRuns: runs(9, 40), seed: 3 },
  );
  assert.ok(refused > 5, `${refused} changes would have made a repository`);
});
