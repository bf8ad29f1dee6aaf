import { described, shipped } from "../../extensions/index.ts";
import {
  describe,
  describeLive,
  extensionsModule,
  shippedNames,
  withModules,
} from "../../scripts/generate/extensions.ts";
import { LazyRegistry } from "../../src/extension/lazy_registry.ts";
import { type Extension, value } from "../../src/extension/mod.ts";
import { ExtensionRegistry } from "../../src/extension/registry.ts";
import { FakeClock } from "../helpers/fake_clock.ts";
import { recordingLog, sample, twice, VIEW } from "./_sample.ts";
import assert from "node:assert/strict";

const options = { env: VIEW, signal: new AbortController().signal };
const extensions = (): Extension[] => [
  sample({
    namespace: "test.a",
    symbols: [twice((_env, n) => Number(n) * 2), value("max", 50, { doc: "Most." })],
    allow: { net: ["127.0.0.1:1"] },
    globals: ["fetch"],
  }),
];

async function lazyOf(list: readonly Extension[]) {
  let loads = 0;
  const waiting: (() => void)[] = [];
  const registry = new LazyRegistry({
    described: await Promise.all(list.map((extension) => describe(extension))),
    load: () => {
      loads++;
      const real = new ExtensionRegistry({ log: recordingLog().log });
      for (const extension of list) real.register(extension);
      return Promise.resolve(real);
    },
    soon: (work) => waiting.push(work),
  });
  return { registry, waiting, loads: () => loads };
}

Deno.test("LazyRegistry says of its extensions what the registry says, and loads none for it", async () => {
  const { registry, loads } = await lazyOf(extensions());
  const real = new ExtensionRegistry({ log: recordingLog().log });
  for (const extension of extensions()) real.register(extension);
  const [lazy, full] = [await registry.activate(VIEW), await real.activate(VIEW)];
  const facts = ({ list, functions, constants, grants, globals, blocks }: typeof lazy) => ({
    list,
    functions,
    constants,
    grants,
    globals,
    blocks,
  });
  assert.deepEqual(facts(lazy), facts(full));
  for (const name of ["a", "a.twice", "a.max", "a.none"]) assert.equal(lazy.doc(name), full.doc(name), name);
  assert.equal(loads(), 0);
});

Deno.test("LazyRegistry loads once, soon after the start or with the first call", async () => {
  const { registry, waiting, loads } = await lazyOf(extensions());
  const active = await registry.activate(VIEW);
  const [first, second] = await Promise.all([
    active.call("a.twice", [2], options),
    active.call("a.twice", [3], options),
  ]);
  waiting.forEach((work) => work());
  assert.deepEqual([first, second, loads()], [4, 6, 1]);
  await assert.rejects(active.call("a.none", [], options), /a\.none/);
});

Deno.test("LazyRegistry tries again after a load that failed", async () => {
  let times = 0;
  const [described] = await Promise.all(extensions().map((extension) => describe(extension)));
  assert.ok(described);
  const registry = new LazyRegistry({
    described: [described],
    load: () => {
      if (times++ === 0) return Promise.reject(new Error("not now"));
      const real = new ExtensionRegistry({ log: recordingLog().log });
      for (const extension of extensions()) real.register(extension);
      return Promise.resolve(real);
    },
    soon: () => {},
  });
  await assert.rejects((await registry.activate(VIEW)).call("a.twice", [1], options), /not now/);
  assert.equal(await (await registry.activate(VIEW)).call("a.twice", [1], options), 2);
});

Deno.test("describe() refuses an extension that depends on the conversation", async () => {
  await assert.rejects(describe(sample({ activate: () => false })), /not static/);
  await assert.rejects(describe(sample({ nudge: () => null })), /not static/);
});

Deno.test("extensions/index.ts is what the generator makes, and static extensions are static", async () => {
  assert.equal(
    await Deno.readTextFile(new URL("../../extensions/index.ts", import.meta.url)),
    await extensionsModule(),
  );
  const elsewhere = { envId: "e", conversationId: "c", branchId: "b", depth: 2, workspace: "/elsewhere" };
  for (const { name, isStatic } of await shippedNames()) {
    if (!isStatic) continue;
    const { default: extension } = await shipped[name as keyof typeof shipped]();
    const loaded = withModules(extension, new URL(`../../extensions/${name}/`, import.meta.url));
    assert.deepEqual(await describe(loaded, elsewhere), described[name as keyof typeof described]);
  }
});

Deno.test("LazyRegistry with live parts says what the registry says, and leaves out what is not active or throws", async () => {
  for (const shown of [0, 2]) {
    for (const said of ["", "Now: $& and $1"]) {
      const parts = { activate: () => true, prompt: () => said };
      const extension = sample({ ...parts, namespace: "test.a", shown, symbols: [twice(() => 1)] });
      const registry = new LazyRegistry({
        described: [await describeLive(extension)],
        live: { "test.a": () => Promise.resolve({ default: parts }) },
        load: () => assert.fail(),
        soon: () => {},
      });
      const real = new ExtensionRegistry({ log: recordingLog().log });
      real.register(extension);
      const [lazy, full] = [await registry.activate(VIEW), await real.activate(VIEW)];
      assert.deepEqual([lazy.blocks, lazy.functions, lazy.doc("a"), lazy.doc("a.twice")], [
        full.blocks,
        full.functions,
        full.doc("a"),
        full.doc("a.twice"),
      ]);
    }
  }
  const { log, entries } = recordingLog();
  const gone = await describeLive(sample({ namespace: "test.gone", symbols: [twice(() => 1)] }));
  const registry = (activate: () => boolean) =>
    new LazyRegistry({
      described: [gone],
      live: { "test.gone": () => Promise.resolve({ default: { activate, prompt: () => "" } }) },
      load: () => assert.fail(),
      soon: () => {},
      log,
    });
  assert.deepEqual((await registry(() => false).activate(VIEW)).functions, []);
  const throwing = registry(() => {
    throw new Error("no");
  });
  assert.deepEqual((await throwing.activate(VIEW)).list, []);
  assert.deepEqual(entries.map(({ level, event, data }) => [level, event, data["ext"]]), [
    ["error", "extension.failed", "test.gone"],
  ]);
});

Deno.test("LazyRegistry is the registry once that is loaded: what an environment registered is there", async () => {
  const { registry } = await lazyOf(extensions());
  const first = await registry.activate(VIEW);
  await first.call("a.twice", [1], options);
  const later = await registry.activate(VIEW);
  assert.deepEqual(later.blocks, first.blocks);
});

Deno.test("LazyRegistry leaves out live parts that never settle", async () => {
  const [one] = await Promise.all(extensions().map((extension) => describe(extension)));
  assert.ok(one);
  const live = { activate: () => new Promise(() => {}), prompt: () => "" };
  const registry = new LazyRegistry({
    described: [one],
    live: { "test.a": () => Promise.resolve({ default: live }) },
    load: () => Promise.reject(new Error("not needed")),
    soon: () => {},
    clock: new FakeClock(),
  });
  assert.deepEqual((await registry.activate(VIEW)).list, []);
});
