import assert from "node:assert/strict";
import { mayHaveCommit } from "../../src/app/terminal/git_state.ts";
import { withFolder } from "../helpers/with_folder.ts";

type Spawn = Parameters<typeof mayHaveCommit>[1]["spawn"];

const spawn: Spawn = async (_, [program = "", ...args]) => {
  const { code, stdout, stderr } = await new Deno.Command(program, { args }).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, stdout: out, stderr: err } as Awaited<ReturnType<Spawn>>;
};

Deno.test("mayHaveCommit() refuses only names that the repository surely lacks", async () => {
  await withFolder(async (root) => {
    const git = async (...args: string[]): Promise<void> => {
      const own = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"];
      assert.ok((await new Deno.Command("git", { args: ["-C", root, ...own, ...args] }).output()).success);
    };
    assert.equal(await mayHaveCommit("nosuch", { root, spawn }), true); // The folder is no repository.
    await git("init", "-q", "-b", "main");
    assert.equal(await mayHaveCommit("main", { root, spawn }), false);
    await git("commit", "-q", "--allow-empty", "-m", "first");
    await git("tag", "v1");
    const names: readonly (readonly [string, boolean])[] = [
      ...["main", "HEAD", "v1", "main..HEAD", "main...v1", "..HEAD"].map((name) => [name, true] as const),
      ...["nosuch", "HEAD~1", "main..nosuch", "--all", "HEAD:a"].map((name) => [name, false] as const),
    ];
    for (const [name, has] of names) assert.equal(await mayHaveCommit(name, { root, spawn }), has, name);
    const fails: Spawn = () => Promise.reject(new Error("the wall is incomplete"));
    assert.equal(await mayHaveCommit("nosuch", { root, spawn: fails }), true);
    assert.equal(await mayHaveCommit("nosuch", { root: null, spawn }), true);
  });
});
