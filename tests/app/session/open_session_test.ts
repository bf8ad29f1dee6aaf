import assert from "node:assert/strict";
import { join } from "node:path";
import { openSession, startSandbox } from "../../../src/app/session/open_session.ts";
import { thisProcess } from "../../../src/app/session/process_owner.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { ConfigError, StoreError } from "../../../src/domain/errors.ts";
import { defineExtension, type Extension } from "../../../src/extension/mod.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { withFolder } from "../../helpers/with_folder.ts";

const OPTIONS = {
  functions: [],
  constants: {},
  grants: { net: [], read: [], write: [], env: [] },
  onCall: () => Promise.resolve(),
};

Deno.test("openSession() ends the queries of lost processes", async () => {
  await withFolder(async (folder) => {
    const db = join(folder, "x.db");
    const store = await openStore({ path: db });
    const { branchId } = await store.createConversation({ title: "t", channel: "cli", workspace: folder });
    const query = { branchId, text: "q", provider: "p", model: "m", promptEnrichment: "", runLabel: null };
    await store.beginQuery({ ...query, owner: { ...thisProcess(), pid: 1 << 22, started: "1" } });
    await store.close();
    const session = await openSession({ db, cwd: folder, provider: "demo" }, {
      env: { HOME: folder },
      shipped: {},
    });
    const branch = await session.conversations.latest(folder);
    assert.ok(branch);
    const [lost] = await session.conversations.queries(branch);
    assert.deepEqual([lost?.reason, lost?.running], ["process_lost", false]);
    await session.close();
  });
});

Deno.test("openSession() asks for a provider before it creates a database", async () => {
  await withFolder(async (folder) => {
    const parts = { env: { HOME: folder }, shipped: {} };
    await withFolder(async (home) => {
      // The test must not find a model server of the machine that runs it.
      await Deno.writeTextFile(join(home, "config.jsonc"), '{ "localServers": false }');
      const alone = { ...parts, env: { HOME: folder, VIS_HOME: home } };
      await assert.rejects(openSession({ cwd: folder }, alone), ConfigError);
      assert.deepEqual((await Array.fromAsync(Deno.readDir(home))).map(({ name }) => name), ["config.jsonc"]);
    });
    await assert.rejects(openSession({ cwd: folder, db: folder, provider: "demo" }, parts), StoreError);
    assert.deepEqual(await Array.fromAsync(Deno.readDir(folder)), []);
  });
});

Deno.test("startSandbox() runs no code if a required wall does not hold", async () => {
  const { config } = await loadConfig({ file: null, env: {}, flags: {} });
  const sandbox = await startSandbox(OPTIONS, { config });
  const { walls } = sandbox;
  await sandbox.close();
  const require = ["realm", "permissions", "process"] as const;
  const held = await startSandbox(OPTIONS, {
    config: { ...config, sandbox: { ...config.sandbox, require: [...require] } },
  });
  assert.equal(held.ended, false);
  await held.close();
  const all = { config: { ...config, sandbox: { ...config.sandbox, require: [...require, "kernel" as const] } } };
  if (walls.kernel.landlock > 0 && walls.kernel.seccomp) await (await startSandbox(OPTIONS, all)).close();
  else await assert.rejects(startSandbox(OPTIONS, all), /the required wall kernel is not active/);
});

Deno.test("startSandbox() names the extension that would write in a read-only workspace", async () => {
  const { config } = await loadConfig({ file: null, env: {}, flags: {} });
  const options = {
    ...OPTIONS,
    grants: { ...OPTIONS.grants, write: ["out"] },
    granted: [{ namespace: "acme.report", grants: { ...OPTIONS.grants, write: ["out"] } }],
  };
  await assert.rejects(
    startSandbox(options, { config, readOnly: true }),
    /the workspace is read-only, but acme\.report lets blocks write out; remove acme\.report from extensions\.allow/,
  );
});

Deno.test("openSession() names a missing launcher and a grant that cannot apply, and calls no model", async () => {
  await withFolder(async (folder) => {
    const book = { ...ACME, globals: ["Deno.readTextFile"], allow: { read: ["handbook"] } };
    const shipped = { acme: () => Promise.resolve({ default: defineExtension(book) }) };
    const launcher = (path: string) => ({ sandbox: { launcher: [path] } });
    const faults = [
      [
        {},
        /^Cannot use extension acme: Vis refuses a grant \(cannot grant the sandbox read access to handbook: .* does not exist\); add it to the setting extensions\.deny/,
      ],
      [launcher("/no/such"), /^Cannot run \/no\/such, the first word of sandbox\.launcher: there is no such file/],
      [launcher("sh"), /^Cannot run sh, the first word of sandbox\.launcher: it is not an absolute path/],
    ] as const;
    for (const [settings, message] of faults) {
      await Deno.writeTextFile(`${folder}/config.jsonc`, JSON.stringify(settings));
      const parts = { env: { VIS_HOME: folder, HOME: folder }, shipped };
      const { conversations, close } = await openSession({ cwd: folder, db: ":memory:", provider: "demo" }, parts);
      try {
        const branch = await conversations.create({ title: "t", channel: "cli", workspace: folder });
        const options = { signal: new AbortController().signal, emit: () => {} };
        await assert.rejects(conversations.ask(branch, "hi", options), { name: "ConfigError", message });
        const [query] = await conversations.queries(branch);
        assert.deepEqual([query?.reason, query?.iterations], ["configuration", 0]);
      } finally {
        await close();
      }
    }
  });
});

Deno.test("startSandbox() names the setting of a launcher that ends before the sandbox starts", {
  ignore: Deno.build.os === "windows",
}, async () => {
  const { config } = await loadConfig({ file: null, env: {}, flags: {} });
  const sandbox = { ...config.sandbox, launcher: ["/bin/sh", "-c", "exit 7"] };
  await assert.rejects(startSandbox(OPTIONS, { config: { ...config, sandbox } }), {
    name: "ConfigError",
    message: /^Cannot start the sandbox with sandbox\.launcher \/bin\/sh -c exit 7: exit code 7/,
  });
});

Deno.test("openSession() useModel uses another provider from the next call on", async () => {
  await withFolder(async (folder) => {
    const parts = { env: { VIS_HOME: folder, HOME: folder }, shipped: {} };
    const session = await openSession({ cwd: folder, db: ":memory:", provider: "demo" }, parts);
    try {
      assert.deepEqual(await session.useModel?.({ provider: "files", model: folder }), {
        provider: "files",
        model: folder,
      });
      assert.deepEqual(session.conversations.routes.map(({ model }) => model), [folder]);
      await assert.rejects(async () => await session.useModel?.({ provider: "acme", model: "m" }), ConfigError);
      assert.deepEqual(session.conversations.routes.map(({ model }) => model), [folder]);
      const demo = { provider: "demo", model: "scripted" };
      assert.deepEqual(await session.useModel?.(demo), demo);
    } finally {
      await session.close();
    }
  });
});

const ACME = { namespace: "acme", alias: { ns: "acme", alias: "acme" }, version: "1.0.0", doc: "Acme" };

Deno.test("openSession() with lazyExtensions loads an extension only for a request", async () => {
  await withFolder(async (folder) => {
    const loaded: string[] = [];
    const acme = (): Promise<{ readonly default: Extension }> => {
      loaded.push("acme");
      return Promise.resolve({
        default: defineExtension({ ...ACME, prompt: "# Acme" }),
      });
    };
    const parts = { env: { VIS_HOME: folder, HOME: folder }, shipped: { acme } };
    const request = { cwd: folder, db: ":memory:", browse: true, lazyExtensions: true };
    const settings = join(folder, "config.jsonc");
    await Deno.writeTextFile(settings, '{ "nosuch": false }');
    await assert.rejects(openSession(request, parts), ConfigError);
    loaded.length = 0;
    await Deno.writeTextFile(settings, '{ "localServers": false }');
    const session = await openSession(request, parts);
    try {
      assert.deepEqual([await session.conversations.list({ limit: 1 }), loaded], [[], []]);
      const [system] = await session.conversations.preview("hello", { workspace: folder });
      assert.ok(loaded.length > 0);
      assert.match(system?.text ?? "", /# Acme/);
    } finally {
      await session.close();
    }
  });
});

Deno.test("openSession() bounds the steps that a workspace sets by the ceiling, and does not bound the user's own", async () => {
  await withFolder(async (folder) => {
    await Deno.mkdir(join(folder, "w", ".vis"), { recursive: true });
    await Deno.mkdir(join(folder, "model"));
    await Deno.writeTextFile(join(folder, "w", ".vis", "config.jsonc"), '{ "budget": { "iterations": 1000 } }');
    for (const [file, steps] of [["{}", 40], ['{ "budget": { "iterations": 90 } }', 90]] as const) {
      await Deno.writeTextFile(join(folder, "config.jsonc"), file);
      const session = await openSession(
        { cwd: join(folder, "w"), db: ":memory:", provider: "files", model: join(folder, "model") },
        { env: { VIS_HOME: folder, HOME: folder }, shipped: {} },
      );
      const end = new AbortController();
      let budget: number | undefined;
      try {
        const branch = await session.conversations.create({ title: "t", channel: "cli", workspace: join(folder, "w") });
        await session.conversations.ask(branch, "hi", {
          signal: end.signal,
          emit: (event) => {
            if (event.type !== "iteration_started") return;
            budget = event.budget;
            end.abort();
          },
        });
      } finally {
        await session.close();
      }
      assert.equal(budget, steps);
    }
  });
});
