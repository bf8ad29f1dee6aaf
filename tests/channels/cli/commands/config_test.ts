import assert from "node:assert/strict";
import type { ConfigAdmin, Io } from "../../../../src/channels/channel.ts";
import { runCli } from "../../../../src/channels/cli/cli.ts";
import type { SettingFacts } from "../../../../src/domain/admin_reports.ts";
import { fakeIo, fakeServices, NO_EXTENSIONS } from "../_fakes.ts";

const MODEL: SettingFacts = {
  key: "model",
  value: "\x1b[2Jm",
  layer: "user",
  where: "/h/config.jsonc",
  doc: "Model used",
  type: "string",
  project: true,
  list: null,
  layers: [{ layer: "default", where: "", value: null, counts: false }, {
    layer: "user",
    where: "/h/config.jsonc",
    value: "\x1b[2Jm",
    counts: true,
  }],
};

async function config(args: readonly string[], admin: Partial<ConfigAdmin>, terminal: Partial<Io> = {}) {
  const never = (): never => assert.fail("This was not to be asked");
  const whole: ConfigAdmin = {
    ...{ path: never, list: never, explain: never, schema: never, keys: never, set: never, unset: never },
    ...{ offered: never, layer: never, trustable: never, trust: never, distrust: never },
    ...admin,
  };
  const asked: unknown[] = [];
  const services = fakeServices({ configAdmin: (request) => Promise.resolve((asked.push(request), whole)) });
  const io = fakeIo({ args: ["config", ...args], ...terminal });
  return { code: await runCli(services, io), out: io.out, err: io.err, asked };
}

Deno.test("vis config list and explain show values with who set them, fit for a terminal", async () => {
  const admin = { list: () => Promise.resolve([MODEL]), explain: () => Promise.resolve(MODEL) };
  const listed = await config(["list", "--cwd", "/w"], admin);
  assert.deepEqual([listed.code, listed.asked], [0, [{ cwd: "/w" }]]);
  assert.equal(listed.out, 'model  "\\u001b[2Jm"          /h/config.jsonc\n');
  const { out } = await config(["explain", "model"], admin);
  assert.match(out, /^model = "\\u001b\[2Jm"\n {2}Model used\n {2}string; a workspace may set it without your trust\n/);
  assert.match(out, /^→ user {9}"\\u001b\[2Jm" {2}\/h\/config\.jsonc$/m);
  assert.deepEqual(JSON.parse((await config(["explain", "model", "--json"], admin)).out), MODEL);
  const none = await config(["list"], { list: () => Promise.resolve([]) });
  assert.deepEqual([none.code, none.out], [0, ""]);
  assert.match(none.err, /--all/);
});

Deno.test("vis config set names the entries of a list that no extension has", async () => {
  const value = ["web", "wbe"];
  const change = { key: "extensions.deny", path: "/h/config.jsonc", value, changed: true, overruled: "", extended: "" };
  const extensionAdmin = () =>
    Promise.resolve({
      ...NO_EXTENSIONS,
      unknown: (names: readonly string[]) => Promise.resolve([`${names}: unknown`]),
    });
  const io = fakeIo({ args: ["config", "set", "extensions.deny", ...value] });
  const admin: Partial<ConfigAdmin> = { set: () => Promise.resolve(change) };
  const services = fakeServices({ configAdmin: () => Promise.resolve(admin as ConfigAdmin), extensionAdmin });
  assert.deepEqual([await runCli(services, io), io.err], [0, "vis: web,wbe: unknown\n"]);
});

Deno.test("vis config set on a terminal tells when a running Vis uses the change", async () => {
  const change = { key: "model", path: "/h/config.jsonc", value: "m", changed: true, overruled: "", extended: "" };
  const admin = { set: () => Promise.resolve(change) };
  const at = async (stdoutIsTerminal: boolean, ...flags: string[]) =>
    (await config(["set", "model", "m", ...flags], admin, { stdoutIsTerminal })).err;
  assert.equal(await at(true), "A Vis that already runs may use the change only after its next start.\n");
  assert.deepEqual([await at(false), await at(true, "--json")], ["", ""]);
});

Deno.test("vis config explain has colours on a terminal, and escapes control characters of a value", async () => {
  const admin = { explain: () => Promise.resolve(MODEL) };
  const { out } = await config(["explain", "model"], admin, { stdoutIsTerminal: true, stdoutColor: true });
  assert.ok(out.startsWith('\u001b[1mmodel = "\\u001b[2Jm"\u001b[22m\n'));
  assert.ok(out.includes("\n\u001b[32m→\u001b[39m user"));
});

Deno.test("vis config get prints the value alone", async () => {
  const explain = (value: unknown) => ({ explain: () => Promise.resolve({ ...MODEL, value }) });
  assert.equal((await config(["get", "model"], explain("m"))).out, "m\n");
  assert.equal((await config(["get", "model", "--json"], explain("m"))).out, '"m"\n');
  assert.equal((await config(["get", "shell.deny"], explain(["a"]))).out, '[\n  "a"\n]\n');
});

Deno.test("vis config set passes its words on, and names the source that overrides them", async () => {
  const asked: unknown[] = [];
  const set: ConfigAdmin["set"] = (key, change) => {
    asked.push([key, change.words, change.project]);
    return Promise.resolve({ key, path: "/p", value: 8, changed: true, overruled: "VIS_MODEL", extended: "" });
  };
  const { code, out, err } = await config(["set", "--project", "model", "a", "b"], { set });
  assert.deepEqual([code, asked], [0, [["model", ["a", "b"], true]]]);
  assert.equal(out, "model = 8 in /p\n");
  assert.match(err, /^vis: VIS_MODEL overrides this setting/);
});

Deno.test("vis config shows each source of a list to which several sources add", async () => {
  const [own, theirs] = ["/h/config.jsonc", "/w/.vis/config.jsonc"];
  const facts: SettingFacts = {
    ...{ ...MODEL, key: "shell.deny", value: ["sudo*", "dd *"], layer: "project", where: theirs, list: "extended" },
    layers: [
      { layer: "default", where: "", value: [], counts: false },
      { layer: "user", where: own, value: ["sudo*"], counts: true },
      { layer: "project", where: theirs, value: ["dd *"], counts: true },
    ],
  };
  const change = { key: "shell.deny", path: own, value: ["sudo*"], changed: true, overruled: "", extended: theirs };
  const admin = {
    list: () => Promise.resolve([facts]),
    explain: () => Promise.resolve(facts),
    set: () => Promise.resolve(change),
  };
  const listed = await config(["list"], admin);
  assert.ok(listed.out.endsWith(`  ${own} + ${theirs}\n`), listed.out);
  const { out } = await config(["explain", "shell.deny"], admin);
  assert.deepEqual(out.split("\n").filter((line) => line.startsWith("→")).map((line) => line.split(/ +/)[1]), [
    "user",
    "project",
  ]);
  assert.match(out, /; --set adds entries to the list of your settings\n/);
  const replaced = await config(["explain", "web.hosts"], {
    explain: () => Promise.resolve({ ...facts, key: "web.hosts", list: "replaced" }),
  });
  assert.match(replaced.out, /; vis config set and --set replace the whole list\n/);
  const { err } = await config(["set", "shell.deny", "sudo*"], admin);
  assert.equal(err, `vis: ${theirs} adds entries to this setting (vis config explain shell.deny)\n`);
});

Deno.test("vis config trust shows first, and trusts only with --yes", async () => {
  const facts = { path: "/w/c", sha256: "abc", trusted: false, keys: [{ key: "baseUrl", value: "http://x" }] };
  const asked: unknown[] = [];
  const admin = {
    trustable: () => Promise.resolve(facts),
    trust: (one: unknown) => Promise.resolve(void asked.push(one)),
  };
  const shown = await config(["trust"], admin);
  assert.equal(shown.code, 1);
  assert.match(shown.out, /baseUrl = "http:\/\/x"[\s\S]*vis config trust --yes/);
  assert.deepEqual(asked, []);
  assert.equal((await config(["trust", "--yes"], admin)).code, 0);
  assert.deepEqual(asked, [facts]);
  const removals: string[] = [];
  const distrust = (path: string) => Promise.resolve(removals.push(path) > 0);
  const removed = await config(["trust", "--remove"], { ...admin, distrust });
  assert.deepEqual([removed.code, removals], [0, [facts.path]]);
  assert.doesNotMatch(removed.out, /--yes/);
  assert.equal((await config(["trust", "--remove", "--yes"], { ...admin, distrust })).code, 2);
  assert.equal(removals.length, 1);
});
