import assert from "node:assert/strict";
import { join } from "node:path";
import { repositoryRoot } from "../../../src/app/settings/settings.ts";
import { withFolder } from "../../helpers/with_folder.ts";

const user = Deno.build.os === "windows" ? null : Deno.uid();
const modes = Deno.build.os === "windows" ? "needs modes of files" : "";

async function tree(folder: string, paths: readonly string[]): Promise<string> {
  const real = await Deno.realPath(folder);
  for (const path of paths) {
    await Deno.mkdir(join(real, path, ".."), { recursive: true });
    await (path.endsWith("/") ? Deno.mkdir(join(real, path)) : Deno.writeTextFile(join(real, path), ""));
  }
  return real;
}

Deno.test("repositoryRoot() is the closest folder with a repository, or the folder itself", () =>
  withFolder(async (folder) => {
    const at = await tree(folder, ["mono/.git/HEAD", "mono/packages/api/src/a", "mono/packages/own/.git"]);
    const find = (path: string) => repositoryRoot(join(at, path), { closed: [] });
    assert.equal(find("mono/packages/api/src"), join(at, "mono"));
    assert.equal(find("mono"), join(at, "mono"));
    assert.equal(find("mono/packages/own"), join(at, "mono/packages/own"));
    await Deno.mkdir(join(at, "mono/packages/api/.git")); // Vis makes such a folder while a command runs.
    assert.equal(find("mono/packages/api"), join(at, "mono"));
  }));

Deno.test("repositoryRoot() opens no home folder, no folder of settings and nothing that contains one", () =>
  withFolder(async (folder) => {
    const at = await tree(folder, [".git/HEAD", "home/.git/HEAD", "home/.config/.git/HEAD", "home/.config/app/a"]);
    await Deno.mkdir(join(at, "home/project"));
    const closed = [join(at, "home"), join(at, "home/.vis"), null];
    assert.equal(repositoryRoot(join(at, "home/project"), { closed }), null);
    assert.equal(repositoryRoot(join(at, "home/.config/app"), { closed }), null);
    assert.equal(repositoryRoot(join(at, "home"), { closed }), join(at, "home"), "the user started there");
    await Deno.symlink(join(at, "home"), join(at, "link"));
    assert.equal(repositoryRoot(join(at, "home/project"), { closed: [join(at, "link")] }), null);
  }));

Deno.test({
  name: "repositoryRoot() ends at a folder that others can write, and at one of another user",
  ignore: modes !== "",
  fn: () =>
    withFolder(async (folder) => {
      const at = await tree(folder, ["shared/.git/HEAD", "shared/mine/here/a"]);
      const start = join(at, "shared/mine/here");
      assert.equal(repositoryRoot(start, { closed: [] }), join(at, "shared"));
      assert.equal(repositoryRoot(start, { closed: [], user: (user ?? 0) + 1 }), null);
      await Deno.chmod(join(at, "shared"), 0o777);
      assert.equal(repositoryRoot(start, { closed: [] }), null);
      await Deno.chmod(join(at, "shared"), 0o755);
      await Deno.chmod(join(at, "shared/mine"), 0o1777); // The folder is on the path to the repository.
      assert.equal(repositoryRoot(start, { closed: [] }), null);
    }),
});
