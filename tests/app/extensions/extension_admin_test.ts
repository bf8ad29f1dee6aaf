import assert from "node:assert/strict";
import { AppExtensionAdmin } from "../../../src/app/extensions/extension_admin.ts";
import { extensionSource } from "../../../src/app/extensions/extension_source.ts";
import type { Settings, ShippedParts } from "../../../src/app/settings/settings.ts";
import type { CliCommand } from "../../../src/extension/mod.ts";
import { UsageError } from "../../../src/domain/errors.ts";
import { manifestOf, moduleOf, write } from "../../extension/_folders.ts";
import { sample, twice } from "../../extension/_sample.ts";
import { adminIn, faultsOf, parts, say } from "./_admin.ts";
import { withFolder } from "../../helpers/with_folder.ts";
import * as index from "../../../extensions/index.ts";
import { join } from "node:path";

Deno.test("add() names the reason and the folder where it cannot write, and leaves no part behind", () =>
  withFolder(async (folder) => {
    const { admin, home } = await adminIn(folder);
    const made = await admin.create("greet");
    await Deno.mkdir(home, { recursive: true });
    await Deno.writeTextFile(join(home, "extensions"), "a file");
    const refused = {
      message: `Cannot add ${made}: a part of its path is not a folder; Vis must be able to write in ${
        join(home, "extensions")
      }`,
    };
    await assert.rejects(admin.add(made, { replace: false }), { name: "UsageError", ...refused });
    await Deno.remove(join(home, "extensions"));
    const target = await admin.add(made, { replace: false });
    await Deno.remove(target, { recursive: true });
    assert.deepEqual([...Deno.readDirSync(join(home, "extensions"))], []);
  }));

Deno.test("create() writes an extension with a test, add() and remove() make it the user's own", () =>
  withFolder(async (folder) => {
    const { admin, home, workspace } = await adminIn(folder);
    const made = await admin.create("greet");
    assert.equal(made, join(workspace, "greet"));
    await assert.rejects(admin.create("one"), /^UsageError: Cannot create extension one: the extension test\.one has/);
    await assert.rejects(
      admin.create("print"),
      /^UsageError: Cannot create extension print: .* a name of the sandbox;/,
    );
    assert.deepEqual(await admin.test(made), [{ what: "greet.hello() greets by name", ok: true, found: "" }]);
    assert.equal(await admin.add(made, { replace: false }), join(home, "extensions/my.greet"));
    await assert.rejects(admin.add(made, { replace: false }), /already exists; --force replaces it/);
    await assert.rejects(
      admin.add(`${made}-not`, { replace: false }),
      /^UsageError: Cannot read extension .*-not: there is no such file or folder; for a package, write npm:NAME@VERSION/,
    );
    await admin.add(made, { replace: true });
    await write(join(folder, "one"), {
      "vis.json": manifestOf({ namespace: "test.one" }),
      "mod.ts": moduleOf(),
    });
    await assert.rejects(
      admin.add(join(folder, "one"), { replace: true }),
      /^UsageError: Cannot add .*one: a shipped extension has the namespace test\.one; choose another namespace/,
    );
    const listed = await admin.list();
    assert.deepEqual(listed.map(({ name, place, state }) => `${name} ${place} ${state}`), [
      "test.one shipped loaded",
      "my.greet home loaded",
    ]);
    assert.match((await admin.show("greet")).text, /greet\.hello\(who/);
    await write(join(home, "extensions/other.greet"), {
      "vis.json": manifestOf({ namespace: "other.greet" }),
      "mod.ts": moduleOf(),
    });
    await assert.rejects(
      admin.remove("greet"),
      /^UsageError: Cannot remove extension greet: several extensions in .* have the short name greet; choose one of .*my\.greet/,
    );
    await Deno.remove(join(home, "extensions/other.greet"), { recursive: true });
    await assert.rejects(
      admin.remove("reet"),
      /^UsageError: Cannot remove extension reet: no extension in .* has this name; choose one of my\.greet$/,
    );
    assert.deepEqual(await admin.unknown(["my.greet", "test.one", "one", "my.gret"]), [
      "my.gret: no extension has this name; did you mean my.greet?",
    ]);
    assert.equal(await admin.remove("greet"), join(home, "extensions/my.greet"));
    await assert.rejects(admin.remove("my.greet"), UsageError);
    await assert.rejects(
      admin.create("greet"),
      /^UsageError: Cannot create extension \S+greet: a file or folder already exists there; name a new folder in a writable folder$/,
    );
    await assert.rejects(admin.create("../up it"), UsageError);
    await assert.rejects(
      admin.show("gone"),
      /Cannot show extension gone: Vis has loaded no extension with this name; /,
    );
  }));

Deno.test("list() agrees with a request: extensions.deny names an extension of a folder only by its namespace", () =>
  withFolder(async (folder) => {
    const stateOf = async (denied: string): Promise<readonly string[]> => {
      const { admin, settings, home } = await adminIn(folder, { extensions: { deny: [denied] } });
      await write(join(home, "extensions/x"), { "vis.json": manifestOf(), "mod.ts": moduleOf() });
      const { source } = await extensionSource(settings, parts);
      const view = { envId: "e", conversationId: "", branchId: "", depth: 0, workspace: settings.workspace };
      const isActive = (await source.activate(view)).list.some(({ namespace }) => namespace === "test.a");
      const state = (await admin.list()).find(({ name }) => name === "test.a")?.state ?? "";
      return [isActive ? "active" : "not active", state, ...await admin.unknown([denied])];
    };
    assert.deepEqual(await stateOf("test.a"), ["not active", "off"]);
    assert.deepEqual(await stateOf("a"), ["active", "loaded", "a: no extension has this name; did you mean test.a?"]);
  }));

Deno.test("check() reports failures, and runs no code of an untrusted project", () =>
  withFolder(async (folder) => {
    const { admin, workspace } = await adminIn(folder);
    const files = {
      "vis.json": manifestOf({ entry: "mod.js" }),
      "mod.js": untyped(moduleOf()),
      "checks.json": '[{"call":"a.f","args":[2],"result":5}]',
    };
    await write(join(folder, "x"), files);
    const checks = await admin.check(join(folder, "x"));
    assert.deepEqual(checks.map(({ what, ok, found }) => [what, ok, found]), [
      ["test.a", true, "1.0.0"],
      ["types", true, "no TypeScript"],
      ["a.f(2)", false, "it returned 4"],
    ]);
    const mark = join(folder, "ran");
    const theirs = await write(join(workspace, ".vis/extensions/x"), {
      "vis.json": manifestOf(),
      "mod.ts": moduleOf("", `await Deno.writeTextFile(${JSON.stringify(mark)}, "");`),
    });
    assert.match((await admin.check(theirs))[0]?.found ?? "", /it is not trusted/);
    await assert.rejects(Deno.stat(mark), Deno.errors.NotFound);
  }));

Deno.test("check() reports a module name that is taken, and an extension of extend() that Vis cannot add", () =>
  withFolder(async (folder) => {
    const { admin, home } = await adminIn(folder);
    const files = {
      "vis.json": manifestOf({ entry: "mod.js" }),
      "mod.js": untyped(moduleOf('extend: () => [{ namespace: "test.b" }],')),
    };
    const found = (await admin.check(await write(join(folder, "x"), files))).filter(({ ok }) => !ok);
    assert.deepEqual(found.map(({ what }) => what), ["test.a register"]);
    assert.match(found[0]?.found ?? "", /^Cannot use extension test\.b: alias is missing/);
    const stats = {
      "mod.js": untyped(moduleOf('modules: { stats: "./stats.js" },')),
      "stats.js": "export const a = 1;",
    };
    await write(join(home, "extensions/b"), {
      ...stats,
      "vis.json": manifestOf({ entry: "mod.js", namespace: "test.b" }),
      "mod.js": stats["mod.js"].replaceAll("test.a", "test.b").replace('alias: "a"', 'alias: "b"'),
    });
    const taken = await admin.check(await write(join(folder, "y"), { ...files, ...stats }));
    assert.match(taken[0]?.found ?? "", /^Cannot register extension test\.a: its module stats belongs to/);
    assert.equal(taken[0]?.ok, false);
  }));

Deno.test("check() calls an extension that is off, and says that extensions.deny excludes one", () =>
  withFolder(async (folder) => {
    const files = {
      "vis.json": manifestOf({ entry: "mod.js" }),
      "mod.js": untyped(moduleOf("onByDefault: false,")),
      "checks.json": '[{"call":"a.f","args":[2],"result":4}]',
    };
    const checked = async (config: object) => {
      const { admin, home } = await adminIn(folder, config);
      const path = await write(join(home, "extensions/a"), files);
      return (await admin.check(path)).map(({ what, ok, found }) => [what, ok, found]);
    };
    const called = [["test.a", true, "1.0.0"], ["types", true, "no TypeScript"], ["a.f(2)", true, ""]];
    assert.deepEqual(await checked({}), called);
    assert.deepEqual(await checked({ extensions: { config: { "test.a": { enabled: false } } } }), called);
    const denied = await checked({ extensions: { deny: ["test.a"] } });
    assert.deepEqual(denied, [["test.a", false, "it is in extensions.deny"]]);
  }));

/** Returns the module as JavaScript, so that TypeScript's compiler, which takes two seconds, does not check it. */
function untyped(module: string): string {
  return module.replace(", type Extension }", " }").replace("spec: Extension", "spec").replaceAll("n: number", "n");
}

Deno.test("list() and check() know that a command of Vis takes precedence over one of a folder", () =>
  withFolder(async (folder) => {
    const { admin, home } = await adminIn(folder);
    const cli = ["run", "reindex"].map((name) => `{ name: "${name}", doc: "D.", run: () => Promise.resolve() }`);
    const path = await write(join(home, "extensions/a"), {
      "vis.json": manifestOf({ entry: "mod.js" }),
      "mod.js": untyped(moduleOf(`cli: [${cli}],`)),
    });
    assert.deepEqual((await admin.list()).find(({ name }) => name === "test.a")?.commands, ["reindex"]);
    for (const where of [path, null]) {
      const found = (await admin.check(where)).filter(({ skipped }) => skipped).map(({ what, ok }) => [what, ok]);
      assert.deepEqual(found, [["vis run", true]], String(where));
    }
  }));

Deno.test("check() and list() name an extension with onByDefault whose config declares no enabled", () =>
  withFolder(async (folder) => {
    const { admin, home } = await adminIn(folder);
    const path = await write(join(home, "extensions/a"), {
      "vis.json": manifestOf({ entry: "mod.js" }),
      "mod.js": untyped(moduleOf("onByDefault: false, config: z.strictObject({ limit: z.number().default(1) }),")),
    });
    const [fault] = (await admin.check(path)).filter(({ ok }) => !ok);
    assert.match(fault?.found ?? "", /declares no enabled, although the extension has onByDefault/);
    const listed = (await admin.list()).find(({ name }) => name === "test.a");
    const { state, reason } = await admin.show("test.a");
    assert.deepEqual([listed?.state, state, reason], ["off", "off", "it is off: its config declares no enabled"]);
  }));

Deno.test("check() names arguments of a command that the command line cannot give", () =>
  withFolder(async (folder) => {
    const { admin, home } = await adminIn(folder);
    const args = `{ at: z.array(z.string()), one: z.object({}).optional(), rows: z.string().transform((all) => [all]),
      level: z.enum(["a", "b"]).default("a"), map: z.record(z.string(), z.string()).default({}) }`;
    const path = await write(join(home, "extensions/a"), {
      "vis.json": manifestOf({ entry: "mod.js" }),
      "mod.js": untyped(moduleOf(`cli: [{ name: "pick", doc: "D.", args: z.object(${args}), run: () => {} }],`)),
    });
    for (const where of [path, null]) {
      const found = (await admin.check(where)).filter(({ what }) => what === "vis pick");
      assert.deepEqual(found.map(({ ok, found }) => [ok, found.split(";")[0]]), [
        [false, "the command line cannot give at a list"],
        [false, "the command line cannot give one an object"],
        [false, "the command line cannot give map an object"],
      ], String(where));
    }
  }));

Deno.test("check() names undeclared types in returns and in parameters", async () => {
  const symbol = (name: string, returns: string, args = "z.number()"): string =>
    `fn("${name}", (_env, n: number) => n, { doc: "F.", args: z.tuple([${args}]), returns: ${
      JSON.stringify(returns)
    } }),`;
  const fine = [
    "Issue[]",
    '{path, text?, kind: "file"|"Link", size?: number}[]',
    "Array<{id, at: Date}> | null",
    "{readonly a: Uint8Array; b(c: string, d?: RegExp): Promise<void>}",
    "[first: string, ...rest: number[]]",
    "{[key: string]: Record<string, unknown>}",
    '{[K in "a" | "b"]: K}',
    "<T>(value: T, ...more: T[]) => value is string",
    "AsyncIterable<Awaited<Response>>",
    "`${number} x`",
  ];
  const symbols = [
    symbol("one", "NoSuchType"),
    symbol("two", "{a: Map<string, Foo>, b?: Bar.Baz[]}"),
    symbol("three", "number", 'z.number().meta({ tsType: "Nope | 1" })'),
    ...fine.map((returns, at) => symbol(`fine${at}`, returns)),
  ];
  const module = moduleOf('prompt: "type Issue = {id: number}",').replace(
    "symbols: [",
    `symbols: [${symbols.join("\n")}`,
  );
  const faults = await faultsOf({ "vis.json": manifestOf({ entry: "mod.js" }), "mod.js": untyped(module) });
  const fault = (name: string, type: string) =>
    `a.${name}: ${type} is not a type of TypeScript, and the extension's documentation does not declare it`;
  assert.deepEqual(faults, [
    fault("one", "NoSuchType"),
    fault("two", "Foo"),
    fault("two", "Bar"),
    fault("three", "Nope"),
  ]);
});

Deno.test("an extension loads next to its tests, and a file without an import does not matter", async () => {
  const test = 'import { test } from "@vis/extension/testing"; import "npm:nothing"; test("x", () => {});';
  const others = { "mod_test.ts": test, "old.ts": "this is { no module" };
  const manifest = manifestOf({ entry: "mod.js" });
  assert.deepEqual(await faultsOf({ "vis.json": manifest, "mod.js": untyped(moduleOf()), ...others }), []);
  const [reached = ""] = await faultsOf({
    "vis.json": manifest,
    "mod.js": untyped(moduleOf("", 'import "./helper.ts";')),
    "helper.ts": 'import "@vis/extension/testing";',
  });
  assert.match(
    reached,
    /test\.a: Cannot import.* as mod_test\.ts; run them with vis extensions test/,
  );
});

Deno.test("test() runs the tests of a folder, reports failures with their place, and runs none of an untrusted project", () =>
  withFolder(async (folder) => {
    const { admin, workspace } = await adminIn(folder);
    const files = {
      "vis.json": manifestOf(),
      "mod.ts": moduleOf(),
      "a_test.ts": [
        'import assert from "node:assert/strict";',
        'import { test, testExtension } from "@vis/extension/testing";',
        'import a from "./mod.ts";',
        'test("doubles", async () => assert.equal(await (await testExtension(a)).call("a.f", 2), 4));',
        'test("is wrong", () => { throw new Error("boom"); });',
      ].join("\n"),
      "b.test.js": "nothing();",
      "c_test.ts": "",
    };
    const path = await write(join(folder, "x"), files);
    assert.deepEqual((await admin.test(path)).map(({ what, ok, found }) => `${ok} ${what} ${found}`), [
      "true doubles ",
      "false is wrong boom (a_test.ts:5)",
      "false b.test.js nothing is not defined (b.test.js:1)",
      "false c_test.ts it calls no test() of @vis/extension/testing",
    ]);
    await assert.rejects(
      admin.test(await write(join(folder, "y"), { "vis.json": manifestOf(), "mod.ts": "" })),
      /it has no test file; create one such as mod_test\.ts/,
    );
    const theirs = await write(join(workspace, ".vis/extensions/x"), files);
    await assert.rejects(admin.test(theirs), /it is not trusted; review it with vis extensions trust/);
  }));

Deno.test("trust() loads only the content that was shown, and distrust() withdraws the trust", () =>
  withFolder(async (folder) => {
    const { admin, workspace } = await adminIn(folder);
    const path = join(workspace, ".vis/extensions/x");
    await write(path, { "vis.json": manifestOf({ allow: { read: ["."] } }), "mod.ts": moduleOf() });
    const state = async () => (await admin.list()).find(({ place }) => place === "project")?.state;
    assert.equal(await state(), "untrusted");
    const [shown] = await admin.trustable(null);
    assert.ok(shown);
    assert.deepEqual([shown.trusted, shown.extensions[0]?.allow], [false, ["read ."]]);
    await Deno.writeTextFile(join(path, "more.ts"), "");
    await assert.rejects(admin.trust(shown), /its files have changed since Vis showed them/);
    await admin.trust((await admin.trustable(null))[0] ?? assert.fail());
    assert.equal(await state(), "loaded");
    assert.equal(await admin.distrust(path), true);
    assert.equal(await state(), "untrusted");
  }));

Deno.test("show() names the bare names that an extension adds to the sandbox", () =>
  withFolder(async (folder) => {
    const { admin, home } = await adminIn(folder);
    await write(join(home, "extensions/a"), {
      "vis.json": manifestOf(),
      "mod.ts": moduleOf('modules: { stats: "./stats.ts" },'),
      "stats.ts": "export const a: number = 1;",
    });
    assert.match((await admin.show("a")).text, /^In the sandbox by bare names: stats$/m);
    assert.doesNotMatch((await admin.show("one")).text, /bare names/);
  }));

Deno.test("show() has the functions of an extension that is not active outside a conversation", () =>
  withFolder(async (folder) => {
    const { admin, home } = await adminIn(folder);
    await write(join(home, "extensions/a"), {
      "vis.json": manifestOf(),
      "mod.ts": moduleOf("activate: () => false,"),
    });
    assert.match((await admin.show("a")).text, /not active outside a conversation.*\n\na\.f\(/);
  }));

Deno.test("extensionSource() notes excluded extensions, and fails for a named one", () =>
  withFolder(async (folder) => {
    const { settings, home } = await adminIn(folder);
    await write(join(home, "extensions/bad"), { "vis.json": "{" });
    const good = await write(join(folder, "good"), { "vis.json": manifestOf(), "mod.ts": moduleOf() });
    const { source, notes } = await extensionSource(settings, parts, { paths: [good] });
    assert.equal(notes.length, 1);
    assert.match(notes[0] ?? "", /^Cannot use extension folder .*: vis\.json is not valid JSON \(/);
    const view = { envId: "e", conversationId: "c", branchId: "b", depth: 0, workspace: folder };
    assert.deepEqual((await source.activate(view)).functions, ["one.say", "a.f"]);
    const gone = extensionSource(settings, parts, { paths: [join(folder, "gone")] });
    await assert.rejects(
      gone,
      /^ConfigError: Cannot use extension folder .*: there is no such file or folder; create an extension/,
    );
    for (const excluded of [{ config: { "test.a": { x: 1 } } }, { deny: ["test.a"] }]) {
      const config = { ...settings.config, extensions: { ...settings.config.extensions, ...excluded } };
      const named = extensionSource({ ...settings, config }, parts, { paths: [good] });
      await assert.rejects(named, /^ConfigError: .*test\.a/);
    }
  }));

Deno.test("extensionSource() takes the extensions that are allowed and not denied, by name or namespace", () =>
  withFolder(async (folder) => {
    const named = (name: string, requires: readonly string[] = []) => () =>
      Promise.resolve({
        default: sample({
          namespace: `test.${name}`,
          alias: { ns: `vis.ext.${name}`, alias: name },
          requires,
          symbols: [twice(() => 2)],
        }),
      });
    const shipped = { one: named("one"), two: named("two", ["test.one"]) };
    const functions = async (extensions: object) => {
      const { settings } = await adminIn(folder, { extensions });
      const { source } = await extensionSource(settings, { shipped });
      return (await source.activate({ envId: "e", conversationId: "c", branchId: "b", depth: 0, workspace: folder }))
        .functions;
    };
    assert.deepEqual(await functions({}), ["one.twice", "two.twice"]);
    assert.deepEqual(await functions({ allow: ["one"] }), ["one.twice"]);
    assert.deepEqual(await functions({ deny: ["test.two"] }), ["one.twice"]);
    assert.deepEqual(await functions({ allow: [] }), []);
  }));

Deno.test("extensionSource() gives modules of shipped extensions", () =>
  withFolder(async (folder) => {
    const extension = sample({ namespace: "test.one", modules: { stats: "./stats.ts" }, symbols: [twice(() => 2)] });
    const shipped = { one: () => Promise.resolve({ default: extension }) };
    const { settings } = await adminIn(folder);
    const { source } = await extensionSource(settings, { shipped, realm: { one: { stats: "7" } } });
    const view = { envId: "e", conversationId: "c", branchId: "b", depth: 0, workspace: folder };
    assert.deepEqual((await source.activate(view)).modules, { stats: "7" });
    assert.deepEqual(source.known?.("e"), [{ namespace: "test.one", version: "1.0.0" }]);
  }));

Deno.test("run() runs the command of an extension with words, flags and help, and explains its usage", () =>
  withFolder(async (folder) => {
    const { admin, home } = await adminIn(folder);
    const cli =
      `cli: [{ name: "pick", doc: "Picks.", run: (args, { print }) => { print(JSON.stringify(args)); return 3; },
      args: z.object({ what: z.string(), times: z.number().default(1), loud: z.boolean().optional() }) }],`;
    await write(join(home, "extensions/a"), { "vis.json": manifestOf(), "mod.ts": moduleOf(cli) });
    const out: string[] = [];
    const run = (...args: string[]) => admin.run(args, { print: (text) => void out.push(text) });
    assert.equal(await run("nothing"), null);
    assert.equal(await run("pick", "x", "--times=2", "--loud"), 3);
    assert.deepEqual(JSON.parse(out.pop() ?? ""), { what: "x", times: 2, loud: true });
    assert.equal(await run("pick", "-h"), 0);
    assert.equal(await run("pick", "--help"), 0);
    assert.equal(out.pop(), "vis pick <what> [--times <number>] [--loud]\n\nPicks.\n");
    for (
      const [args, why] of [
        [[], "what is missing"],
        [["x", "y"], "it takes 1 argument, and y is one too many"],
        [["x", "--none"], "it has no option --none"],
        [["x", "--times", "many"], "times must be a number"],
      ] as const
    ) {
      const usage = "vis pick <what> [--times <number>] [--loud]";
      await assert.rejects(run("pick", ...args), {
        name: "UsageError",
        message: `Cannot run pick: ${why}; write ${usage}`,
      });
    }
  }));

Deno.test("run() is cancelled by its signal, and the program of the command has ended by then", () =>
  withFolder(async (folder) => {
    const { admin, home } = await adminIn(folder);
    const cli = `cli: [{ name: "wait", doc: "Waits.", run: (_args, { print, spawn }) => {
      spawn(["sleep", "1000"], {}).catch(() => print("ended"));
      print("begun");
      return new Promise(() => {});
    } }],`;
    await write(join(home, "extensions/a"), { "vis.json": manifestOf(), "mod.ts": moduleOf(cli) });
    const end = new AbortController();
    const out: string[] = [];
    const print = (text: string): void => {
      out.push(text);
      if (text === "begun") end.abort();
    };
    await assert.rejects(admin.run(["wait"], { print, signal: end.signal }), { name: "Cancelled" });
    assert.deepEqual(out, ["begun", "ended"]);
  }));

Deno.test("run() gives a command programs that read the repository around the workspace, and none if locked", {
  ignore: Deno.build.os !== "linux",
}, () =>
  withFolder(async (folder) => {
    const { settings } = await adminIn(folder);
    await Deno.mkdir(join(settings.workspace, "below"));
    const { success } = await new Deno.Command("git", { args: ["init", "-q"], cwd: settings.workspace }).output();
    assert.ok(success);
    const run: CliCommand["run"] = async (_args, { print, spawn }) =>
      print((await spawn?.(["git", "rev-parse", "--show-cdup"], { write: [] }))?.stdout.trim() ?? "none");
    const extension = sample({ cli: [{ name: "top", doc: "Shows the top.", run }] });
    const own = { shipped: { one: () => Promise.resolve({ default: extension }) }, env: {} };
    const shown = async (more: Partial<Settings>) => {
      const out: string[] = [];
      const below = { ...settings, workspace: join(settings.workspace, "below"), ...more };
      await new AppExtensionAdmin(below, own).run(["top"], { print: (text) => void out.push(text) });
      return out.join();
    };
    assert.equal(await shown({}), "../");
    assert.equal(await shown({ locked: { writable: true } }), "none");
  }));

Deno.test("show() has the settings of an extension", () =>
  withFolder(async (folder) => {
    const { settings } = await adminIn(folder);
    const { text } = await new AppExtensionAdmin(settings, { ...index, env: {} }).show("shell");
    assert.match(
      text,
      /^Settings, in extensions\.config\.vis\.shell:\n {2}enabled: boolean = true {2}\/\/ Whether blocks/m,
    );
  }));

Deno.test("settings() has the settings of added extensions, also of one whose section is invalid", () =>
  withFolder(async (folder) => {
    const { admin, home, settings } = await adminIn(folder, {
      extensions: { config: { "com.acme.issues": { url: 7 }, "test.one": { a: 1 } } },
    });
    const config = "config: z.strictObject({ url: z.string() }).partial(),";
    await write(join(home, "extensions/issues"), {
      "vis.json": manifestOf({ namespace: "com.acme.issues" }),
      "mod.ts": moduleOf(config).replaceAll(/namespace: "[^"]*"/g, 'namespace: "com.acme.issues"'),
    });
    assert.equal(settings.home, home);
    const found = await admin.settings();
    assert.deepEqual(found.map(({ namespace, name }) => [namespace, name]), [["com.acme.issues", null]]);
    const schema = await found[0]?.schema();
    assert.deepEqual([schema?.safeParse({ url: "x" }).success, schema?.safeParse({ ulr: "x" }).success], [true, false]);
  }));

Deno.test("list() shows that an extension is off, and how it is switched on", () =>
  withFolder(async (folder) => {
    const { settings } = await adminIn(folder);
    const stateOf = async (parts: Pick<ShippedParts, "shipped">, config: object) => {
      const extensions = { ...settings.config.extensions, ...config };
      const admin = new AppExtensionAdmin({ ...settings, config: { ...settings.config, extensions } }, {
        ...parts,
        env: {},
      });
      const found = (await admin.list()).find(({ name }) => ["vis.shell", "test.own"].includes(name));
      return `${found?.state} ${found?.reason}`;
    };
    const on = (namespace: string) => ({ config: { [namespace]: { enabled: true } } });
    const off = { config: { "vis.shell": { enabled: false } } };
    assert.equal(await stateOf(index, off), "off it is off: vis config set shell.enabled true");
    assert.equal(await stateOf(index, {}), "loaded ");
    assert.equal(await stateOf(index, { allow: ["shell"] }), "loaded ");
    assert.equal(await stateOf(index, { deny: ["shell"] }), "off it is in extensions.deny");
    assert.equal(await stateOf(index, { allow: ["fs"] }), "off it is not in extensions.allow");
    const own = sample({ namespace: "test.own", onByDefault: false, symbols: [say] });
    const parts = { shipped: { own: () => Promise.resolve({ default: own }) } };
    assert.equal(await stateOf(parts, {}), "off it is off: vis config set extensions.config.test.own.enabled true");
    assert.equal(await stateOf(parts, on("test.own")), "loaded ");
  }));

Deno.test("list(), show() and check() know a denied extension of a folder, and run none of its code", () =>
  withFolder(async (folder) => {
    const { admin, home } = await adminIn(folder, { extensions: { deny: ["com.acme.issues"] } });
    await write(join(home, "extensions/issues"), {
      "vis.json": manifestOf({ namespace: "com.acme.issues" }),
      "mod.ts": "throw new Error('loaded')",
    });
    const found = (await admin.list()).find(({ name }) => name === "com.acme.issues");
    assert.deepEqual([found?.state, found?.place, found?.reason], ["off", "home", "it is in extensions.deny"]);
    assert.equal((await admin.show("com.acme.issues")).reason, "it is in extensions.deny");
    assert.ok((await admin.check(null)).every(({ ok }) => ok));
  }));

Deno.test("list() distinguishes states by their cause, not by the words of an error", () =>
  withFolder(async (folder) => {
    const { admin } = await adminIn(folder, { extensions: { config: { "test.one": { limit: 1 } } } });
    assert.deepEqual((await admin.list()).map(({ state }) => state), ["misconfigured"]);
    const throwing = () => Promise.reject(new Error("it is not trusted, see extensions.config; it is off"));
    const { settings } = await adminIn(folder);
    const [one] = await new AppExtensionAdmin(settings, { ...parts, shipped: { one: throwing } }).list();
    assert.deepEqual([one?.state, one?.reason.includes("it is not trusted")], ["skipped", true]);
  }));

Deno.test("changes() yields the next turn after files were changed, also in folders below, and ends when it is left", () =>
  withFolder(async (folder) => {
    const { admin, workspace } = await adminIn(folder);
    await Deno.mkdir(`${workspace}/below`);
    const changes = admin.changes(workspace)[Symbol.asyncIterator]();
    for (const path of ["one.ts", "below/two.ts"]) {
      const next = changes.next();
      await Deno.writeTextFile(`${workspace}/${path}`, "1");
      await Deno.writeTextFile(`${workspace}/${path}`, "2");
      assert.deepEqual(await next, { done: false, value: undefined });
    }
    await changes.return?.(undefined);
  }));
