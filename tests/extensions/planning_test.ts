import assert from "node:assert/strict";
import { shipped } from "../../extensions/index.ts";
import { realm } from "../../extensions/realm.ts";
import { shippedExtensions } from "../../src/app/settings/settings.ts";
import { type RealmIndex, realmScripts } from "../../src/extension/loader.ts";
import { validate } from "../../src/extension/mod.ts";
import { ownPart } from "../../src/extension/registry.ts";

Deno.test("while a plan is made, only functions of shipped extensions that change nothing may be called", async () => {
  const scripts: RealmIndex = realm;
  const refused = [...await shippedExtensions({ shipped })].flatMap(([name, one]) => {
    const { functions, reads } = ownPart(realmScripts(validate(one), scripts[name] ?? {}), "");
    return functions.filter((name) => !reads.includes(name));
  });
  assert.deepEqual(
    refused.sort(),
    [
      ...["fs.edit", "fs.move", "fs.patch", "fs.remove", "fs.undo", "fs.writeFile"],
      ...["git.add", "git.branch", "git.checkout", "git.cherryPick", "git.commit", "git.init", "git.merge"],
      ...["git.rebase", "git.reset", "git.restore", "git.revert", "git.stash", "git.switch", "git.tag"],
      "git.worktree",
      ...["mcp.call", "mcp.prompt", "mcp.prompts", "mcp.read", "mcp.resources", "mcp.servers", "mcp.tools"],
      ...["memo.add", "memo.remove"],
      ...["shell.list", "shell.read", "shell.run", "shell.start", "shell.stop", "shell.write"],
      "web.post",
    ].sort(),
  );
});
