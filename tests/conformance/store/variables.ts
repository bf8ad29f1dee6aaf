import assert from "node:assert/strict";
import type { VariableImage } from "../../../src/domain/query/variable.ts";
import type { Store } from "../../../src/persistence/store.ts";
import { begun, block, image, iterate, utf8 } from "./fixtures.ts";
import type { StoreCase } from "./suite.ts";

function define(store: Store, at: { queryId: string; position: number }, ...saved: VariableImage[]): Promise<string> {
  const code = `const ${saved.map(({ name }) => name).join(", ")}`;
  return iterate(store, { ...at, blocks: [block(code, { saved })] });
}

export const storeVariableCases: readonly StoreCase[] = [
  {
    name: "variables() has the newest version of each name, newest first, with its block and its count",
    async run(store, clock) {
      const { branchId, queryId } = await begun(store);
      const summary = { ...image("a").summary, doc: "what a is" };
      await define(store, { queryId, position: 0 }, image("a"), image("b"));
      clock.now += 10;
      await define(store, { queryId, position: 1 }, image("a", { summary }));
      const [a, b] = await store.variables(branchId);
      assert.deepEqual(a, {
        name: "a",
        kind: "data",
        versions: 2,
        scope: "live",
        summary,
        reason: "",
        code: "const a",
        createdAt: clock.now,
      });
      assert.deepEqual([b?.name, b?.versions, b?.code], ["b", 1, "const a, b"]);
    },
  },
  {
    name: "variableVersions() gives every version, oldest first, from 1",
    async run(store, clock) {
      const { branchId, queryId } = await begun(store);
      const images = [
        image("v", { bytes: utf8("one") }),
        image("v", { kind: "function", bytes: utf8(""), source: "function v() {}", requires: ["w"] }),
        image("v", { kind: "lost", bytes: utf8(""), source: "const v = open()", reason: "a host object" }),
        image("v", { bytes: crypto.getRandomValues(new Uint8Array(60_000)), root: "v" }),
      ];
      for (const [position, one] of images.entries()) await define(store, { queryId, position }, one);
      const versions = await store.variableVersions(branchId, "v");
      assert.deepEqual(versions.map(({ version }) => version), [1, 2, 3, 4]);
      assert.deepEqual(versions.map((version) => version.image), images);
      assert.deepEqual([versions[0]?.code, versions[0]?.createdAt], ["const v", clock.now]);
      assert.deepEqual(await store.variableVersions(branchId, "v", { newest: 1 }), versions.slice(-1));
      assert.deepEqual(await store.variableVersions(branchId, "unknown"), []);
    },
  },
  {
    name: "system variables have versions of their own and are never restored or forgotten",
    async run(store) {
      const { branchId, queryId } = await begun(store);
      const texts = ["first", "x".repeat(70_000), "sha256:\0\u{1f600}"];
      for (const [position, text] of texts.entries()) {
        await iterate(store, { queryId, position, blocks: [], system: [{ name: "$reasoning", text }] });
      }
      await store.setScope(branchId, { names: ["$reasoning"], scope: "forgotten" });
      const [head] = await store.variables(branchId);
      assert.deepEqual([head?.name, head?.versions, head?.scope, head?.kind], ["$reasoning", 3, "system", "data"]);
      assert.deepEqual(await store.liveImages(branchId), []);
      const versions = await store.variableVersions(branchId, "$reasoning");
      assert.deepEqual(versions.map((version) => version.image.source), texts);
    },
  },
  {
    name: "setScope() forgets, lasts, and a new definition makes the name live again",
    async run(store) {
      const { branchId, queryId } = await begun(store);
      await define(store, { queryId, position: 0 }, image("a"), image("b"));
      await store.setScope(branchId, { names: ["a", "unknown"], scope: "forgotten" });
      const scopes = async (): Promise<unknown> =>
        (await store.variables(branchId)).map(({ name, scope, versions }) => [name, scope, versions]).sort();
      assert.deepEqual(await scopes(), [["a", "forgotten", 1], ["b", "live", 1]]);
      assert.deepEqual((await store.liveImages(branchId)).map(({ name }) => name), ["b"]);
      assert.equal((await store.variableVersions(branchId, "a")).length, 1);
      await define(store, { queryId, position: 1 }, image("a"));
      assert.deepEqual(await scopes(), [["a", "live", 2], ["b", "live", 1]]);
      await store.setScope(branchId, { names: ["b"], scope: "forgotten" });
      await store.setScope(branchId, { names: ["b"], scope: "live" });
      assert.deepEqual(await scopes(), [["a", "live", 2], ["b", "live", 1]]);
    },
  },
  {
    name: "a block of many names makes a version of each, whatever their number",
    async run(store) {
      const { branchId, queryId } = await begun(store);
      for (const [position, count] of [1, 20, 21, 300].entries()) {
        const names = Array.from({ length: count }, (_, at) => image(`v${at}`));
        await define(store, { queryId, position }, ...names);
      }
      const heads = new Map((await store.variables(branchId)).map(({ name, versions }) => [name, versions]));
      assert.equal(heads.size, 300);
      assert.deepEqual(["v0", "v19", "v20", "v21"].map((name) => heads.get(name)), [4, 3, 2, 1]);
    },
  },
  {
    name: "liveImages() returns required variables first, whatever the order of definition",
    async run(store) {
      const { branchId, queryId } = await begun(store);
      const derived = image("Derived", { kind: "class", source: "class Derived extends Base {}", requires: ["Base"] });
      const instance = image("it", { kind: "instance", source: "Derived", requires: ["Derived"] });
      await define(
        store,
        { queryId, position: 0 },
        instance,
        derived,
        image("Base", { kind: "class", source: "class Base {}" }),
      );
      assert.deepEqual((await store.liveImages(branchId)).map(({ name }) => name), ["Base", "Derived", "it"]);
      // `base` is newer now, and is still the first.
      await define(store, { queryId, position: 1 }, image("Base", { kind: "class", source: "class Base { x = 1 }" }));
      const names = (await store.liveImages(branchId)).map(({ name }) => name);
      assert.deepEqual(names, ["Base", "Derived", "it"]);
    },
  },
  {
    name: "liveImages() orders by the reads of blocks, and loses no member of a cycle",
    async run(store) {
      const { branchId, queryId } = await begun(store);
      const reading = (name: string, ...reads: string[]) => block(`${name} = f()`, { reads, saved: [image(name)] });
      const blocks = [
        reading("z"),
        reading("a", "z", "unknown"),
        reading("z", "a"),
        reading("b", "a"),
        reading("y", "y"),
      ];
      await iterate(store, { queryId, position: 0, blocks });
      const names = (await store.liveImages(branchId)).map(({ name }) => name);
      assert.deepEqual([...names].sort(), ["a", "b", "y", "z"]);
      assert.ok(names.indexOf("a") < names.indexOf("b"), names.join());
      assert.deepEqual((await store.liveImages(branchId)).map(({ name }) => name), names);
    },
  },
  {
    name: "liveImages() gives one table to the variables that share it",
    async run(store) {
      const { branchId, queryId } = await begun(store);
      const table = crypto.getRandomValues(new Uint8Array(5000));
      await define(
        store,
        { queryId, position: 0 },
        image("p", { bytes: table, root: "p" }),
        image("q", { bytes: table, root: "q" }),
      );
      const [p, q] = await store.liveImages(branchId);
      assert.deepEqual(p?.bytes, table);
      assert.equal(p?.bytes, q?.bytes);
    },
  },
  {
    name: "a value of several MiB survives, and so does the same one with an insertion",
    async run(store) {
      const { branchId, queryId } = await begun(store);
      const first = utf8(Array.from({ length: 300_000 }, (_, at) => `line ${at}\n`).join(""));
      const second = new Uint8Array(first.length + 3);
      second.set(first.subarray(0, 1000));
      second.set([1, 2, 3], 1000);
      second.set(first.subarray(1000), 1003);
      await define(store, { queryId, position: 0 }, image("big", { bytes: first }));
      await define(store, { queryId, position: 1 }, image("big", { bytes: second }));
      const versions = await store.variableVersions(branchId, "big");
      assert.ok(versions.every(({ image: { bytes } }, at) => Buffer.compare(bytes, at === 0 ? first : second) === 0));
      assert.equal(versions.length, 2);
    },
  },
  {
    name: "branches do not share variables",
    async run(store) {
      const [one, two] = [await begun(store), await begun(store)];
      await define(store, { queryId: one.queryId, position: 0 }, image("a"));
      await define(store, { queryId: two.queryId, position: 0 }, image("a", { bytes: utf8("other") }));
      await store.setScope(one.branchId, { names: ["a"], scope: "forgotten" });
      assert.equal((await store.liveImages(one.branchId)).length, 0);
      assert.deepEqual((await store.liveImages(two.branchId))[0]?.bytes, utf8("other"));
    },
  },
];
