import assert from "node:assert/strict";
import { join } from "node:path";
import { z } from "zod";
import { manifestOf } from "../../extension/_folders.ts";
import { sample } from "../../extension/_sample.ts";
import { checkRuntime, doctor, settingsFault } from "../../../src/app/doctor/doctor.ts";
import { readSettings } from "../../../src/app/settings/settings.ts";
import type { CheckResult } from "../../../src/channels/channel.ts";
import { Cancelled, ConfigError, UsageError } from "../../../src/domain/errors.ts";
import { startOpenAiMock } from "../../helpers/wires/openai_mock.ts";

/** The file sandbox_test.ts tests the walls. This launcher starts no child, which ends those checks at once. */
const OWN = { localServers: false, sandbox: { launcher: ["/bin/false"] } };

interface Place {
  readonly home: string;
  readonly workspace: string;
  write(path: string, text: string, mode?: number): Promise<void>;
  check(env?: Readonly<Record<string, string>>): Promise<Map<string, CheckResult>>;
  fault(env?: Readonly<Record<string, string>>): Promise<CheckResult>;
}

async function withPlace(work: (place: Place) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "vis-doctor-" }));
  try {
    const home = join(folder, "home"), workspace = join(folder, "work");
    await Deno.mkdir(home);
    await Deno.mkdir(workspace);
    await Deno.writeTextFile(join(home, "config.jsonc"), JSON.stringify(OWN));
    await work({
      home,
      workspace,
      write: async (path, text, mode = 0o600) => {
        await Deno.mkdir(join(folder, path, ".."), { recursive: true });
        await Deno.writeTextFile(join(folder, path), text);
        await Deno.chmod(join(folder, path), mode);
      },
      check: async (env = {}) => {
        const parts = { env: { VIS_HOME: home, HOME: folder, ...env }, shipped: {} };
        const all = await doctor({ cwd: workspace }, parts);
        for (const { name, state, fix } of all) {
          assert.equal(state === "ok" || state === "off", fix === "", `${name} has its fix`);
        }
        return new Map(all.map((one) => [one.name, one]));
      },
      fault: async (env = {}) => {
        const parts = { shipped: {} };
        const error = await readSettings({ cwd: workspace }, { VIS_HOME: home, HOME: folder, ...env }, parts).then(
          () => assert.fail("the settings can be used"),
          (error: unknown) => error,
        );
        return settingsFault(error instanceof ConfigError ? error : assert.fail(String(error)));
      },
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("doctor() suggests a fix for missing parts, and reports no fault if Vis can be used", () =>
  withPlace(async ({ home, write, check }) => {
    await write("home/config.jsonc", '{ "localServers": false }');
    const checks = await check();
    const walls = ["realm", "permissions", "process", "kernel"].map((wall) => `wall: ${wall}`);
    const shown = ["runtime", "settings", "home", "sandbox", ...walls, "commands", "database", "provider"];
    assert.deepEqual([...checks.keys()].filter((name) => shown.includes(name)), shown);
    assert.equal(checks.get("settings")?.found, join(home, "config.jsonc"));
    assert.deepEqual([checks.get("home")?.found, checks.get("database")?.state], [home, "ok"]);
    assert.deepEqual([checks.get("provider")?.state, checks.get("extensions")?.state], ["warn", "ok"]);
    assert.match(checks.get("provider")?.fix ?? "", /vis auth login/);
    assert.deepEqual((await Array.fromAsync(Deno.readDir(home))).map(({ name }) => name), ["config.jsonc"]);
  }));

Deno.test("doctor() names the key of an unusable file, and still tests the walls", () =>
  withPlace(async ({ write, check, fault }) => {
    await write("home/config.jsonc", '{ "modle": "m" }');
    const own = await check();
    assert.equal(own.get("settings")?.state, "fail");
    assert.equal(own.get("settings")?.fix, "Remove the setting with vis config unset modle");
    assert.ok(own.has("wall: realm"));
    await write("home/config.jsonc", "{");
    assert.match((await fault()).fix, /JSON with comments/);
    await write("home/config.jsonc", "{}");
    await write("work/.vis/config.jsonc", '{ "baseUrl": "http://x" }');
    assert.match(
      (await fault()).fix,
      /^Remove the setting with vis config unset --project baseUrl; or move the setting to .*, or run vis config trust$/,
    );
  }));

Deno.test("doctor() takes the cause of a fault from its code, not from its words", () =>
  withPlace(async ({ home, write, check, fault }) => {
    const named = (await check({ VIS_PROVIDER: "a; b" })).get("provider");
    assert.deepEqual([named?.found.startsWith("Cannot use provider a; b: no provider has this name"), named?.state], [
      true,
      "fail",
    ]);
    assert.match(named?.fix ?? "", /^choose one of openai, /);
    assert.equal((await check({ VIS_PROVIDER: "opnai" })).get("provider")?.fix, "did you mean openai?");
    const url = await fault({ VIS_BASE_URL: "Cannot read x.jsonc" });
    assert.equal(url.fix, "Correct this, and run vis doctor again");
    await write("work/.vis/config.jsonc", '{ "model": 3 }');
    assert.match(
      (await fault()).fix,
      /^Remove the setting with vis config unset --project model; vis config explain model shows its type/,
    );
    await Deno.remove(join(home, "config.jsonc"));
    await write("home/config.jsonc/x", "");
    assert.match((await fault()).fix, /^Correct the file, or let Vis read it/);
  }));

Deno.test("doctor() finds keys that other users can read", () =>
  withPlace(async ({ home, write, check }) => {
    await write("home/auth.json", "{}", 0o644);
    const checks = await check();
    const { state, fix } = checks.get("auth.json") ?? assert.fail();
    assert.deepEqual([state, fix], ["fail", `chmod 600 ${join(home, "auth.json")}`]);
    assert.match(checks.get("provider")?.fix ?? "", /chmod 600/);
  }));

Deno.test("doctor() has a fix for each fault of a database", () =>
  withPlace(async ({ write, check }) => {
    await write("home/vis.db", "no database ".repeat(100));
    const { state, found, fix } = (await check()).get("database") ?? assert.fail();
    assert.equal(state, "fail");
    assert.match(found, /is not a database/);
    assert.match(fix, /vis db restore|--db/);
  }));

Deno.test("doctor() asks every configured provider without showing a key", () =>
  withPlace(async ({ write, check }) => {
    const mock = await startOpenAiMock({ key: "key-4711-4711-4711" });
    try {
      const one = { preset: "openai", baseUrl: mock.baseUrl, models: [{ name: "mock-1" }] };
      const providers = [{ name: "first", keyEnv: "FIRST", ...one }, { name: "second", keyEnv: "SECOND", ...one }, {
        name: "third",
        keyEnv: "THIRD",
        ...one,
      }];
      await write("home/config.jsonc", JSON.stringify({ ...OWN, providers }));
      const checks = await check({ FIRST: "key-4711-4711-4711", SECOND: "wrong-4712-4712-4712" });
      assert.deepEqual([checks.get("provider")?.state, checks.get("provider")?.found], ["ok", "first mock-1"]);
      assert.equal(checks.get("provider: second")?.state, "warn");
      assert.match(checks.get("provider: second")?.fix ?? "", /correct SECOND/);
      assert.match(checks.get("provider: third")?.fix ?? "", /vis auth login third/);
      assert.doesNotMatch(JSON.stringify([...checks.values()]), /471[12]/);
      const broken = await check({ FIRST: "wrong-4712-4712-4712" });
      assert.equal(broken.get("provider")?.state, "fail");
      assert.match(broken.get("provider")?.found ?? "", /401/);
      assert.match(broken.get("provider")?.fix ?? "", /its key \(FIRST\)/);
      assert.doesNotMatch(JSON.stringify([...broken.values()]), /471[12]/);
      const other = await check({ FIRST: "key-4711-4711-4711", VIS_MODEL: "mock-9" });
      const { state, found, fix } = other.get("provider") ?? assert.fail();
      assert.deepEqual([state, fix], ["warn", "Choose a model that the server lists, such as mock-1"]);
      assert.match(found, /does not list this model$/);
    } finally {
      await mock.close();
    }
  }));

Deno.test("doctor() shows the day of the prices, and a limit of the cost that would refuse every request", () =>
  withPlace(async ({ write, check }) => {
    const { found } = (await check({ VIS_PROVIDER: "demo" })).get("prices") ?? assert.fail();
    assert.match(found, /^of \d{4}-\d{2}-\d{2}$/);
    const providers = [{ name: "house", baseUrl: "http://127.0.0.1:9/v1", models: [{ name: "large" }] }];
    await write("home/config.jsonc", JSON.stringify({ ...OWN, providers, budget: { costUsd: 1 } }));
    assert.deepEqual((await check()).get("prices"), {
      name: "prices",
      state: "fail",
      found: "no price is known for large, so Vis refuses its requests because of budget.costUsd ($1)",
      fix: "Set the price of large in providers[].models of config.jsonc, or remove budget.costUsd",
    });
  }));

Deno.test("doctor() reports a home and a database that cannot be created", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "vis-doctor-" }));
  try {
    await Deno.writeTextFile(join(folder, "file"), "");
    const env = { VIS_HOME: join(folder, "file/home"), VIS_PROVIDER: "demo" };
    const all = await doctor({ cwd: folder }, { env, shipped: {} });
    for (const name of ["home", "database"]) {
      const { state, found, fix } = all.find((one) => one.name === name) ?? assert.fail(name);
      assert.equal(state, "fail");
      assert.match(
        found,
        /^(?:Vis cannot create|Cannot use database) \S+file\/home\S*: a part of its path is not a folder/,
      );
      assert.match(fix, /VIS_HOME|VIS_DB/);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("doctor() explains why an extension is excluded", () =>
  withPlace(async ({ write, check }) => {
    await write("home/extensions/bad/vis.json", "{");
    const { state, fix } = (await check()).get("extension: bad") ?? assert.fail();
    assert.equal(state, "warn");
    assert.match(fix, /^Run vis extensions check .*bad, or add bad to extensions\.deny$/);
  }));

Deno.test("doctor() does not warn about an extension that is off", () =>
  withPlace(async ({ write, check }) => {
    await write("home/extensions/a/vis.json", manifestOf({ entry: "mod.js" }));
    await write("home/extensions/a/mod.js", 'export default { namespace: "test.a", onByDefault: false };');
    await write("home/config.jsonc", JSON.stringify({ ...OWN, extensions: { allow: [] } }));
    assert.equal((await check()).get("extension: test.a"), undefined);
  }));

Deno.test("doctor() ends at its signal although a service does not answer", () =>
  withPlace(async ({ home, workspace }) => {
    const controller = new AbortController();
    using silent = Deno.listen({ port: 0, hostname: "127.0.0.1" });
    const asked = silent.accept();
    const env = {
      VIS_HOME: home,
      HOME: home,
      VIS_BASE_URL: `http://127.0.0.1:${silent.addr.port}/v1`,
      VIS_MODEL: "m",
    };
    const running = doctor({ cwd: workspace, signal: controller.signal }, { env, shipped: {} });
    using _connection = await asked;
    controller.abort();
    await assert.rejects(running, Cancelled);
  }));

Deno.test("doctor() refuses a workspace that is not a folder", async () => {
  const parts = { env: { HOME: "/nowhere" }, shipped: {} };
  await assert.rejects(doctor({ cwd: "/no/such/folder" }, parts), UsageError);
});

Deno.test("doctor() names an extension of the settings that does not exist", () =>
  withPlace(async ({ home, workspace, write }) => {
    await write("home/config.jsonc", JSON.stringify({ ...OWN, extensions: { allow: ["one"], deny: ["on"] } }));
    const shipped = { one: () => Promise.resolve({ default: sample({ namespace: "test.one" }) }) };
    const all = await doctor({ cwd: workspace }, { env: { VIS_HOME: home }, shipped });
    assert.equal(
      all.find(({ found }) => found.startsWith("on: "))?.found,
      "on: no extension has this name; did you mean one?",
    );
  }));

Deno.test("doctor() names the setting of a shipped extension that cannot be used", () =>
  withPlace(async ({ home, workspace, write }) => {
    const config = { ...OWN, extensions: { config: { "test.one": { limit: "many" } } } };
    await write("home/config.jsonc", JSON.stringify(config));
    const extension = sample({ namespace: "test.one", config: z.strictObject({ limit: z.number() }) });
    const shipped = { one: () => Promise.resolve({ default: extension }) };
    const all = await doctor({ cwd: workspace }, { env: { VIS_HOME: home }, shipped });
    const found = all.find(({ name }) => name === "extension: test.one");
    assert.equal(found?.state, "warn");
    assert.match(found?.found ?? "", /extensions\.config\.test\.one\.limit/);
    assert.match(found?.fix ?? "", /vis config explain extensions\.config/);
  }));

Deno.test("an old runtime is a fault only if the kernel wall does not hold", () => {
  const kernel = (state: CheckResult["state"]) => [{ name: "wall: kernel", state }];
  const state = (walls: Parameters<typeof checkRuntime>[0], deno: string) =>
    checkRuntime(walls, { deno, v8: "14" }).state;
  assert.equal(state(kernel("ok"), "2.8.0"), "ok");
  assert.equal(state(kernel("warn"), "2.8.0"), "warn");
  assert.equal(state([], "2.8.0"), "warn");
  assert.equal(state([], "2.8.1"), "ok");
});
