import assert from "node:assert/strict";
import { join } from "node:path";
import { CommandFolder } from "../../src/processes/_command_folder.ts";
import { ROOT } from "../../scripts/_project.ts";
import { runs } from "../helpers/long_part.ts";
import { otherProcess } from "../helpers/other_process.ts";
import { withFolder } from "../helpers/with_folder.ts";

const MODULE = import.meta.resolve("../../src/processes/_command_folder.ts");
/** A folder with this many files takes long to remove. Only the long part has it. */
const LARGE = runs(0, 20_001);
const OLD = Date.now() / 1_000 - 3_600;

Deno.test({
  name: "CommandFolder.sweep() removes folders of processes that were killed, and no others",
  ignore: Deno.build.os === "windows",
  fn: () =>
    withFolder(async (root) => {
      const folders = ["vis-command-1-old", "vis-command-1-large", "vis-command-1-new", "other"];
      for (const name of folders) {
        await Deno.mkdir(join(root, name, "deep/er"), { recursive: true });
        await Deno.writeTextFile(join(root, name, "deep/file"), "");
      }
      for (let at = 0; at < LARGE; at++) Deno.writeTextFileSync(join(root, "vis-command-1-large", `${at}`), "");
      for (const name of folders) if (!name.endsWith("new")) await Deno.utime(join(root, name), OLD, OLD);
      await Deno.symlink(join(root, "other"), join(root, "vis-command-1-link"));
      const { end } = await otherProcess(`
        import { CommandFolder } from ${JSON.stringify(MODULE)};
        const path = await Deno.makeTempDir({ dir: ${JSON.stringify(root)}, prefix: "vis-command-" });
        globalThis.made = new CommandFolder(path, {});
        Deno.utimeSync(path, ${OLD}, ${OLD})`);
      const names = () => Array.from(Deno.readDirSync(root), ({ name }) => name).sort();
      const known = new Set([...folders, "vis-command-1-link"]);
      const [living = ""] = names().filter((name) => !known.has(name));
      const large: string[] = [];
      const sweep = () =>
        CommandFolder.sweep({
          root,
          removeLarge: async (path) => {
            large.push(path);
            await Deno.remove(join(path, "deep"), { recursive: true }).catch(() => {});
          },
        });
      await sweep();
      assert.deepEqual(names(), ["other", living, "vis-command-1-link", "vis-command-1-new"].sort());
      assert.deepEqual(large, LARGE > 0 ? [join(root, "vis-command-1-large")] : []);
      await end();
      await sweep();
      assert.deepEqual(names(), ["other", "vis-command-1-link", "vis-command-1-new"]);
    }),
});

Deno.test("a process that ends soon does not wait for folders of processes that were killed", () =>
  withFolder(async (root) => {
    const left = join(root, "vis-command-1-old");
    await Deno.mkdir(left);
    await Deno.utime(left, OLD, OLD);
    const code = `
      import { CommandFolder } from ${JSON.stringify(MODULE)};
      const { setTimeout } = globalThis;
      globalThis.setTimeout = (run) => setTimeout(run, 3_600_000);
      await CommandFolder.make({ root: ${JSON.stringify(root)} }).remove();`;
    const args = ["eval", "--quiet", "--no-lock", "--no-check", "--ext=ts", "--config", join(ROOT, "deno.json"), code];
    const { success } = await new Deno.Command(Deno.execPath(), { args, stdin: "null", stderr: "inherit" }).output();
    assert.ok(success);
    assert.deepEqual(Array.from(Deno.readDirSync(root), ({ name }) => name), ["vis-command-1-old"]);
  }));

Deno.test("CommandFolder.written() names new and changed files at the top of the folder", () =>
  withFolder(async (root) => {
    const folder = CommandFolder.make({ root });
    for (const name of [".gitconfig", "same"]) await Deno.writeTextFile(join(folder.path, name), "");
    await folder.begin();
    assert.deepEqual(await folder.written(), []);
    await Deno.writeTextFile(join(folder.path, ".gitconfig"), "[user]");
    await Deno.mkdir(join(folder.path, "new/deep"), { recursive: true });
    assert.deepEqual([...await folder.written()].sort(), [".gitconfig", "new"]);
    await folder.remove();
  }));
