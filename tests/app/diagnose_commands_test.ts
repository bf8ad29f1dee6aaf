import assert from "node:assert/strict";
import { diagnoseCommands } from "../../src/app/diagnose_commands.ts";
import { DEFAULT_CONFIG } from "../../src/config/defaults.ts";
import { missing } from "../processes/_place.ts";

const ENV = { PATH: "/usr/local/bin:/usr/bin:/bin" };
const settings = (shell: Partial<typeof DEFAULT_CONFIG.shell>) => ({
  config: { ...DEFAULT_CONFIG, shell: { ...DEFAULT_CONFIG.shell, ...shell } },
  home: null,
});

Deno.test(
  "diagnoseCommands() runs one behind the wall, and says what shell may",
  { ignore: missing !== "" },
  async () => {
    const [off, git] = await diagnoseCommands(settings({}), { env: ENV });
    assert.deepEqual(off, { name: "commands", state: "ok", found: "run behind their wall; shell is off", mend: "" });
    assert.match(git?.found ?? "", /^git version|Cannot run git/);
    const [on] = await diagnoseCommands(settings({ enabled: true, network: true, deny: ["curl *"] }), { env: ENV });
    assert.match(on?.found ?? "", /shell is on, network TCP to anywhere, rules: 0 allow, 1 deny/);
  },
);

Deno.test("diagnoseCommands() fails where shell is on and nothing can run", { ignore: missing !== "" }, async () => {
  for (const [enabled, state] of [[true, "fail"], [false, "warn"]] as const) {
    const [first, ...rest] = await diagnoseCommands(settings({ enabled, read: ["/no/such/folder"] }), { env: ENV });
    assert.deepEqual([first?.state, rest], [state, []]);
    assert.match(first?.found ?? "", /shell.read names \/no\/such\/folder/);
    assert.notEqual(first?.mend, "");
  }
});
