import assert from "node:assert/strict";
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
}
