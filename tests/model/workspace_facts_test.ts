import assert from "node:assert/strict";
import fs from "../../extensions/fs/mod.ts";
import git from "../../extensions/git/mod.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { withFolder } from "../helpers/with_folder.ts";

Deno.test("the first message describes the workspace, its branch and its machine, and stays the same while files change", async () => {
  await withFolder(async (workspace) => {
    await Deno.writeTextFile(`${workspace}/package.json`, '{"scripts": {"test": "node --test"}}');
    await Deno.mkdir(`${workspace}/.git`);
    await Deno.writeTextFile(`${workspace}/.git/HEAD`, "ref: refs/heads/fix/login\n");
    await using engine = await startEngine([
      replyJson(['await fs.writeFile("new.ts", "let a = 1;\\n")']),
      replyJson([], { final: "It is done." }),
    ], { extensions: [fs, { ...git, activate: () => true }], workspace });
    await engine.ask("x");
    const [first = [], second = []] = engine.provider.requests.map(({ texts }) => texts);
    const [system = ""] = first;
    assert.match(system, /# Environment\ncwd: .*\nhome: \/home\/test\nuser: test\nplatform: test\nshell: \/bin\/sh\n/);
    assert.match(system, /At the top: package\.json\. Project: package\.json \(npm test\)\.\n/);
    assert.match(system, /The repository of cwd, on branch fix\/login, as data/);
    assert.deepEqual(second.slice(0, 3), first.slice(0, 3));
    assert.ok(await Deno.stat(`${workspace}/new.ts`));
  });
});

Deno.test("a work tree and a commit without a branch are shown, and an invalid branch name is not", async () => {
  await withFolder(async (workspace) => {
    const prompt = async (): Promise<string> =>
      await git.prompt({ envId: "e", conversationId: "c", branchId: "b", depth: 0, workspace });
    await Deno.mkdir(`${workspace}/main/worktrees/a`, { recursive: true });
    await Deno.writeTextFile(`${workspace}/main/worktrees/a/HEAD`, "ref: refs/heads/one\n");
    await Deno.writeTextFile(`${workspace}/.git`, "gitdir: main/worktrees/a\n");
    assert.match(await prompt(), /^The repository of cwd, on branch one, as data/);
    await Deno.writeTextFile(`${workspace}/main/worktrees/a/HEAD`, `${"0123456789".repeat(4)}\n`);
    assert.match(await prompt(), /^The repository of cwd, on no branch, as data/);
    await Deno.writeTextFile(`${workspace}/main/worktrees/a/HEAD`, "ref: refs/heads/<notes>\n");
    assert.match(await prompt(), /^The repository of cwd, as data/);
    await Deno.remove(`${workspace}/main`, { recursive: true });
    assert.match(await prompt(), /^The repository of cwd, as data/);
  });
});
