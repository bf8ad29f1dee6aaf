import assert from "node:assert/strict";
import { join } from "node:path";
import { CommandFolder } from "../../src/processes/_command_folder.ts";
import { otherProcess } from "../helpers/other_process.ts";
import { withFolder } from "../helpers/with_folder.ts";

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
      for (let at = 0; at < 20_001; at++) Deno.writeTextFileSync(join(root, "vis-command-1-large", `${at}`), "");
      for (const name of folders) if (!name.endsWith("new")) await Deno.utime(join(root, name), OLD, OLD);
      await Deno.symlink(join(root, "other"), join(root, "vis-command-1-link"));
      const module = import.meta.resolve("../../src/processes/_command_folder.ts");
      const { end } = await otherProcess(`
        import { CommandFolder } from ${JSON.stringify(module)};
        const { path } = globalThis.made = await CommandFolder.make({ root: ${JSON.stringify(root)} });
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
      assert.deepEqual(large, [join(root, "vis-command-1-large")]);
      await end();
      await sweep();
      assert.deepEqual(names(), ["other", "vis-command-1-link", "vis-command-1-new"]);
    }),
});
