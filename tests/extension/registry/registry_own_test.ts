import assert from "node:assert/strict";
import { ExtensionRegistry } from "../../../src/extension/registry/registry.ts";
import { type EnvironmentView, fn, z } from "../../../src/extension/spec.ts";
import { recordingLog, sample, VIEW } from "../_sample.ts";

const signal = new AbortController().signal;
const seen = fn("seen", ({ config, home }: EnvironmentView) => ({ config, home }), {
  doc: "What it sees.",
  args: z.tuple([]),
  returns: "unknown",
});

function registryOf(options: object = {}): ExtensionRegistry {
  return new ExtensionRegistry({ log: recordingLog().log, ...options });
}

Deno.test("config: a section is checked, defaults are filled in, and only its extension sees it", async () => {
  const config = z.strictObject({ limit: z.number().default(5) });
  const registry = registryOf({ config: { "test.a": { limit: 7 } }, home: "/home/vis" });
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

Deno.test("config: a wrong section, and one that nobody reads, are faults that name the key", () => {
  const config = z.strictObject({ limit: z.number() });
  const registry = registryOf({ config: { "test.a": { limit: "x" }, "test.c": {} } });
  assert.throws(() => registry.register(sample({ namespace: "test.a", config })), {
    name: "SettingError",
    code: "value",
    message: /extension test\.a: extensions\.config\.test\.a\.limit: /,
  });
  assert.throws(
    () => registry.register(sample({ namespace: "test.c" })),
    /extensions\.config\.test\.c: the extension has no settings/,
  );
});

Deno.test("registerFor() is for one environment: it replaces there, and its requirements are asked there", async () => {
  const registry = registryOf();
  registry.register(sample({ namespace: "test.a", version: "1.0.0" }));
  registry.registerFor("env-1", sample({ namespace: "test.a", version: "2.0.0" }));
  registry.registerFor("env-1", sample({ namespace: "test.b", requires: ["test.a"] }));
  const list = async (envId: string) =>
    (await registry.activate({ ...VIEW, envId })).list.map(({ namespace, version }) => `${namespace} ${version}`);
  assert.deepEqual(await list("env-1"), ["test.a 2.0.0", "test.b 1.0.0"]);
  assert.deepEqual(await list("env-2"), ["test.a 1.0.0"]);
  assert.throws(
    () => registry.registerFor("env-2", sample({ namespace: "test.c", requires: ["test.gone"] })),
    /missing/,
  );
  assert.deepEqual(await list("env-2"), ["test.a 1.0.0"]);
  const clash = sample({ namespace: "test.x", alias: { ns: "vis.a", alias: "a" } });
  assert.throws(() => registry.registerFor("env-2", clash), /alias a belongs to test\.a/);
  registry.release("env-1");
  assert.deepEqual(await list("env-1"), ["test.a 1.0.0"]);
});

Deno.test("register() of a namespace again: a running query keeps what it has, the next one has the new", async () => {
  const registry = registryOf();
  const says = (text: string) => fn("say", () => text, { doc: "Says.", args: z.tuple([]), returns: "string" });
  registry.register(sample({ namespace: "test.a", symbols: [says("old")] }));
  const running = await registry.activate(VIEW);
  registry.register(sample({ namespace: "test.a", symbols: [says("new")] }));
  assert.equal(await running.call("a.say", [], { env: VIEW, signal }), "old");
  assert.equal(await (await registry.activate(VIEW)).call("a.say", [], { env: VIEW, signal }), "new");
});

Deno.test("an extension that shows nothing and has nothing to say has functions and no block", async () => {
  const registry = registryOf();
  registry.register(sample({ namespace: "test.a", shown: 0, symbols: [seen] }));
  const active = await registry.activate(VIEW);
  assert.deepEqual([active.blocks, active.functions], [[], ["a.seen"]]);
  assert.match(active.doc("a.seen") ?? "", /What it sees/);
});

Deno.test("extend() adds extensions for one conversation, anew at each query; one that cannot be added is left out", async () => {
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
  assert.deepEqual(failures, [["test.x", "register"], ["test.x", "register"], ["test.a", "extend"]]);
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
