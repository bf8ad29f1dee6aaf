import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { join } from "node:path";
import project from "../../deno.json" with { type: "json" };
import { publicKeyOf } from "../../scripts/release/minisign.ts";
import { packRelease } from "../../scripts/release/pack.ts";
import { withFolder } from "../helpers/with_folder.ts";
import { compiledLauncher } from "./_launcher.ts";

const KEY = { id: Buffer.alloc(8, 1), seed: Buffer.alloc(32, 7) };
const launcher = await compiledLauncher();

Deno.test({
  name: "the executable replaces itself with a signed release's, and stays if the release does not match its index",
  ignore: launcher.missing !== "" || Deno.build.os === "windows",
  fn: async () => {
    await launcher.ready();
    await withFolder(async (home) => {
      const vis = join(home, "vis");
      await Deno.copyFile(launcher.argv[0], vis);
      const update = async (version: string, ...args: string[]) => {
        const output = join(home, version), programs = [{ target: Deno.build.target, path: vis }];
        const made = { modifiedAt: 0, stored: true, packages: [], key: KEY };
        await packRelease({ version, programs, output, baseUrl: "", ...made });
        const command = new Deno.Command(vis, {
          args: ["update", "--from", output, "--key", publicKeyOf(KEY), ...args],
          ...{ cwd: home, clearEnv: true, env: { HOME: home } },
        });
        const { code, stdout, stderr } = await command.output();
        return { code, text: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
      };
      const before = (await Deno.stat(vis)).ino;
      const wrong = await update("999.0.0");
      assert.equal(wrong.code, 2);
      assert.match(
        wrong.text,
        /Cannot update to vis 999\.0\.0: the downloaded executable is version \S+, and Vis changed nothing/,
      );
      assert.equal((await Deno.stat(vis)).ino, before);
      const right = await update(project.version, "--force");
      assert.equal(right.code, 0, right.text);
      assert.match(right.text, /^Installed .*vis; the previous one is kept as .*vis\.old$/m);
      assert.equal((await Deno.stat(`${vis}.old`)).ino, before);
      assert.notEqual((await Deno.stat(vis)).ino, before);
    });
  },
});
