import assert from "node:assert/strict";
import { join } from "node:path";
import { type EnvironmentVariables, readSettings, secretsIn, visHome } from "../../../src/app/settings/settings.ts";
import { readService } from "../../../src/app/services/read_service.ts";
import { ConfigTrust } from "../../../src/app/settings/settings_files.ts";
import { ConfigError, WorkspaceError } from "../../../src/domain/errors.ts";
import { isSecretFile, SECRET_PATTERNS } from "../../../src/domain/kit/names.ts";
import { withFolder } from "../../helpers/with_folder.ts";
import { NO_EXTENSIONS } from "../_settings.ts";

Deno.test("readSettings() finds the home in VIS_HOME, else as .vis in the home folder", async () => {
  await withFolder(async (folder) => {
    const cases: [EnvironmentVariables, string][] = [
      [{ VIS_HOME: join(folder, "own"), HOME: folder }, join(folder, "own")],
      [{ VIS_HOME: "", HOME: folder }, join(folder, ".vis")],
      [{ USERPROFILE: folder }, join(folder, ".vis")],
    ];
    for (const [env, home] of cases) {
      const settings = await readSettings({ cwd: folder }, env, NO_EXTENSIONS);
      assert.deepEqual([settings.home, settings.database], [home, join(home, "vis.db")]);
    }
    await assert.rejects(readSettings({ cwd: folder }, {}, NO_EXTENSIONS), ConfigError);
    assert.equal(
      (await readSettings({ cwd: folder }, { VIS_HOME: "relative" }, NO_EXTENSIONS)).home,
      join(Deno.cwd(), "relative"),
    );
  });
});

Deno.test("readSettings() takes the database from the flag, else VIS_DB, else the home", async () => {
  await withFolder(async (folder) => {
    const env = { HOME: folder, VIS_DB: "env.db" };
    assert.equal((await readSettings({ cwd: folder, db: "/x/flag.db" }, env, NO_EXTENSIONS)).database, "/x/flag.db");
    assert.equal((await readSettings({ cwd: folder }, env, NO_EXTENSIONS)).database, join(Deno.cwd(), "env.db"));
    assert.equal((await readSettings({ cwd: folder, db: ":memory:" }, env, NO_EXTENSIONS)).database, ":memory:");
    assert.equal(
      (await readSettings({ cwd: folder }, { ...env, VIS_DB: ":memory:" }, NO_EXTENSIONS)).database,
      ":memory:",
    );
  });
});

Deno.test("readSettings() resolves links of the workspace and refuses a path that is not a folder", async () => {
  await withFolder(async (folder) => {
    const env = { HOME: folder };
    await Deno.mkdir(join(folder, "real"));
    await Deno.symlink(join(folder, "real"), join(folder, "link"));
    await Deno.symlink(join(folder, "nowhere"), join(folder, "broken"));
    await Deno.writeTextFile(join(folder, "file"), "");
    assert.equal(
      (await readSettings({ cwd: join(folder, "link") }, env, NO_EXTENSIONS)).workspace,
      join(folder, "real"),
    );
    const ABSENT = "there is no such file or folder";
    const faults = { file: "it is not a folder", broken: ABSENT, missing: ABSENT };
    for (const [name, fault] of Object.entries(faults)) {
      const cwd = join(folder, name);
      const wanted = new WorkspaceError(cwd, fault);
      await assert.rejects(readSettings({ cwd }, env, NO_EXTENSIONS), wanted);
    }
  });
});

Deno.test("readSettings() reads the settings file of the home, and accepts a missing one", async () => {
  await withFolder(async (folder) => {
    const env = { VIS_HOME: folder };
    assert.equal((await readSettings({ cwd: folder }, env, NO_EXTENSIONS)).config.model, null);
    await Deno.writeTextFile(join(folder, "config.jsonc"), '{ "model": "m" } // mine');
    const { config } = await readSettings({ cwd: folder, maxIterations: 3 }, env, NO_EXTENSIONS);
    assert.deepEqual([config.model, config.budget.iterations], ["m", 3]);
    await Deno.writeTextFile(join(folder, "config.jsonc"), "{");
    await assert.rejects(readSettings({ cwd: folder }, env, NO_EXTENSIONS), /Cannot read .*config\.jsonc/);
  });
});

Deno.test("readSettings() adds folders of --add-dir to those of readFolders, by their real paths", async () => {
  await withFolder(async (folder) => {
    const at = (name: string): string => join(folder, name);
    for (const name of ["home/.vis", "home/lib", "work", "other"]) await Deno.mkdir(at(name), { recursive: true });
    await Deno.writeTextFile(at("file"), "");
    await Deno.symlink(at("other"), at("link"));
    const env = { HOME: at("home") };
    const own = async (...readFolders: readonly string[]) =>
      await Deno.writeTextFile(at("home/.vis/config.jsonc"), JSON.stringify({ readFolders }));
    const read = async (...addDir: readonly string[]) => {
      const settings = await readSettings({ cwd: at("work"), addDir }, env, NO_EXTENSIONS);
      return [settings.readFolders, settings.folderNotes];
    };
    assert.deepEqual(await read(), [[], []]);
    assert.deepEqual(await read(at("link"), at("other"), at("home/lib")), [[at("other"), at("home/lib")], []]);
    await own(at("home/lib"), at("gone"), at("home"));
    assert.deepEqual(await read(at("link")), [[at("home/lib"), at("other")], [
      `Cannot read ${at("gone")} of the setting readFolders: there is no such folder; correct the setting`,
      `Cannot read ${at("home")} of the setting readFolders: it is or contains your home folder; correct the setting`,
    ]]);
    const refused: readonly (readonly [string, RegExp])[] = [
      [at("none"), /Cannot use --add-dir \S+\/none: there is no such folder; name another folder/],
      [at("file"), /there is no such folder/],
      [folder, /it is or contains your home folder/],
      [at("home"), /it is or contains your home folder/],
      ["/", /it is or contains your home folder/],
      [at("home/.vis"), /it is or contains the folder of Vis/],
    ];
    for (const [path, fault] of refused) await assert.rejects(read(path), fault, path);
    await Deno.mkdir(at("home/.vis/extensions"));
    await assert.rejects(read(at("home/.vis/extensions")), /it is in the folder of Vis/);
    await own("lib");
    await assert.rejects(read(), /readFolders\.0 must be an absolute path/);
  });
});

Deno.test("a server protects the secrets of each workspace that it serves, and ignores their other settings", async () => {
  await withFolder(async (folder) => {
    const at = (name: string): string => join(folder, name);
    for (const name of ["home", "work", "other/.vis", "plain"]) await Deno.mkdir(at(name), { recursive: true });
    const write = (text: string) => Deno.writeTextFile(at("other/.vis/config.jsonc"), text);
    await write('{ "secrets": ["*.foo", "!.env"], "budget": { "iterations": 9 }, "database": "x.db" } // comment');
    const request = { cwd: at("work"), serves: [at("other"), at("plain")] }, env = { HOME: at("home") };
    const read = (locked: boolean) =>
      readSettings({ ...request, ...locked ? { locked: { writable: false } } : {} }, env, NO_EXTENSIONS);
    const { config } = await read(false);
    assert.deepEqual(config.secrets, [...SECRET_PATTERNS, "*.foo"]);
    assert.notEqual(config.budget.iterations, 9);
    assert.deepEqual((await read(true)).config.secrets, SECRET_PATTERNS, "as for the file of the server's workspace");
    await write('{ "secrets": "*.foo" }');
    await assert.rejects(read(false), /other\/\.vis\/config\.jsonc: secrets /);
  });
});

Deno.test("neither a workspace nor the locked profile adds a folder", async () => {
  await withFolder(async (folder) => {
    const at = (name: string): string => join(folder, name);
    for (const name of ["home/.vis", "lib", "work/.vis"]) await Deno.mkdir(at(name), { recursive: true });
    const text = JSON.stringify({ readFolders: [at("lib")] }), project = at("work/.vis/config.jsonc");
    await Deno.writeTextFile(at("home/.vis/config.jsonc"), text);
    const request = { cwd: at("work") }, env = { HOME: at("home") };
    const locked = await readSettings({ ...request, locked: { writable: false } }, env, NO_EXTENSIONS);
    assert.deepEqual([locked.readFolders, locked.folderNotes], [[], []]);
    const service = { ...request, profile: "locked", addDir: [at("lib")] };
    await assert.rejects(
      readService(service, { env, shipped: {} }),
      /Cannot use --add-dir: the locked profile opens no/,
    );
    await Deno.writeTextFile(project, text);
    const why =
      /readFolders cannot come from a workspace, even if you trust it; move the setting to your own config\.jsonc/;
    await assert.rejects(readSettings(request, env, NO_EXTENSIONS), why);
    await new ConfigTrust(at("home/.vis")).add({ path: project, text });
    await assert.rejects(readSettings(request, env, NO_EXTENSIONS), why);
  });
});

Deno.test("secretsIn() counts the keys and tokens of Vis if its folder is the workspace or in it", async () => {
  await withFolder(async (folder) => {
    const home = join(folder, ".vis"), beside = join(folder, "project");
    for (const path of [home, beside]) await Deno.mkdir(path);
    const settings = await readSettings({ cwd: beside }, { VIS_HOME: home }, NO_EXTENSIONS);
    for (const [workspace, below] of [[folder, ".vis/"], [home, ""]] as const) {
      const found = secretsIn(settings, workspace);
      for (const name of ["auth.json", "server-token", "vis.db", "vis.db-wal"]) {
        assert.ok(isSecretFile(below + name, found), name);
      }
      assert.ok(!isSecretFile("src/code.ts", found));
    }
    assert.ok(!isSecretFile("src/token.ts", secretsIn(settings, folder)));
    const config = { ...settings.config, secrets: ["!.vis/vis.db"] };
    assert.ok(!isSecretFile(".vis/vis.db", secretsIn({ ...settings, config }, folder)), "an exception decides");
    assert.deepEqual(secretsIn(settings, beside), SECRET_PATTERNS);
  });
});

Deno.test("secretsIn() counts a database outside the folder of Vis, with its logs", async () => {
  await withFolder(async (folder) => {
    const env = { VIS_HOME: join(folder, ".vis") };
    for (const db of ["data/own.db", ":memory:"]) {
      const settings = await readSettings(
        { cwd: folder, db: db === ":memory:" ? db : join(folder, db) },
        env,
        NO_EXTENSIONS,
      );
      const found = secretsIn(settings, join(folder, "data"));
      for (const name of ["own.db", "own.db-wal", "own.db-journal"]) {
        assert.equal(isSecretFile(`data/${name}`, found), db !== ":memory:", name);
      }
      assert.ok(!isSecretFile("data/other.db", found));
    }
  });
});

Deno.test("readSettings() treats an empty settings file as a missing one", async () => {
  await withFolder(async (folder) => {
    for (const text of ["", " \n", "\ufeff"]) {
      await Deno.writeTextFile(join(folder, "config.jsonc"), text);
      const { config } = await readSettings({ cwd: folder }, { VIS_HOME: folder }, NO_EXTENSIONS);
      assert.equal(config.model, null, JSON.stringify(text));
    }
  });
});

Deno.test("readSettings() refuses a pipe as settings file instead of waiting for it", {
  ignore: Deno.build.os === "windows",
}, async () => {
  await withFolder(async (folder) => {
    const { success } = await new Deno.Command("mkfifo", { args: [join(folder, "config.jsonc")] }).output();
    assert.ok(success);
    await assert.rejects(
      readSettings({ cwd: folder }, { VIS_HOME: folder }, NO_EXTENSIONS),
      /^ConfigError: Cannot read .*config\.jsonc: it is a pipe, not a file$/,
    );
  });
});

Deno.test("readSettings() reads no device, no endless file and no large file as settings of a workspace", {
  ignore: Deno.build.os === "windows",
}, async () => {
  await withFolder(async (folder) => {
    await Deno.mkdir(join(folder, ".vis"));
    const path = join(folder, ".vis/config.jsonc");
    const read = () => readSettings({ cwd: folder }, { VIS_HOME: join(folder, "home") }, NO_EXTENSIONS);
    await Deno.symlink("/dev/zero", path);
    await assert.rejects(read(), /^ConfigError: Cannot read .*config\.jsonc: it is a device, not a file$/);
    await Deno.remove(path);
    await Deno.writeTextFile(path, "");
    await Deno.truncate(path, 3e9);
    await assert.rejects(
      read(),
      /^ConfigError: Cannot read .*config\.jsonc: it has [0-9]+ bytes, and the limit is 1048576 bytes$/,
    );
    await Deno.remove(path);
    await Deno.symlink("/proc/kmsg", path);
    assert.equal((await read()).config.model, null);
  });
});

Deno.test("readSettings() reports that the settings file cannot be read", async () => {
  await withFolder(async (folder) => {
    await Deno.mkdir(join(folder, "config.jsonc"));
    await assert.rejects(readSettings({ cwd: folder }, { VIS_HOME: folder }, NO_EXTENSIONS), (error) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.message, /^Cannot read .*config\.jsonc: /);
      return true;
    });
    await Deno.writeTextFile(join(folder, "file"), "");
    const { config } = await readSettings({ cwd: folder }, { VIS_HOME: join(folder, "file/below") }, NO_EXTENSIONS);
    assert.equal(config.model, null);
  });
});

Deno.test("visHome() is in the usual place of each system", () => {
  const windows = { APPDATA: "/c/roaming", USERPROFILE: "/c/user" };
  assert.equal(visHome(windows, "windows"), join("/c/roaming", "vis"));
  const both = { ...windows, LOCALAPPDATA: "/c/local" };
  assert.equal(visHome(both, "windows", () => false), join("/c/local", "vis"));
  assert.equal(visHome(both, "windows", (path) => path === join("/c/roaming", "vis")), join("/c/roaming", "vis"));
  assert.equal(visHome({ USERPROFILE: "/c/user" }, "windows"), join("/c/user", ".vis"));
  assert.equal(visHome({ ...windows, HOME: "/home/u" }, "darwin"), join("/home/u", ".vis"));
  assert.equal(visHome({ ...windows, VIS_HOME: "/own" }, "windows"), "/own");
  assert.equal(visHome({}, "linux"), null);
});
