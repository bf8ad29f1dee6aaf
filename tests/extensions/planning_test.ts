import assert from "node:assert/strict";
import { described } from "../../extensions/index.ts";
import type { ExtensionDescription } from "../../src/extension/lazy_registry.ts";

Deno.test("while a plan is made, only functions of shipped extensions that change nothing may be called", () => {
  const all: readonly (ExtensionDescription | null)[] = Object.values(described);
  const refused = all.flatMap((one) => {
    const reads = new Set(one?.reads ?? []);
    return (one?.functions ?? []).filter((name) => !reads.has(name));
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
      ...["shell.list", "shell.read", "shell.run", "shell.start", "shell.stop"],
      "web.post",
    ].sort(),
  );
});
