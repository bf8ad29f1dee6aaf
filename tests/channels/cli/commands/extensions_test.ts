import assert from "node:assert/strict";
import { runCli } from "../../../../src/channels/cli/cli.ts";
import type { ExtensionAdmin, TrustFacts } from "../../../../src/domain/admin_reports.ts";
import { fakeIo, fakeServices } from "../_fakes.ts";

const FACTS: TrustFacts = {
  path: "/ws/.vis/extensions/x",
  hash: "ab".repeat(32),
  trusted: false,
  files: [{ path: "mod.ts", bytes: 12 }],
  extensions: [{ namespace: "my.x", version: "1.0.0", requires: ["vis.fs"], allow: ["read ."] }],
};

async function run(args: readonly string[], admin: Partial<ExtensionAdmin>) {
  const io = fakeIo({ args });
  const services = fakeServices();
  const all = { ...await services.extensionAdmin({}), ...admin };
  const code = await runCli({ ...services, extensionAdmin: () => Promise.resolve(all) }, io);
  return { code, out: io.out, err: io.err };
}

Deno.test("vis extensions trust shows everything, and trusts only with --yes or the hash that was shown", async () => {
  const trusted: TrustFacts[] = [];
  const admin = {
    trustable: () => Promise.resolve([FACTS]),
    trust: (facts: TrustFacts) => Promise.resolve(void trusted.push(facts)),
  };
  const shown = await run(["extensions", "trust"], admin);
  assert.equal(shown.code, 1);
  assert.match(shown.out, /not trusted {2}\/ws\/\.vis\/extensions\/x\n {2}sha256 (ab){32}\n/);
  assert.match(shown.out, /my\.x 1\.0\.0: requires vis\.fs, allows the sandbox read \.\n {4}mod\.ts \(12 bytes\)/);
  assert.equal((await run(["extensions", "trust", "--hash", "cd".repeat(10)], admin)).code, 2);
  assert.equal((await run(["extensions", "trust", "--hash", "ab"], admin)).code, 2);
  for (const more of [["--yes"], ["--hash", "ab".repeat(10)]]) {
    assert.equal((await run(["extensions", "trust", "--remove", ...more], admin)).code, 2);
  }
  assert.deepEqual(trusted, []);
  assert.equal((await run(["extensions", "trust", "--hash", "ab".repeat(10)], admin)).code, 0);
  assert.equal((await run(["extensions", "trust", "--yes"], admin)).code, 0);
  assert.deepEqual(trusted, [FACTS, FACTS]);
});

Deno.test("vis extensions check and list name faults, without control characters", async () => {
  const checks = [{ what: "my.x", ok: true, found: "1.0.0" }, { what: "y", ok: false, found: "bad \u001b[31m" }];
  const checked = await run(["extensions", "check", "x"], { check: () => Promise.resolve(checks) });
  assert.equal(checked.code, 1);
  assert.ok(!checked.out.includes("\u001b"));
  const fact = {
    version: "",
    alias: "",
    doc: "",
    path: "/p",
    commands: [],
    place: "project",
    state: "untrusted",
  } as const;
  const list = () => Promise.resolve([{ ...fact, name: "y", reason: "It is not trusted" }]);
  assert.match((await run(["extensions", "list"], { list })).out, /✗ y {2}project \/p\n {4}It is not trusted/);
  assert.equal(JSON.parse((await run(["extensions", "list", "--json"], { list })).out)[0].name, "y");
});

Deno.test("vis extensions test prints each test and exits with 1 if one failed", async () => {
  const tests = [{ what: "adds", ok: true, found: "" }, { what: "fails", ok: false, found: "boom (a_test.ts:5)" }];
  const asked: string[] = [];
  const test = (path: string) => Promise.resolve((asked.push(path), tests));
  const ran = await run(["extensions", "test", "x"], { test });
  assert.deepEqual([ran.code, ran.out], [1, "✓ adds\n✗ fails  boom (a_test.ts:5)\n"]);
  assert.equal((await run(["extensions", "test"], { test: () => Promise.resolve([]) })).code, 0);
  assert.deepEqual(asked, ["x"]);
});

Deno.test("a word that is no command is asked of the extensions", async () => {
  const asked: (readonly string[])[] = [];
  const admin = { run: (args: readonly string[]) => Promise.resolve(asked.push(args) === 1 ? 3 : null) };
  assert.equal((await run(["shout", "--loud"], admin)).code, 3);
  const unknown = await run(["shout"], admin);
  assert.equal(unknown.code, 2);
  assert.match(unknown.err, /unknown command 'shout'/);
  assert.deepEqual(asked, [["shout", "--loud"], ["shout"]]);
});
