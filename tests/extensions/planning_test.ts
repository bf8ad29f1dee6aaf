import assert from "node:assert/strict";
import { shipped } from "../../extensions/index.ts";
import { realm } from "../../extensions/realm.ts";
import { shippedExtensions } from "../../src/app/settings/settings.ts";
import { type RealmIndex, realmScripts } from "../../src/extension/loader.ts";
import { validate } from "../../src/extension/mod.ts";
import { ownPart, promptFor } from "../../src/extension/extension_part.ts";

Deno.test("while a plan is made, only functions of shipped extensions that change nothing may be called", async () => {
  const scripts: RealmIndex = realm;
  const refused = [...await shippedExtensions({ shipped })].flatMap(([name, one]) => {
    const { functions, reads } = ownPart(realmScripts(validate(one), scripts[name] ?? {}), "");
    return functions.filter((name) => !reads(name, ["x"], { onlyReads: true }));
  });
  assert.deepEqual(
    refused.sort(),
    [
      ...["fs.edit", "fs.move", "fs.patch", "fs.remove", "fs.undo", "fs.writeFile"],
      ...["git.add", "git.branch", "git.checkout", "git.cherryPick", "git.commit", "git.fetch", "git.init"],
      ...[
        "git.merge",
        "git.push",
        "git.rebase",
        "git.reset",
        "git.restore",
        "git.revert",
        "git.stash",
        "git.switch",
        "git.tag",
      ],
      "git.worktree",
      ...["mcp.call", "mcp.prompt", "mcp.prompts", "mcp.read", "mcp.resources", "mcp.servers", "mcp.tools"],
      ...["memo.add", "memo.remove"],
      ...["shell.read", "shell.stop", "shell.write"],
      "web.post",
    ].sort(),
  );
});

Deno.test("while a plan is made, git lists branches, tags, worktrees and stashes, and changes none", async () => {
  const { reads, actions } = ownPart(await gitExtension(), "");
  const lists: readonly (readonly [string, ...unknown[]])[] = [
    ["git.branch"],
    ["git.tag"],
    ["git.worktree"],
    ["git.branch", { repo: "lib" }],
    ["git.stash", { list: true }],
  ];
  for (const [name, ...args] of lists) {
    assert.equal(reads(name, args, { onlyReads: true }), true, name);
    assert.match(actions[name]?.(args)?.done ?? "", /^listed /, name);
  }
  const changes: readonly (readonly [string, ...unknown[]])[] = [
    ["git.branch", "a"],
    ["git.branch", null, { delete: true }],
    ["git.branch", { repo: "lib", delete: true }],
    ["git.tag", "v1"],
    ["git.worktree", "w"],
    ["git.stash"],
    ["git.stash", { list: false }],
    ["git.stash", { list: "yes" }],
    ["git.stash", null],
    ["git.stash", { pop: true }],
  ];
  for (const [name, ...args] of changes) {
    assert.equal(reads(name, args, { onlyReads: true }), false, name);
    assert.match(actions[name]?.(args)?.done ?? "", /^changed /, name);
  }
});

Deno.test("calls that go on with a stopped operation of git say so, and name no branch as merged", async () => {
  const { actions } = ownPart(await gitExtension(), "");
  const done = (name: string, ...args: readonly unknown[]) => actions[name]?.(args)?.done;
  for (
    const [name, one] of [["merge", "merge"], ["rebase", "rebase"], ["cherryPick", "cherry-pick"], ["revert", "revert"]]
  ) {
    assert.equal(done(`git.${name}`, { abort: true }), `aborted a ${one}`);
    assert.equal(done(`git.${name}`, { continue: true }), `continued a ${one}`);
  }
  assert.equal(done("git.rebase", { skip: true }), "skipped a step of a rebase");
  assert.deepEqual([done("git.merge", "topic"), done("git.rebase", { onto: "main" })], ["merged", "rebased onto"]);
});

async function gitExtension() {
  const all = await shippedExtensions({ shipped });
  const git = all.get("git");
  assert.ok(git);
  return realmScripts(validate(git), {});
}

Deno.test("the prompt of a plan has only functions that a plan may call, and no advice to change files", async () => {
  const git = await gitExtension();
  const [whole = ""] = ownPart(git, "Text.").blocks, [block = ""] = ownPart(git, "Text.", { onlyReads: true }).blocks;
  assert.match(whole, /\bcommit\b/);
  assert.doesNotMatch(block, /\bcommit\b|\badd\b/);
  assert.match(block, /\bstatus\b[^]*\bstash\b/);
  const fs = validate((await shippedExtensions({ shipped })).get("fs")!);
  const plan = { onlyReads: true }, prompt = promptFor(fs, plan);
  assert.notEqual(prompt, fs.prompt);
  const [reading = ""] = ownPart(fs, "Text.", plan).blocks;
  assert.match(reading, /fs\.readFile/);
  assert.doesNotMatch(reading, /writeFile|fs\.edit/);
  const shell = validate((await shippedExtensions({ shipped })).get("shell")!);
  assert.match(ownPart(shell, "").blocks[0] ?? "", /More \(doc\): start, read, write, stop, list/);
  assert.match(ownPart(shell, "", plan).blocks[0] ?? "", /More \(doc\): list$/);
});
