import assert from "node:assert/strict";
import { replyJson } from "../../helpers/scripted_provider.ts";
import type { Launcher } from "../_launcher.ts";
import { launched } from "../helpers/together.ts";
import { User } from "../helpers/user.ts";

const NO_PROVIDER: Readonly<Record<string, string>> = { VIS_BASE_URL: "", VIS_API_KEY: "", VIS_MODEL: "" };

export function commandsSuite(launcher: Launcher): void {
  launched(launcher, "vis help lists the commands, those of extensions too", async () => {
    await using user = await User.make(launcher);
    const { code, stdout, stderr } = await user.run(["help"], { env: NO_PROVIDER });
    assert.deepEqual([code, stderr], [0, ""]);
    for (const command of ["run", "demo", "doctor", "version", "help", "memo"]) {
      assert.match(stdout, new RegExp(`^ {2}${command}\\b.{3,}`, "m"));
    }
    assert.ok(stdout.split("\n").every((line) => line.length <= 100), stdout);
  });

  launched(launcher, "vis run plays the demo's replies under their own name", async () => {
    await using user = await User.make(launcher, { reply: replyJson([]) });
    await user.write("a.txt", "TODO\n");
    const ask = ["run", "--provider", "demo", "Which files here mention TODO, and how often?"];
    const { code, stdout, stderr } = await user.run(ask, { env: NO_PROVIDER });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /a\.txt/);
    assert.match(stderr, /^vis · demo /);
  });
}
