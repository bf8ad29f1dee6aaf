import { HostCallError } from "../../src/domain/errors.ts";
import type { ActiveExtensions } from "../../src/extension/active_extensions.ts";
import { type EnvironmentView, type Extension, fn, type NudgeContext, value, z } from "../../src/extension/mod.ts";
import { ExtensionRegistry } from "../../src/extension/registry.ts";
import { FakeClock } from "../helpers/fake_clock.ts";
import { recordingLog, sample, twice, VIEW } from "./_sample.ts";
import assert from "node:assert/strict";

function registryOf(...extensions: Extension[]) {
  const { log, entries } = recordingLog();
  const registry = new ExtensionRegistry({ log });
  for (const extension of extensions) registry.register(extension);
  return { registry, entries };
}

const activate = async (...extensions: Extension[]): Promise<ActiveExtensions> =>
  await registryOf(...extensions).registry.activate(VIEW);
const named = (name: string, fields: Partial<Extension> = {}): Extension =>
  sample({ namespace: `test.${name}`, ...fields });
const options = { env: VIEW, signal: new AbortController().signal };
const throwing = (): never => {
  throw new Error("Boom");
};

Deno.test("installOrder() puts required extensions first and keeps the order else", () => {
  const { registry } = registryOf(
    named("a", { requires: ["test.c"] }),
    named("b"),
    named("c", { requires: ["test.d"] }),
    named("d"),
  );
  assert.deepEqual(registry.installOrder().map(({ namespace }) => namespace), ["test.d", "test.c", "test.a", "test.b"]);
});

Deno.test("installOrder() names the chain of a missing requirement", async () => {
  const { registry } = registryOf(named("a", { requires: ["test.b"] }), named("b", { requires: ["test.gone"] }));
  const expected = {
    message: "Cannot install extension test.a: a required extension is not loaded (test.a → test.b → test.gone); " +
      "add test.gone with vis extensions add FOLDER, or enable it in the settings",
  };
  assert.throws(() => registry.installOrder(), expected);
  await assert.rejects(registry.activate(VIEW), expected);
});

Deno.test("installOrder() names the circle", () => {
  const { registry } = registryOf(
    named("x", { requires: ["test.a"] }),
    named("a", { requires: ["test.b"] }),
    named("b", { requires: ["test.a"] }),
  );
  assert.throws(() => registry.installOrder(), {
    message:
      "Cannot install extension test.x: its requirements form the circle test.a → test.b → test.a; remove one of the requirements",
  });
});

Deno.test("register() replaces by namespace, also after an order was computed", async () => {
  const { registry } = registryOf(named("a"));
  await registry.activate(VIEW);
  registry.register(named("a", { version: "2.0.0" }));
  assert.deepEqual((await registry.activate(VIEW)).list, [{ namespace: "test.a", version: "2.0.0" }]);
});

Deno.test("register() refuses an alias that another extension has", () => {
  const { registry } = registryOf(named("a"));
  const other = named("b", { alias: { ns: "vis.ext.a", alias: "a" } });
  assert.throws(() => registry.register(other), { message: /its alias a belongs to extension test\.a/ });
});

Deno.test("activate() collects functions, constants, grants and versions of active extensions", async () => {
  const active = await activate(
    named("a", {
      symbols: [twice(() => 1), value("max", 50, { doc: "Most." })],
      globals: ["fetch", "Deno.stat"],
      allow: { net: ["[::1]:1"], read: ["r"] },
    }),
    named("b", { symbols: [twice(() => 2)], globals: ["fetch"], allow: { net: ["[::1]:1", "[::1]:2"] } }),
    named("off", {
      symbols: [twice(() => 3)],
      globals: ["Deno.writeFile"],
      allow: { write: ["/"] },
      activate: () => false,
    }),
  );
  assert.deepEqual(active.functions, ["a.twice", "b.twice"]);
  assert.deepEqual(active.constants, { "a.max": 50 });
  assert.deepEqual(active.grants, { net: ["[::1]:1", "[::1]:2"], read: ["r"], write: [], env: [] });
  assert.deepEqual(active.globals, ["fetch", "Deno.stat"]);
  assert.deepEqual(active.list.map(({ namespace }) => namespace), ["test.a", "test.b"]);
  assert.equal(await active.call("b.twice", [1], options), 2);
});

Deno.test("activate() false unbinds the symbols: calls and doc know nothing of them", async () => {
  const active = await activate(named("off", { symbols: [twice(() => 1)], activate: () => false }));
  await assert.rejects(active.call("off.twice", [1], options), {
    name: "HostCallError",
    message: "Cannot call off.twice: no active function has this name",
  });
  assert.equal(active.doc("off.twice"), null);
  assert.deepEqual(active.blocks, []);
});

const failed = (phase: string) => [
  {
    level: "error",
    event: "extension.failed",
    data: { ext: "test.bad", phase, error: "Boom", conversationId: "con-1" },
  },
];

Deno.test("activate() skips an extension whose activate throws, logs it, and keeps the rest", async () => {
  const bad = named("bad", { symbols: [twice(() => 1)], activate: throwing });
  const { registry, entries } = registryOf(bad, named("good"));
  const active = await registry.activate(VIEW);
  assert.deepEqual(active.list.map(({ namespace }) => namespace), ["test.good"]);
  assert.deepEqual(active.functions, []);
  assert.deepEqual(entries, failed("activate"));
});

Deno.test("activate() keeps the symbols of an extension whose prompt throws, without the prompt, and logs it", async () => {
  const { registry, entries } = registryOf(named("bad", { symbols: [twice(() => 1)], prompt: throwing }));
  const active = await registry.activate(VIEW);
  assert.deepEqual(active.functions, ["bad.twice"]);
  assert.match(active.blocks.join(), /bad\.twice\(/);
  assert.deepEqual(entries, failed("prompt"));
});

Deno.test("activate() follows truthiness, also of a promise", async () => {
  const values: unknown[] = [
    true,
    1,
    "yes",
    [],
    Promise.resolve({}),
    false,
    0,
    "",
    null,
    undefined,
    Promise.resolve(0),
  ];
  const found = values.map((value) => activate(named("a", { activate: () => value })));
  assert.deepEqual((await Promise.all(found)).map(({ list }) => list.length), [1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0]);
});

Deno.test("activate() asks again at each query with its view", async () => {
  const asked: string[] = [];
  const extension = named("a", { activate: (env) => asked.push(env.conversationId) > 1 });
  const { registry } = registryOf(extension);
  assert.equal((await registry.activate(VIEW)).list.length, 0);
  assert.equal((await registry.activate({ ...VIEW, conversationId: "con-2" })).list.length, 1);
  assert.deepEqual(asked, ["con-1", "con-2"]);
});

Deno.test("blocks: header, prompt, one line per symbol with its doc", async () => {
  const [block] = (await activate(named("a", {
    prompt: (env) => `Works in ${env.workspace}.`,
    symbols: [twice(() => 1), value("max", 50, { doc: "Most." })],
  }))).blocks;
  assert.equal(
    block,
    [
      "## a",
      "Works in /work.",
      "a.twice(n): number  // Doubles.",
      "a.max = 50  // Most.",
    ].join("\n"),
  );
});

Deno.test("blocks: members of a group are together, in install order", async () => {
  const { blocks } = await activate(
    named("a", { group: "one" }),
    named("b", { group: "two" }),
    named("c", { group: "one" }),
  );
  assert.deepEqual(blocks.map((block) => block.slice(3, 4)), ["a", "c", "b"]);
});

Deno.test("blocks: an extension with many symbols shows the first twelve and names the rest", async () => {
  const symbols = Array.from({ length: 20 }, (_, at) => ({ ...twice(() => at), name: `f${at}` }));
  const active = await activate(named("a", { symbols }));
  const lines = active.blocks[0]?.split("\n") ?? [];
  assert.equal(lines.length, 14);
  assert.equal(lines.at(-1), "More (doc): f12, f13, f14, f15, f16, f17, f18, f19");
  assert.match(active.doc("a.f19") ?? "", /a\.f19\(n: number\)/);
});

Deno.test("blocks: an example is shown where there is room for it", async () => {
  const small = await activate(named("a", { symbols: [twice(() => 1, { examples: ["await a.twice(2)"] })] }));
  assert.match(small.blocks[0] ?? "", /e\.g\. await a\.twice\(2\)/);
  const prompt = "x".repeat(2_000);
  const large = await activate(named("a", { prompt, symbols: [twice(() => 1, { examples: ["await a.twice(2)"] })] }));
  assert.doesNotMatch(large.blocks[0] ?? "", /e\.g\./);
});

Deno.test("doc() gives signature, doc and all examples; one is made where none is given", async () => {
  const active = await activate(
    named("a", { symbols: [twice(() => 1, { examples: ["await a.twice(2)", "await a.twice(3)"] })] }),
    named("b", { symbols: [twice(() => 1)] }),
  );
  const text = active.doc("a.twice") ?? "";
  assert.equal(text, "a.twice(n: number): Promise<number>\nDoubles.\ne.g. await a.twice(2)\ne.g. await a.twice(3)");
  assert.match(active.doc("b.twice") ?? "", /e\.g\. await b\.twice\(n\)/);
  assert.match(active.doc("b") ?? "", /^A sample\.\n## b/);
  assert.equal(active.doc("twice"), null);
});

Deno.test("call() hands on a live view with the call's signal", async () => {
  const live = { ...VIEW, maxIterations: 4 };
  let seen: EnvironmentView | undefined;
  const run = (env: EnvironmentView): void => {
    seen = env;
  };
  const active = await activate(named("a", { symbols: [twice(run)] }));
  const { signal } = new AbortController();
  await active.call("a.twice", [1], { env: live, signal });
  live.maxIterations = 9;
  assert.equal(seen?.maxIterations, 9);
  assert.equal(seen?.signal, signal);
  const { register, log, warn, watchFiles, fileRead, ...rest } = { ...seen };
  for (const one of [register, log, warn, watchFiles, fileRead]) assert.equal(typeof one, "function");
  assert.deepEqual(rest, { ...live, signal });
  assert.throws(() => Object.assign(seen ?? {}, { depth: 7 }), TypeError);
});

Deno.test("call() of an unknown function names the functions of the alias", async () => {
  const active = await activate(named("a", { symbols: [twice(() => 1)] }));
  const error: unknown = await active.call("a.thrice", [], options).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof HostCallError);
  assert.equal(error.facts.hint, "a has a.twice");
  for (const name of ["toString", "a.toString", "__proto__", ""]) await assert.rejects(active.call(name, [], options));
});

const NUDGE: NudgeContext = {
  environment: VIEW,
  iteration: 0,
  currentMaxIterations: 4,
  prevExpressions: null,
  prevIteration: -1,
  userVarCount: 0,
};

Deno.test("nudge() passes a line on, drops other values, and asks activate again", async () => {
  let on = true;
  const said: unknown[] = ["Hurry", "  ", 7, null, "two\nlines"];
  const nudge: Extension["nudge"] = () => said.shift() as string;
  const active = await activate(named("a", { nudge, activate: () => on }), named("quiet"));
  assert.equal(active.nudges.length, 1);
  const got: (string | null | undefined)[] = [];
  for (let at = 0; at < 5; at++) got.push(await active.nudges[0]?.nudge(NUDGE));
  assert.deepEqual(got, ["Hurry", null, null, null, "two lines"]);
  on = false;
  said.push("Again");
  assert.equal(await active.nudges[0]?.nudge(NUDGE), null);
});

Deno.test("nudge() cuts a long line and swallows a throw, both with a warning", async () => {
  const { registry, entries } = registryOf(
    named("long", { nudge: () => "x".repeat(300) }),
    named("bad", { nudge: throwing }),
  );
  const { nudges } = await registry.activate(VIEW);
  assert.equal((await nudges[0]?.nudge(NUDGE))?.length, 200);
  assert.equal(await nudges[1]?.nudge(NUDGE), null);
  assert.deepEqual(entries.map(({ level, data }) => [level, data["ext"]]), [["warn", "test.long"], [
    "warn",
    "test.bad",
  ]]);
});

Deno.test("doc() of an alias lists the functions that its block omits", async () => {
  const hidden = named("hidden", { symbols: [twice(() => 1)], shown: 0 });
  const { registry } = registryOf(hidden, named("plain", { symbols: [twice(() => 1)], prompt: "Numbers." }));
  const active = await registry.activate(VIEW);
  assert.ok(active.blocks.every((block) => !block.includes("hidden")));
  assert.match(active.doc("hidden") ?? "", /^[^\n]+\nhidden\.twice\(n\): number {2}\/\/ [^\n]+$/);
  assert.equal(active.doc("plain")?.match(/plain\.twice/g)?.length, 1);
});

Deno.test("a part of an extension that never settles fails with its name, and the others continue", async () => {
  const never = (): Promise<never> => new Promise(() => {});
  const registry = new ExtensionRegistry({ log: recordingLog().log, clock: new FakeClock() });
  registry.register(named("activate", { activate: never }));
  registry.register(named("prompt", { prompt: never, symbols: [twice(() => 1)] }));
  registry.register(named("extend", { extend: never }));
  let asked = 0;
  registry.register(named("nudge", { nudge: () => (asked++, never() as unknown as null) }));
  const active = await registry.activate(VIEW);
  assert.deepEqual(active.list.map(({ namespace }) => namespace), ["test.prompt", "test.extend", "test.nudge"]);
  assert.deepEqual(active.functions, ["prompt.twice"]);
  assert.equal(await active.nudges[0]?.nudge(NUDGE), null);
  assert.equal(await active.nudges[0]?.nudge(NUDGE), null);
  assert.equal(asked, 1);
  assert.deepEqual(
    active.faults?.().map(({ namespace, phase, error }) => [namespace, phase, (error as Error).message]),
    [["extend", 630], ["activate", 30], ["prompt", 30], ["nudge", 30]].map(([phase, seconds]) => [
      `test.${phase}`,
      phase,
      `Cannot get a result of the extension: its promise did not settle within ${seconds} s, the limit; correct the extension, or add its name to extensions.deny`,
    ]),
  );
});

const signal = new AbortController().signal;
const seen = fn("seen", ({ config, home }: EnvironmentView) => ({ config, home }), {
  doc: "What it sees.",
  args: z.tuple([]),
  returns: "unknown",
});

function registryWith(options: object = {}): ExtensionRegistry {
  return new ExtensionRegistry({ log: recordingLog().log, ...options });
}

Deno.test("config: a section is checked, defaults are filled in, and only its extension sees it", async () => {
  const config = z.strictObject({ limit: z.number().default(5) });
  const registry = registryWith({ config: { "test.a": { limit: 7 } }, home: "/home/vis" });
  const prompts: unknown[] = [];
  const prompt = ({ config, home }: EnvironmentView): string => `${prompts.push([config, home])}`;
  registry.register(sample({ namespace: "test.a", config, symbols: [seen], prompt }));
  registry.register(sample({ namespace: "test.b", config, symbols: [seen] }));
  registry.register(sample({ namespace: "test.c", symbols: [seen] }));
  const active = await registry.activate(VIEW);
  const call = (name: string) => active.call(name, [], { env: VIEW, signal });
  assert.deepEqual(await call("a.seen"), { config: { limit: 7 }, home: "/home/vis" });
  assert.deepEqual(await call("b.seen"), { config: { limit: 5 }, home: "/home/vis" });
  assert.deepEqual(await call("c.seen"), { config: undefined, home: "/home/vis" });
  assert.deepEqual(prompts, [[{ limit: 7 }, "/home/vis"]]);
});

Deno.test("config: a wrong section, and one that no extension reads, are faults that name the key", () => {
  const config = z.strictObject({ limit: z.number() });
  const registry = registryWith({ config: { "test.a": { limit: "x" }, "test.c": {} } });
  assert.throws(() => registry.register(sample({ namespace: "test.a", config })), {
    name: "SettingError",
    code: "value",
    message: /extensions\.config\.test\.a\.limit must be a number/,
  });
  assert.throws(
    () => registry.register(sample({ namespace: "test.c" })),
    /extensions\.config\.test\.c is set, but the extension has no settings; remove it/,
  );
});

Deno.test("registerFor() is for one environment: it replaces there, and its requirements are asked there", async () => {
  const registry = registryWith();
  registry.register(sample({ namespace: "test.a", version: "1.0.0" }));
  registry.registerFor("env-1", sample({ namespace: "test.a", version: "2.0.0" }));
  registry.registerFor("env-1", sample({ namespace: "test.b", requires: ["test.a"] }));
  const list = async (envId: string) =>
    (await registry.activate({ ...VIEW, envId })).list.map(({ namespace, version }) => `${namespace} ${version}`);
  assert.deepEqual(await list("env-1"), ["test.a 2.0.0", "test.b 1.0.0"]);
  assert.deepEqual(await list("env-2"), ["test.a 1.0.0"]);
  assert.throws(
    () => registry.registerFor("env-2", sample({ namespace: "test.c", requires: ["test.gone"] })),
    /is not loaded/,
  );
  assert.deepEqual(await list("env-2"), ["test.a 1.0.0"]);
  const clash = sample({ namespace: "test.x", alias: { ns: "vis.a", alias: "a" } });
  assert.throws(() => registry.registerFor("env-2", clash), /alias a belongs to extension test\.a/);
  registry.release("env-1");
  assert.deepEqual(await list("env-1"), ["test.a 1.0.0"]);
});

Deno.test("register() of a namespace again: a running query keeps the old one, and the next one has the new", async () => {
  const registry = registryWith();
  const says = (text: string) => fn("say", () => text, { doc: "Says.", args: z.tuple([]), returns: "string" });
  registry.register(sample({ namespace: "test.a", symbols: [says("old")] }));
  const running = await registry.activate(VIEW);
  registry.register(sample({ namespace: "test.a", symbols: [says("new")] }));
  assert.equal(await running.call("a.say", [], { env: VIEW, signal }), "old");
  assert.equal(await (await registry.activate(VIEW)).call("a.say", [], { env: VIEW, signal }), "new");
});

Deno.test("an extension with an empty prompt has functions and no block", async () => {
  const registry = registryWith();
  registry.register(sample({ namespace: "test.a", shown: 0, symbols: [seen] }));
  const active = await registry.activate(VIEW);
  assert.deepEqual([active.blocks, active.functions], [[], ["a.seen"]]);
  assert.match(active.doc("a.seen") ?? "", /What it sees/);
});

Deno.test("extend() adds extensions for one conversation, again at each query, and skips one that cannot be added", async () => {
  const { log, entries } = recordingLog();
  const registry = new ExtensionRegistry({ log, config: { "test.a": { names: ["b", "c"] } } });
  let version = 0;
  registry.register(sample({
    namespace: "test.a",
    config: z.strictObject({ names: z.array(z.string()) }),
    extend: ({ config, envId }: EnvironmentView) => {
      if (envId === "env-2") throw new Error("not here");
      const { names } = config as { readonly names: readonly string[] };
      version++;
      const taken = sample({ namespace: "test.x", alias: { ns: "vis.x", alias: "a" } });
      return [taken, ...names.map((name) => sample({ namespace: `test.${name}`, version: `${version}.0.0` }))];
    },
  }));
  const list = async (envId: string) =>
    (await registry.activate({ ...VIEW, envId })).list.map((one) => `${one.namespace} ${one.version}`);
  assert.deepEqual(await list("env-1"), ["test.a 1.0.0", "test.b 1.0.0", "test.c 1.0.0"]);
  assert.deepEqual(await list("env-1"), ["test.a 1.0.0", "test.b 2.0.0", "test.c 2.0.0"]);
  assert.deepEqual(await list("env-2"), ["test.a 1.0.0"]);
  const failures = entries.filter(({ event }) => event === "extension.failed").map((
    { data },
  ) => [data["ext"], data["phase"]]);
  assert.deepEqual(failures, [["test.a", "register"], ["test.a", "register"], ["test.a", "extend"]]);
});

Deno.test("env.log() of a call writes a bounded line", async () => {
  const { log, entries } = recordingLog();
  const registry = new ExtensionRegistry({ log });
  const say = fn("say", ({ log }: EnvironmentView) => log?.("x".repeat(5000)), {
    doc: "Says.",
    args: z.tuple([]),
    returns: "nothing",
  });
  registry.register(sample({ namespace: "test.a", symbols: [say] }));
  await (await registry.activate(VIEW)).call("a.say", [], { env: VIEW, signal });
  const notes = entries.filter(({ event }) => event === "extension.note");
  assert.deepEqual(notes.map(({ level, data }) => [level, data["ext"], String(data["text"]).length]), [[
    "info",
    "test.a",
    2000,
  ]]);
});
