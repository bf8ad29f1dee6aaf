import assert from "node:assert/strict";
import { hostname } from "node:os";
import { join } from "node:path";
import { anonymous, doctorReport, reportText } from "../../../src/app/doctor/report.ts";
import { withFolder } from "../../helpers/with_folder.ts";

const ENV = {
  HOME: "/Users/ada.lovelace",
  USER: "ada.lovelace",
  VIS_HOME: "/Volumes/My Disk/vis",
  TMPDIR: "/private/var/folders/zz/1a2b/T",
  OPENAI_API_KEY: "sk-test-1234567890",
  PASSWORD: "abc",
};
const HOST = "engine.example.org";

Deno.test("anonymous() removes every name, key and path of the user", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["Cannot read /Users/ada.lovelace/app/x.ts: no", "Cannot read <path>: no"],
    ["runs (/Users/ada.lovelace)", "runs (<path>)"],
    ["/Volumes/My Disk/vis/auth.json", "<path>"],
    ["/private/var/folders/zz/1a2b/T/vis-command-1/a b", "<path> b"],
    ["/Users/ada.lovelace/Secret Plan/x y: no", "<path> y: no"],
    ["/home/eve/.ssh and C:\\Users\\eve\\x", "<path> and <path>"],
    ["key sk-test-1234567890!", "key <key>!"],
    ["Ada.Lovelace on ENGINE.example.org, engine", "<user> on <host>, <host>"],
    ["uses /usr/bin/env, /bin/ps and /System/Library", "uses /usr/bin/env, /bin/ps and /System/Library"],
    ["abc and/or 1/2", "abc and/or 1/2"],
    ["file:///Users/eve/x", "file:<path>"],
  ];
  for (const [text, wanted] of cases) assert.equal(anonymous(text, { env: ENV, host: HOST }), wanted);
});

Deno.test("anonymous() keeps words that are names of common accounts", () => {
  const env = { HOME: "/root", USER: "root", LOGNAME: "vis" };
  assert.equal(anonymous("vis doctor as root in /root/x", { env, host: "localhost" }), "vis doctor as root in <path>");
});

Deno.test("reportText() contains the table of the probe on macOS", () => {
  const checks = [{ name: "wall: kernel", state: "warn", found: "absent", fix: "hidden" }] as const;
  const text = reportText({
    checks,
    seatbelt: {
      reason: "the wall is not whole",
      probe: [
        { name: "write in the workspace", wanted: "allowed", outcome: "allowed" },
        { name: "move .git", wanted: "denied", outcome: "allowed" },
        { name: "ask the Keychain", wanted: "denied", outcome: "silent" },
      ],
    },
  });
  assert.match(text, /^vis \S+ \(from source, .*\)\nsystem \w+ \S+ on \w+, deno /);
  assert.ok(text.endsWith(`
warn wall: kernel absent

Seatbelt: the wall is not whole
ok   allowed write in the workspace
fail allowed move .git
fail silent  ask the Keychain
`));
  assert.ok(!reportText({ checks, seatbelt: null }).includes("Seatbelt"));
});

Deno.test("doctorReport() describes this machine without naming it", async () => {
  await withFolder(async (folder) => {
    const home = join(folder, "home of grace");
    await Deno.mkdir(home);
    const workspace = join(home, "project-of-grace");
    await Deno.mkdir(workspace);
    await Deno.writeTextFile(
      join(home, "config.jsonc"),
      JSON.stringify({ sandbox: { launcher: [join(home, "none")] } }),
    );
    const env = { HOME: home, VIS_HOME: home, USER: "grace", SOME_API_KEY: "key-of-grace" };
    const text = await doctorReport({ cwd: workspace }, { env, shipped: {} });
    assert.match(text, /^vis \S+ /);
    assert.match(text, /sandbox .*<path>/);
    assert.match(text, /^\w+ +commands /m);
    for (const name of ["grace", folder, ...hostname().length > 2 ? [hostname()] : []]) {
      assert.ok(!text.toLowerCase().includes(name.toLowerCase()), `${name} in ${text}`);
    }
    await Deno.writeTextFile(join(home, "config.jsonc"), "{");
    const broken = await doctorReport({ cwd: workspace }, { env, shipped: {} });
    assert.match(broken, /^fail settings/m);
    assert.ok(!broken.includes("grace"));
  });
});
