import assert from "node:assert/strict";
import { join } from "node:path";
import { requestOfPrompt } from "../../../src/domain/query/stored_query.ts";
import { promptFiles } from "../../../src/channels/tui/prompt_files.ts";
import { withFolder } from "../../helpers/with_folder.ts";

async function prompts(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(join(folder, name), text);
}

Deno.test("promptFiles() reads the workspace's prompts before the user's, with their descriptions", async () => {
  await withFolder(async (folder) => {
    const [workspace, home] = [join(folder, "work"), join(folder, "home")];
    await prompts(join(workspace, ".vis", "prompts"), {
      "review.md": '---\r\ndescription: "Review a change"\r\n---\r\nReview $ARGUMENTS. Twice: $ARGUMENTS',
      "plain.md": "Say hello\nto everyone",
    });
    await prompts(join(home, "prompts"), { "review.md": "another", "mine.md": "---\ntags: x\n---\nMine" });
    const { prompts: found } = await promptFiles({ workspace, home });
    assert.deepEqual(found.map(({ name, detail }) => [name, detail]), [
      ["plain", "Say hello to everyone"],
      ["review", "Review a change"],
      ["mine", "Mine"],
    ]);
    const [plain, review] = found;
    assert.equal(requestOfPrompt(review?.text ?? "", "$& a.ts"), "Review $& a.ts. Twice: $& a.ts");
    assert.equal(requestOfPrompt(plain?.text ?? "", "in French"), "Say hello\nto everyone\n\nin French");
    assert.equal(requestOfPrompt(plain?.text ?? "", ""), "Say hello\nto everyone");
  });
});

Deno.test("promptFiles() ignores links, large files and other names, and accepts a missing folder", async () => {
  await withFolder(async (workspace) => {
    assert.deepEqual(await promptFiles({ workspace, home: null }), { prompts: [], notes: [] });
    const folder = join(workspace, ".vis", "prompts");
    await prompts(folder, { "large.md": "x".repeat(100_001), "Upper.md": "x", "a.txt": "x", "-rf.md": "x" });
    await Deno.writeTextFile(join(workspace, "secret"), "secret");
    await Deno.symlink(join(workspace, "secret"), join(folder, "link.md"));
    assert.deepEqual(await promptFiles({ workspace, home: null }), { prompts: [], notes: [] });
    await Deno.rename(folder, join(workspace, "elsewhere"));
    await prompts(join(workspace, "elsewhere"), { "fine.md": "x" });
    await Deno.symlink(join(workspace, "elsewhere"), folder);
    assert.deepEqual(await promptFiles({ workspace, home: null }), { prompts: [], notes: [] });
    await prompts(join(workspace, "all/commands"), { "fine.md": "x" });
    await Deno.symlink(join(workspace, "all"), join(workspace, ".claude"));
    assert.deepEqual(await promptFiles({ workspace, home: null }), { prompts: [], notes: [] });
  });
});

Deno.test("promptFiles() reads a limited number of prompts and reports that there are more", async () => {
  await withFolder(async (workspace) => {
    const folder = join(workspace, ".vis", "prompts");
    await prompts(folder, Object.fromEntries(Array.from({ length: 201 }, (_, at) => [`p${at}.md`, "x"])));
    const { prompts: found, notes } = await promptFiles({ workspace, home: null });
    assert.equal(found.length, 200);
    assert.deepEqual(notes, [`Vis omits some prompts of ${folder}: it has more than 200 prompts or 2000 entries`]);
  });
});

Deno.test("promptFiles() reads commands of another agent after Vis's own, with their numbered words", async () => {
  await withFolder(async (folder) => {
    const workspace = join(folder, "work"), home = join(folder, "home"), userHome = join(folder, "user");
    await prompts(join(workspace, ".claude", "commands"), {
      "fix_issue.md": "---\ndescription: Fix an issue\n---\nFix $1 by $2. All: $ARGUMENTS",
      "review.md": "claude's",
    });
    await prompts(join(workspace, ".vis", "prompts"), { "review.md": "own" });
    await prompts(join(userHome, ".claude", "commands"), { "mine.md": "Mine" });
    const { prompts: found } = await promptFiles({ workspace, home, userHome });
    assert.deepEqual(found.map(({ name, detail }) => [name, detail]), [
      ["review", "own"],
      ["fix_issue", "Fix an issue"],
      ["mine", "Mine"],
    ]);
    const text = found[1]?.text ?? "";
    assert.equal(requestOfPrompt(text, "7 tomorrow"), "Fix 7 by tomorrow. All: 7 tomorrow");
    assert.equal(requestOfPrompt(text, "7"), "Fix 7 by . All: 7");
    assert.equal(requestOfPrompt("It costs $100", "now"), "It costs $100\n\nnow");
  });
});
