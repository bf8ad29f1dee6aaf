import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import * as extensions from "../../../extensions/index.ts";
import { AppConfigAdmin } from "../../../src/app/settings/config_admin.ts";
import { readSettings } from "../../../src/app/settings/settings.ts";
import { ConfigError, UsageError } from "../../../src/domain/errors.ts";
import type { SettingsSection } from "../../../src/domain/settings_section.ts";
import { z } from "../../../src/extension/mod.ts";

interface Place {
  readonly home: string;
  readonly workspace: string;
  readonly own: string;
  readonly project: string;
  admin(env?: Readonly<Record<string, string>>, added?: readonly SettingsSection[]): Promise<AppConfigAdmin>;
}

async function withPlace(work: (place: Place) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "vis-config-" }));
  try {
    const home = join(folder, "home"), workspace = join(folder, "work");
    await Deno.mkdir(join(workspace, ".vis"), { recursive: true });
    await work({
      home,
      workspace,
      own: join(home, "config.jsonc"),
      project: join(workspace, ".vis/config.jsonc"),
      admin: (env = {}, added = []) => {
        const parts = { env: { VIS_HOME: home, ...env }, ...extensions, added: () => Promise.resolve(added) };
        return AppConfigAdmin.open({ cwd: workspace }, parts);
      },
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const own = { project: false } as const;

Deno.test("AppConfigAdmin.set() writes a value that applies at once, keeps comments, and is private to its owner", () =>
  withPlace(async ({ own: path, workspace, home, admin }) => {
    const config = await admin();
    assert.equal((await config.set("budget.iterations", { words: ["8"], project: false })).changed, true);
    assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
    await Deno.writeTextFile(path, '// mine\n{\n  "budget": { "iterations": 8 } // enough\n}\n');
    await config.set("budget.iterations", { words: ["9"], project: false });
    assert.equal(await Deno.readTextFile(path), '// mine\n{\n  "budget": { "iterations": 9 } // enough\n}\n');
    const { config: now } = await readSettings({ cwd: workspace }, { VIS_HOME: home }, extensions);
    assert.equal(now.budget.iterations, 9);
    assert.deepEqual(
      (await Array.fromAsync(Deno.readDir(home))).map(({ name }) => name),
      ["config.jsonc"],
      "no draft is left",
    );
  }));

Deno.test("AppConfigAdmin.set() keeps a byte order mark, and changes no file that is not UTF-8", () =>
  withPlace(async ({ own: path, admin }) => {
    const config = await admin();
    await Deno.mkdir(dirname(path), { recursive: true });
    await Deno.writeTextFile(path, '\ufeff{ "model": "a/b" } // mine');
    await config.set("budget.iterations", { words: ["5"], project: false });
    await config.unset("model", { project: false });
    const bytes = await Deno.readFile(path);
    assert.deepEqual([...bytes.subarray(0, 4)], [0xef, 0xbb, 0xbf, 0x7b]);
    assert.match(new TextDecoder().decode(bytes), /"iterations": 5[^]*\/\/ mine/);
    const latin1 = Uint8Array.from("{ } // caf\xe9", (char) => char.charCodeAt(0));
    await Deno.writeFile(path, latin1);
    await assert.rejects(
      config.set("model", { words: ["a/b"], project: false }),
      /Cannot read .*config\.jsonc: it is not UTF-8; save it as UTF-8/,
    );
    assert.deepEqual(await Deno.readFile(path), latin1);
  }));

Deno.test("AppConfigAdmin.layer() reads KEY=VALUE as set() reads its words, and writes no file", () =>
  withPlace(async ({ home, admin }) => {
    const config = await admin();
    const layer = await config.layer([
      ...["budget.iterations=8", "model=a/b=c", "model=4", "shell.network=true", "web.hosts=a.example"],
      "web.hosts=b.example",
    ]);
    assert.deepEqual((await config.layer(["model=a/b=c"])).values, { model: "a/b=c" });
    assert.deepEqual(layer.values, {
      budget: { iterations: 8 },
      model: "4",
      shell: { network: true },
      web: { hosts: ["a.example", "b.example"] },
    });
    assert.deepEqual([layer.layer, layer.where("model")], ["run", "--set"]);
    await assert.rejects(Deno.stat(home), Deno.errors.NotFound);
  }));

Deno.test("AppConfigAdmin reads each JSON list among the words of a list as entries", () =>
  withPlace(async ({ admin }) => {
    const config = await admin(), words = ['["rm *"]', "mv *", '["a", "b"]'], patterns = ["rm *", "mv *", "a", "b"];
    assert.deepEqual((await config.set("shell.deny", { words, ...own })).value, patterns);
    const { values } = await config.layer(words.map((word) => `secrets=${word}`));
    assert.deepEqual(values, { secrets: patterns });
  }));

Deno.test("AppConfigAdmin.set() adds exceptions to the patterns of secrets", () =>
  withPlace(async ({ admin }) => {
    const config = await admin();
    const set = async (...words: readonly string[]) => (await config.set("secrets", { words, ...own })).value;
    const whole = async () => (await config.explain("secrets")).value;
    const defaults = await whole();
    assert.ok(Array.isArray(defaults));
    assert.deepEqual(await set("!.env"), ["!.env"]);
    assert.deepEqual(await whole(), [...defaults, "!.env"]);
    assert.deepEqual(await set("qq*", "!qq1"), ["qq*", "!qq1"]);
    assert.deepEqual(await set('["!qq2"]', "!qq1"), ["qq*", "!qq2", "!qq1"]);
    assert.deepEqual(await whole(), ["qq*", "!qq2", "!qq1"]);
    assert.deepEqual(await set("[]"), []);
  }));

Deno.test("AppConfigAdmin.layer() adds to an entry of the user's file, and checks both together as set() does", () =>
  withPlace(async ({ home, workspace, own: path, admin }) => {
    await Deno.mkdir(home);
    const server = { command: "cat" }, servers = "extensions.config.vis.mcp.servers";
    const config = { extensions: { config: { "vis.mcp": { servers: { foo: server } } } }, providers: [{ name: "x" }] };
    await Deno.writeTextFile(path, JSON.stringify({ ...config, budget: { ceiling: 9 } }));
    const set = await (await admin()).layer([
      ...[`${servers}.foo.destructive=true`, "providers.0.protocol=google", "telegram.allow=5", "telegram.allow=6"],
    ]);
    const read = await readSettings({ cwd: workspace, set }, { VIS_HOME: home }, extensions);
    assert.deepEqual(read.config.extensions.config["vis.mcp"], { servers: { foo: { ...server, destructive: true } } });
    assert.deepEqual(read.config.providers.map(({ name, protocol }) => [name, protocol]), [["x", "google"]]);
    assert.deepEqual([read.config.telegram.allow, read.config.budget.ceiling], [[5, 6], 9]);
    assert.equal(Object.hasOwn(set.values, "budget"), false);
    assert.equal(await Deno.readTextFile(path), JSON.stringify({ ...config, budget: { ceiling: 9 } }));
    await assert.rejects(
      (await admin()).layer([`${servers}.bar.destructive=true`]),
      /servers\.bar must have either a command or a url/,
    );
  }));

Deno.test("AppConfigAdmin.layer() names a user's file that is not JSON", () =>
  withPlace(async ({ own: path, admin }) => {
    await Deno.mkdir(dirname(path), { recursive: true });
    await Deno.writeTextFile(path, '{ "model": ');
    await assert.rejects((await admin()).layer(["budget.iterations=8"]), /config\.jsonc: it is not JSON with comments/);
  }));

Deno.test("AppConfigAdmin.layer() refuses what set() refuses, and names the process list for a secret", () =>
  withPlace(async ({ admin }) => {
    const config = await admin();
    const cases: [string, RegExp][] = [
      ["model", /^Cannot use --set model: it is not KEY=VALUE; write it like --set budget\.iterations=8$/],
      ["=4", /^Cannot use --set =4: it is not KEY=VALUE/],
      [
        "budget.iteration=8",
        /^Cannot set budget\.iteration: Vis has no such setting; did you mean budget\.iterations\?$/,
      ],
      ["budget.iterations=many", /^Cannot set budget\.iterations: it must be /],
      ["shell.network=maybe", /^Cannot set shell\.network: /],
      [
        "baseUrl=https://me:hunter2@host.example/v1",
        /^Cannot use --set baseUrl: its value looks like a secret, which other users can see in the process list; use an address without a user name, a password and a key$/,
      ],
      [
        "database=postgres://me:hunter2@host.example/vis",
        /^Cannot use --set database: its value looks like a secret.*; omit the password, and set VIS_DATABASE_PASSWORD/,
      ],
      [
        "extensions.config.vis.mcp.servers.a.env.TOKEN=hunter2hunter2",
        /^Cannot use --set .*TOKEN: its value looks like a secret.*write \$\{auth:NAME\} instead of the secret/,
      ],
    ];
    for (const [given, says] of cases) {
      await assert.rejects(config.layer([given]), (error: unknown) => {
        assert.ok(error instanceof UsageError, given);
        assert.match(error.message, says);
        assert.doesNotMatch(error.message, /hunter2/);
        return true;
      });
    }
  }));

Deno.test("readSettings() lets settings of a run win over files and variables, and lose to the locked profile", () =>
  withPlace(async ({ home, workspace, project, own: path, admin }) => {
    await Deno.mkdir(home);
    await Deno.writeTextFile(
      path,
      '{ "budget": { "iterations": 5, "ceiling": 9 }, "web": { "hosts": ["a.example"] } }',
    );
    await Deno.writeTextFile(project, '{ "model": "p/m" }');
    const env = { VIS_HOME: home, VIS_MODEL: "e/m", VIS_DB: "/e.db" };
    const config = await admin(env);
    const set = await config.layer([
      ...["budget.iterations=8", "model=r/m", "web.hosts=b.example", "database=/r.db", "approvals=ask"],
      "sandbox.require=[]",
    ]);
    const settings = await readSettings({ cwd: workspace, set }, env, extensions);
    const { budget, model } = settings.config;
    assert.deepEqual([budget.iterations, budget.ceiling, model, settings.database], [8, 9, "r/m", "/r.db"]);
    const [section] = settings.sections.all.filter(({ name }) => name === "web");
    assert.deepEqual(Object(settings.config.extensions.config[section?.namespace ?? ""])["hosts"], ["b.example"]);
    const flags = await readSettings({ cwd: workspace, set, model: "f/m", db: "/f.db" }, env, extensions);
    assert.deepEqual([flags.config.model, flags.database], ["f/m", "/f.db"]);
    const locked = await readSettings({ cwd: workspace, set, locked: { writable: false } }, env, extensions);
    assert.equal(locked.config.approvals, "never");
    assert.ok(locked.config.sandbox.require.includes("kernel"));
    const seen = await AppConfigAdmin.open({ cwd: workspace, set }, { env, ...extensions });
    assert.deepEqual((await seen.explain("model")).layers.map(({ layer }) => layer), [
      ...["default", "project", "environment", "run"],
    ]);
  }));

Deno.test("AppConfigAdmin.set() parses words by the type of the setting", () =>
  withPlace(async ({ admin }) => {
    const config = await admin();
    const cases: [string, string[], unknown][] = [
      ["model", ["4"], "4"],
      ["model", ["null"], null],
      ["localServers", ["false"], false],
      ["extensions.deny", ["web"], ["web"]],
      ["extensions.deny", ["web", "mcp"], ["web", "mcp"]],
      ["extensions.deny", ['["a"]'], ["a"]],
      ["extensions.allow", ["fs", "web"], ["fs", "web"]],
      ["extensions.allow", ["fs"], ["fs"]],
      ["extensions.allow", ["null"], null],
      ["budget.costUsd", ["0.5"], 0.5],
      ["telegram.allow", ["5"], [5]],
      ["telegram.allow", ["5", "-6"], [5, -6]],
      ["telegram.allow", ["[7]"], [7]],
      ["providers", ['[{ "name": "x" }]'], [{ name: "x" }]],
      ["providers", ['{ "name": "z" }'], [{ name: "z" }]],
      ["providers.0.name", ["y"], "y"],
      ['extensions.config["com.acme.search"]', ['{ "a": 1 }'], { a: 1 }],
    ];
    for (const [key, words, value] of cases) {
      assert.deepEqual((await config.set(key, { words, ...own })).value, value, key);
    }
  }));

Deno.test("AppConfigAdmin.set() refuses an unsuitable value and writes nothing", () =>
  withPlace(async ({ own: path, admin }) => {
    const config = await admin();
    const cases: [string, string[], RegExp][] = [
      ["budget.iterations", ["none"], /^Cannot set budget\.iterations: it must be a whole number$/],
      ["budget.iterations", ["1", "2"], /^Cannot set budget\.iterations/],
      ["server.hosts", ["https://vis.example.org"], /server\.hosts\.0 must be a host, such as vis\.example\.org/],
      [
        "update.from",
        ["ftp://vis.example.org"],
        /^Cannot set update\.from: it must be an https URL, an http URL of this/,
      ],
      ["budgt.iterations", ["1"], /Vis has no such setting; did you mean budget\.iterations\?$/],
      ["nothing.like.it", ["1"], /Vis has no such setting; vis config list --all shows all settings/],
      ["providers.3.name", ["x"], /^Cannot set providers\.3\.name/],
      ["baseUrl", ["http://me:pass@host/v1"], /^Cannot save baseUrl in a settings file/],
      ["apikey", ["5"], /^Cannot set apikey: Vis has no such setting; save the key with vis auth login PROVIDER/],
      [
        "database",
        ["postgres://me:pass@host/vis"],
        /omit the password, and set VIS_DATABASE_PASSWORD or VIS_DATABASE_/,
      ],
      ["telegram.token", ["5"], /Vis has no such setting; save the token of the bot with vis auth login telegram$/],
      ["server.token", ["5"], /Vis has no such setting; write the token to a file, and set server\.tokenFile to its/],
      ...["modelCatalog", "baseUrl", "web.searchUrl", "server.jwt.jwks", "telegram.apiUrl"].map(
        (key): [string, string[], RegExp] => [key, ["https://me:pass@host/"], /; use an address without a user name,/],
      ),
      ["extensions.config.vis.web.searchUrl", ["https://me:pass@host/"], /; use an address without a user name,/],
      ["extensions.config.vis.mcp.servers.a.env.DATABASE_URL", ["https://me:pass@host/"], /; write \$\{auth:NAME\}/],
      ["sandboxx", ["5"], /Vis has no such setting; did you mean sandbox\?$/],
      ["iterations", ["5"], /Vis has no such setting; did you mean budget\.iterations\?$/],
      [
        "budget.nope",
        ["5"],
        /Vis has no such setting; choose one of budget\.iterations,.* budget\.wallMs, budget\.subcalls, budget\.depth$/,
      ],
      ["model.x", ["5"], /Vis has no such setting; vis config list --all shows all settings, and none is below model$/],
      ["providers.0.nam", ["x"], /Vis has no such setting; did you mean providers\.0\.name\?$/],
      ["extensions.config.vis.web.host", ["x"], /did you mean extensions\.config\.vis\.web\.hosts\?$/],
      ["", ["5"], /^Cannot set "": Vis has no such setting; vis config list --all shows all settings/],
      ["a\nb", ["5"], /^Cannot set "a\\nb": Vis has no such setting/],
      ["model", [""], /^Cannot set model: it must not be empty$/],
      ["model", [" "], /^Cannot set model: it must not be empty$/],
      ["model", ["[1]"], /^Cannot set model: it must be text$/],
      ["extensions.deny", [""], /^Cannot set extensions\.deny: extensions\.deny\.0 must not be empty$/],
      ["extensions.deny", ["[1]"], /^Cannot set extensions\.deny: extensions\.deny\.0 must be text$/],
      ["providers", ["[{}]"], /^Cannot set providers: providers\.0\.name is missing$/],
      ["providers", ['{"a":1}'], /^Cannot set providers: it must be a list$/],
    ];
    for (const key of ['a["b', "a[0].b", 'mod"el', 'a"b"', '["a"]b', "a]", '"a"..b', 'a[""]']) {
      cases.push([key, ["x"], /: it is not a key of a setting; quote a whole name/]);
    }
    for (const [key, words, says] of cases) {
      await assert.rejects(config.set(key, { words, ...own }), (error) => {
        assert.ok(error instanceof UsageError, String(error));
        assert.match(error.message, says);
        return true;
      });
    }
    await assert.rejects(Deno.stat(path), Deno.errors.NotFound);
  }));

Deno.test("AppConfigAdmin.set() refuses keys and refers to their place, without repeating them", () =>
  withPlace(async ({ own: path, admin }) => {
    const config = await admin();
    const cases: [string, string][] = [
      ["model", "sk-ant-0123456789abcdefghij"],
      ["providers.0.keyEnv", "ghp_0123456789abcdefghij0123"],
      ["extensions.config.x.apiKey", "short"],
      ['extensions.config["x"]', '{ "botToken": "1234" }'],
      ["providers", '[{ "name": "x", "headers": { "Authorization": "Bearer 0123456789" } }]'],
    ];
    for (const [key, word] of cases) {
      await assert.rejects(config.set(key, { words: [word], ...own }), (error) => {
        assert.ok(error instanceof UsageError);
        assert.match(error.message, /^Cannot s.*vis auth login/);
        assert.doesNotMatch(error.message, /0123|1234|short/);
        return true;
      });
    }
    await assert.rejects(Deno.stat(path), Deno.errors.NotFound);
  }));

Deno.test("AppConfigAdmin.set() names the invalid setting of the file, not the new one", () =>
  withPlace(async ({ own: path, admin }) => {
    await Deno.mkdir(dirname(path), { recursive: true });
    await Deno.writeTextFile(path, '{ "budget": { "iterations": "many" }, "modell": 1 }');
    const config = await admin();
    for (
      const [unset, why] of [["budget.iterations", "must be a whole"], ["modell", "is not a setting; did"]] as const
    ) {
      await assert.rejects(config.set("provider", { words: ["x"], ...own }), (error: Error) => {
        const start = `Cannot set provider: in ${path}, ${unset} ${why}`;
        assert.equal(error.message.slice(0, start.length), start);
        assert.ok(error.message.endsWith(`; correct ${unset}, or run vis config unset ${unset}`), error.message);
        return true;
      });
      await config.unset(unset, own);
    }
    assert.equal((await config.set("provider", { words: ["x"], ...own })).value, "x");
  }));

Deno.test("AppConfigAdmin.explain() shows the sources of a value in order, and masks possible secrets", () =>
  withPlace(async ({ home, own: path, project, admin }) => {
    await Deno.mkdir(home);
    const headers = '"providers": [{ "name": "x", "headers": { "X-Team": "4711-secret" } }]';
    await Deno.writeTextFile(path, `{ "model": "u", "baseUrl": "http://me:4711@h/v1", ${headers} }`);
    await Deno.writeTextFile(project, '{ "model": "p" }');
    const config = await admin({ VIS_MODEL: "e" });
    const { value, layer, where, layers, project: may } = await config.explain("model");
    assert.deepEqual([value, layer, where, may], ["e", "environment", "VIS_MODEL", true]);
    assert.deepEqual(layers.map((one) => [one.layer, one.where, one.value]), [
      ["default", "", null],
      ["user", path, "u"],
      ["project", project, "p"],
      ["environment", "VIS_MODEL", "e"],
    ]);
    const shown = JSON.stringify([await config.list({ all: true }), await config.explain("providers")]);
    assert.doesNotMatch(shown, /4711/);
    assert.match(shown, /http:\/\/••••@h\/v1/);
    assert.deepEqual((await config.list({ all: false })).map(({ key }) => key), ["model", "providers", "baseUrl"]);
  }));

Deno.test("AppConfigAdmin names the variable that sets the database, and hides its password", () =>
  withPlace(async ({ own: path, admin }) => {
    const url = "postgres://vis:4711@db.example.org/vis", shown = "postgres://••••@db.example.org/vis";
    const both = { VIS_DB: "/e.db", VIS_DATABASE_URL: url };
    const cases = [[{}, "/u.db", "user", path], [{ VIS_DB: "" }, "/u.db", "user", path]] as const;
    const ofEnvironment = [
      [{ VIS_DB: "/e.db" }, "/e.db", "environment", "VIS_DB"],
      [{ VIS_DATABASE_URL: url }, shown, "environment", "VIS_DATABASE_URL"],
      [both, shown, "environment", "VIS_DATABASE_URL"],
    ] as const;
    for (const [env, value, ...place] of [...cases, ...ofEnvironment]) {
      const config = await admin(env);
      const { overruled } = await config.set("database", { words: ["/u.db"], ...own });
      assert.equal(overruled, place[0] === "user" ? "" : place[1]);
      const facts = await config.explain("database");
      assert.deepEqual([facts.value, facts.layer, facts.where], [value, ...place]);
      assert.deepEqual(await config.list({ all: false }).then((all) => all.map(({ key }) => key)), ["database"]);
    }
  }));

Deno.test("AppConfigAdmin.set() names the source that overrides the written value", () =>
  withPlace(async ({ admin }) => {
    const loud = await admin({ VIS_MODEL: "e" });
    assert.equal((await loud.set("model", { words: ["m"], ...own })).overruled, "VIS_MODEL");
    assert.equal((await (await admin()).set("model", { words: ["n"], ...own })).overruled, "");
  }));

Deno.test("AppConfigAdmin.set() in a workspace names the lower limit that remains", () =>
  withPlace(async ({ own: path, admin }) => {
    const config = await admin({});
    const overruled = async (chars: string, project: boolean): Promise<string> =>
      (await config.set("context.journalChars", { words: [chars], project })).overruled;
    assert.deepEqual([await overruled("50000", true), await overruled("5000", true)], ["the default", ""]);
    await overruled("4000", false);
    assert.equal(await overruled("5000", true), path);
  }));

Deno.test("AppConfigAdmin names the sources that add to a list instead of overriding it", () =>
  withPlace(async ({ own: path, project, admin }) => {
    await Deno.writeTextFile(project, '{ "extensions": { "deny": ["memo"] }, "secrets": ["*.k"], "model": "p" }');
    const config = await admin({});
    for (const [key, word] of [["extensions.deny", "web"], ["secrets", "*.pem"]] as const) {
      const { overruled, extended } = await config.set(key, { words: [word], ...own });
      assert.deepEqual([overruled, extended], ["", project], key);
      const { layers } = await config.explain(key);
      const counting = layers.filter(({ counts }) => counts).map(({ where }) => where);
      assert.deepEqual(counting, [path, project], key);
    }
    const lists = { "extensions.deny": "extended", "shell.deny": "extended", "web.hosts": "replaced", secrets: null };
    for (const [key, list] of Object.entries(lists)) assert.equal((await config.explain(key)).list, list, key);
    const { overruled, extended } = await config.set("model", { words: ["u"], ...own });
    assert.deepEqual([overruled, extended], [project, ""]);
    const { layers } = await config.explain("model");
    assert.deepEqual(layers.filter(({ counts }) => counts).map(({ layer }) => layer), ["project"]);
  }));

Deno.test("AppConfigAdmin.list() names each file that has a section of an extension", () =>
  withPlace(async ({ home, own: path, project, admin }) => {
    await Deno.mkdir(home);
    await Deno.writeTextFile(project, '{ "shell": { "deny": ["rm *"] } }');
    await Deno.writeTextFile(path, '{ "extensions": { "config": { "com.acme.all": { "a": 1 } } } }');
    const listed = await (await admin({})).list({ all: false });
    const whole = listed.find(({ key }) => key === "extensions.config");
    assert.deepEqual(whole?.layers.map(({ where, counts }) => [where, counts]), [[path, true], [project, true]]);
    assert.deepEqual(whole?.value, { "com.acme.all": { a: 1 }, "vis.shell": { deny: ["rm *"] } });
  }));

Deno.test("AppConfigAdmin.unset() removes a key, even an invalid one, and thus repairs the file", () =>
  withPlace(async ({ home, own: path, admin }) => {
    await Deno.mkdir(home);
    await Deno.writeTextFile(path, '{\n  "colour": true,\n  "model": "m"\n}\n');
    const config = await admin();
    await assert.rejects(config.explain("model"), ConfigError);
    assert.equal((await config.unset("colour", own)).changed, true);
    assert.equal((await config.explain("model")).value, "m");
    assert.equal((await config.unset("provider", own)).changed, false);
    await assert.rejects(config.unset("colour", own), UsageError);
  }));

Deno.test("AppConfigAdmin.set() in a workspace accepts only harmless keys, and follows no link there", () =>
  withPlace(async ({ home, project, workspace, admin }) => {
    const config = await admin();
    const refused = config.set("shell.enabled", { words: ["true"], project: true });
    await assert.rejects(
      refused,
      /: it needs your trust in the file of a workspace, and --project sets only keys that need none; leave out --project to/,
    );
    for (const key of ["extensions.config.vis.web.hosts", "extensions.config.vis.shell.network"]) {
      const words = [key.endsWith("hosts") ? "a.example" : "true"];
      await assert.rejects(config.set(key, { words, project: true }), /: it needs your trust .*; leave out --project/);
    }
    await config.set("extensions.config.vis.shell.deny", { words: ["git push*"], project: true });
    await Deno.remove(project);
    const victim = join(workspace, "victim.jsonc");
    await Deno.writeTextFile(victim, "{}");
    await Deno.symlink(victim, project);
    await config.set("model", { words: ["m"], project: true });
    assert.equal(await Deno.readTextFile(victim), "{}");
    assert.equal((await readSettings({ cwd: workspace }, { VIS_HOME: home }, extensions)).config.model, "m");
  }));

Deno.test("AppConfigAdmin.trust() allows every setting in the file of a workspace, until it changes", () =>
  withPlace(async ({ home, workspace, project, admin }) => {
    const settings = () => readSettings({ cwd: workspace }, { VIS_HOME: home }, extensions);
    const config = await admin();
    assert.equal(await config.trustable(), null);
    await Deno.writeTextFile(project, '{ "baseUrl": "http://127.0.0.1:1/v1" }');
    await assert.rejects(settings(), /run vis config trust$/);
    const facts = await config.trustable();
    assert.ok(facts);
    assert.deepEqual([facts.trusted, facts.keys], [false, [{ key: "baseUrl", value: "http://127.0.0.1:1/v1" }]]);
    await assert.rejects(config.trust({ ...facts, sha256: "other" }), /changed since Vis showed it/);
    await config.trust(facts);
    assert.equal((await settings()).config.baseUrl, "http://127.0.0.1:1/v1");
    await config.set("budget.iterations", { words: ["5"], project: true });
    await config.set("model", { words: ["m"], project: true });
    await config.unset("model", { project: true });
    assert.deepEqual([(await settings()).config.baseUrl, (await settings()).config.budget.iterations], [
      "http://127.0.0.1:1/v1",
      5,
    ]);
    await assert.rejects(
      config.set("shell.enabled", { words: ["true"], project: true }),
      /: it needs your trust in the file of a workspace, .*; leave out --project to/,
    );
    await Deno.writeTextFile(project, '{ "baseUrl": "http://127.0.0.1:2/v1" }');
    await assert.rejects(settings(), ConfigError);
    await assert.rejects(config.set("model", { words: ["m"], project: true }), /baseUrl cannot come from/);
    await Deno.writeTextFile(project, '{ "baseUrl": "http://127.0.0.1:1/v1" }');
    assert.equal(await config.distrust(facts.path), true);
    await assert.rejects(settings(), ConfigError);
  }));

Deno.test("AppConfigAdmin finds a section of an extension in both of its places", () =>
  withPlace(async ({ own: path, home, workspace, admin }) => {
    const config = await admin();
    await config.set("extensions.config.vis.web.hosts", { words: ["example.org"], ...own });
    await config.set("web.local", { words: ["localhost:3000"], ...own });
    await config.set("extensions.config.vis.git.name", { words: ["Ada"], ...own });
    assert.deepEqual(JSON.parse(await Deno.readTextFile(path)), {
      extensions: { config: { "vis.web": { hosts: ["example.org"] }, "vis.git": { name: "Ada" } } },
      web: { local: ["localhost:3000"] },
    });
    for (const key of ["web.hosts", "extensions.config.vis.web.hosts"]) {
      const { value, layer } = await config.explain(key);
      assert.deepEqual([value, layer], [["example.org"], "user"], key);
    }
    const { value, layer } = await config.explain("shell.enabled");
    assert.deepEqual([value, layer], [true, "default"]);
    assert.deepEqual((await config.explain("web.hosts")).layers.map((one) => one.layer), ["default", "user"]);
    assert.deepEqual((await config.explain("shell")).value, {
      enabled: true,
      allow: [],
      deny: [],
      network: false,
      unwalled: "ask",
    });
    assert.deepEqual(Object.keys((await config.explain("extensions.config")).value as object), [
      "vis.web",
      "vis.git",
    ]);
    const listed = (await config.list({ all: true })).map(({ key }) => key);
    assert.deepEqual(
      listed.filter((key) => /\b(?:web|git)\./.test(key)),
      [
        "extensions.config.vis.git.enabled",
        ...["extensions.config.vis.git.name", "extensions.config.vis.git.email"],
        ...["web.hosts", "web.local", "web.search", "web.searchUrl"],
      ],
    );
    const { config: read } = await readSettings({ cwd: workspace }, { VIS_HOME: home }, extensions);
    assert.deepEqual(read.extensions.config["vis.web"], { hosts: ["example.org"], local: ["localhost:3000"] });
    await config.unset("extensions.config.vis.web.hosts", own);
    assert.deepEqual((await config.explain("web.hosts")).value, []);
  }));

Deno.test("AppConfigAdmin.set() and unset() change both names of a setting, but only one list for an entry", () =>
  withPlace(async ({ home, own: path, admin }) => {
    await Deno.mkdir(home);
    const config = await admin(), file = async (): Promise<unknown> => JSON.parse(await Deno.readTextFile(path));
    await config.set("shell.network", { words: ["true"], ...own });
    await config.set("extensions.config.vis.shell.network", { words: ["false"], ...own });
    for (const key of ["shell.network", "extensions.config.vis.shell.network"]) {
      assert.equal((await config.explain(key)).value, false, key);
    }
    await config.set("shell.network", { words: ["true"], ...own });
    assert.deepEqual(await file(), { shell: { network: true }, extensions: { config: { "vis.shell": {} } } });
    await config.set("extensions.config.vis.shell.unwalled", { words: ["run"], ...own });
    assert.equal((await config.unset("shell.unwalled", own)).changed, true);
    assert.equal((await config.explain("shell.unwalled")).value, "ask");
    const ofRun = await config.layer(["shell.network=true", "extensions.config.vis.shell.network=false"]);
    assert.deepEqual(ofRun.values, { shell: {}, extensions: { config: { "vis.shell": { network: false } } } });
    const both = { shell: { deny: ["a", "b"] }, extensions: { config: { "vis.shell": { deny: ["c"] } } } };
    await Deno.writeTextFile(path, JSON.stringify(both));
    await config.unset("shell.deny.0", own);
    assert.deepEqual(await file(), { ...both, shell: { deny: ["b"] } });
    await config.unset("shell", own);
    assert.deepEqual(await file(), { extensions: { config: {} } });
  }));

Deno.test("AppConfigAdmin.set() checks a section of an extension as the extension does, and names the values that clients offer", () =>
  withPlace(async ({ own: path, admin }) => {
    const config = await admin();
    const key = config.offered("mcpServers");
    assert.equal(key, "extensions.config.vis.mcp.servers");
    assert.equal(config.offered("nothing"), null);
    const refused: readonly (readonly [string, object, RegExp])[] = [
      ["a/b", { command: "x" }, /Cannot set .*a\/b: servers\.a\/b is not a valid key: it must/],
      ["b", { comand: "x" }, /servers\.b must have either a command or a url, and only keys that belong to it/],
    ];
    for (const [name, server, why] of refused) {
      await assert.rejects(config.set(`${key}.${name}`, { words: [JSON.stringify(server)], ...own }), why);
    }
    await assert.rejects(Deno.stat(path), "nothing was written");
    await config.set(`${key}.b`, { words: ['{"command":"x"}'], ...own });
    assert.deepEqual((await config.explain(key ?? "")).value, { b: { command: "x" } });
  }));

function sectionOf(namespace: string, schema: z.ZodType): SettingsSection {
  return {
    namespace,
    name: null,
    project: [],
    own: [],
    programs: {},
    offered: {},
    schema: () => Promise.resolve(schema),
  };
}

const ACME = [
  sectionOf("com.acme", z.strictObject({ issues: z.string().optional() })),
  sectionOf(
    "com.acme.issues",
    z.strictObject({ url: z.url().optional(), limit: z.int().default(10), token: z.string().optional() }),
  ),
];

Deno.test("AppConfigAdmin sets, explains and unsets the settings of an added extension, whose name has dots", () =>
  withPlace(async ({ own: path, admin }) => {
    const config = await admin({}, ACME);
    const key = "extensions.config.com.acme.issues.url";
    const quoted = ['extensions.config["com.acme.issues"].url', 'extensions.config."com.acme.issues".url'];
    for (const one of [key, ...quoted]) {
      const fresh = await admin({}, ACME);
      await fresh.set(one, { words: ["https://issues.example"], ...own });
      assert.deepEqual(JSON.parse(await Deno.readTextFile(path)), {
        extensions: { config: { "com.acme.issues": { url: "https://issues.example" } } },
      }, one);
      assert.deepEqual([(await fresh.explain(one)).value, (await fresh.explain(one)).layer], [
        "https://issues.example",
        "user",
      ], one);
      assert.equal((await fresh.unset(one, own)).changed, true, one);
    }
    assert.equal((await config.explain("extensions.config.com.acme.issues.limit")).value, 10);
    const refused: readonly (readonly [string, string, RegExp])[] = [
      [
        "extensions.config.com.acme.issues.ulr",
        "x",
        /ulr: Vis has no such setting; did you mean .*com\.acme\.issues\.url\?$/,
      ],
      [key, "no address", /Cannot set .*url: Invalid URL|Cannot set .*: url/],
      [
        "extensions.config.com.acmo.issues.url",
        "x",
        /no extension is named com\.acmo\.issues; did you mean com\.acme\.issues\?/,
      ],
      [
        "extensions.config.org.other.url",
        "x",
        /no extension is named org\.other; .*'extensions\.config\["org\.other"\]\.url'/,
      ],
      [
        'extensions.config["com.acme.issues"].token',
        "abcdef",
        /Cannot save .* in a settings file: its value looks like a secret/,
      ],
    ];
    for (const [one, word, why] of refused) {
      await assert.rejects(config.set(one, { words: [word], ...own }), (error) => {
        assert.ok(error instanceof UsageError);
        assert.match(error.message, why);
        return true;
      });
    }
    for (
      const action of [config.explain("extensions.config.org.other.url"), config.unset("extensions.config.a.b", own)]
    ) {
      await assert.rejects(action, /no extension is named (?:org\.other|a);/);
    }
    // An extension that is not added yet is named exactly.
    await config.set('extensions.config["org.other"].url', { words: ["x"], ...own });
    assert.equal((await (await admin()).explain("extensions.config.org.other.url")).value, "x");
    await config.set("extensions.config.com.acme.issues", { words: ['{"limit":3}'], ...own });
    assert.deepEqual(JSON.parse(await Deno.readTextFile(path)).extensions.config, {
      "org.other": { url: "x" },
      "com.acme.issues": { limit: 3 },
    });
  }));

Deno.test("AppConfigAdmin.unset() removes a value from a place that no extension has", () =>
  withPlace(async ({ own: path, admin }) => {
    const wrong = { extensions: { config: { com: { acme: { issues: { url: "x" } } } } } };
    await Deno.mkdir(join(path, ".."), { recursive: true });
    await Deno.writeTextFile(path, JSON.stringify(wrong));
    assert.equal((await (await admin({}, ACME)).unset("extensions.config.com.acme.issues.url", own)).changed, true);
    assert.doesNotMatch(await Deno.readTextFile(path), /url/);
  }));

Deno.test("AppConfigAdmin.trustable() shows the values of an extension whose name has dots", () =>
  withPlace(async ({ project, admin }) => {
    await Deno.writeTextFile(project, '{ "extensions": { "config": { "com.acme": { "issues": "http://evil" } } } }');
    const facts = await (await admin()).trustable();
    assert.deepEqual(facts?.keys, [{ key: "extensions.config.com.acme", value: { issues: "http://evil" } }]);
  }));

Deno.test("AppConfigAdmin.trustable() offers no trust if trust would not help", () =>
  withPlace(async ({ project, admin }) => {
    await Deno.writeTextFile(project, '{ "budget": { "ceiling": 3 }, "contxt": {} }');
    await assert.rejects((await admin()).trustable(), /contxt is not a setting; did you mean context\?$/);
    for (const text of ['{ "shell": { "unwalled": "run" } }', '{ "secrets": ["!.env"] }']) {
      await Deno.writeTextFile(project, text);
      await assert.rejects((await admin()).trustable(), /move the setting to your own config\.jsonc/);
    }
  }));
