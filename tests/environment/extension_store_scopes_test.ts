import assert from "node:assert/strict";
import { ExtensionStore } from "../../src/environment/extension_store.ts";
import { openStore } from "../../src/persistence/open_store.ts";
import { SqliteMaintenance } from "../../src/persistence/sqlite/maintenance.ts";
import { withDatabase } from "../helpers/with_database.ts";
import { OwnStores } from "./_own_stores.ts";

Deno.test("env.store: state of a workspace is seen there only, and where it is named", async () => {
  await using stores = await OwnStores.open();
  const [a, b] = [stores.of("test.a", "/a"), stores.of("test.a", "/b")];
  await a.put("k", 1, { scope: "workspace" });
  await a.put("k", 2, { scope: "global" });
  const there = { scope: "workspace", workspace: "/a" } as const;
  assert.deepEqual(
    [await a.get("k", { scope: "workspace" }), await b.get("k", { scope: "workspace" }), await b.get("k", there)],
    [1, undefined, 1],
  );
  const valuesOf = async (found: ReturnType<ExtensionStore["query"]>) => (await found).map(({ value }) => value);
  assert.deepEqual(await valuesOf(a.query()), [2]);
  assert.deepEqual(await valuesOf(a.query({ scope: "workspace" })), [1]);
  assert.deepEqual(await valuesOf(b.query({ scope: "workspace" })), []);
  assert.deepEqual(await valuesOf(b.query(there)), [1]);
  assert.equal(await b.delete("k", { scope: "workspace" }), false);
  assert.equal(await a.delete("k", { scope: "workspace" }), true);
  assert.equal(await stores.of("test.b", "/a").get("k", { scope: "global" }), undefined);
});

Deno.test("env.store: a command has no state of a conversation", async () => {
  await using stores = await OwnStores.open();
  const own = stores.of("test.a", "/a");
  await assert.rejects(own.put("k", 1), /this call belongs to none; use scope "workspace" or "global"/);
  await assert.rejects(own.get("k"), TypeError);
});

Deno.test("env.store: bytes of any size are read back unchanged, and are removed once they are dropped", () =>
  withDatabase(async (path) => {
    await using stores = await OwnStores.open(path);
    const own = stores.of("test.a", "/a");
    const mib = 1 << 20;
    for (const size of [0, 1, mib - 1, mib, mib + 1, 5 * mib]) {
      const bytes = new Uint8Array(size).map((_, at) => at % 251);
      const [one, other] = [await own.putBytes(bytes), await own.putBytes(inParts(bytes))];
      assert.notEqual(one, other);
      await own.dropBytes(one);
      await own.dropBytes(one);
      await assert.rejects(read(own, one), /the store has no such bytes$/);
      assert.ok(equal(await read(own, other), bytes), String(size));
      await own.dropBytes(other);
    }
    await assert.rejects(own.dropBytes("x"), /it does not have the form sha256:HASH/);
    const { problems, contents } = await new SqliteMaintenance({ path }).check();
    assert.deepEqual([problems, contents], [[], 0]);
  }));

Deno.test("env.store: vis db prune keeps bytes that a value refers to, however long the value is", () =>
  withDatabase(async (path) => {
    const store = await openStore({ path });
    const own = new ExtensionStore(store, { namespace: "test.a", workspace: "/a" });
    const [short, long, lost] = [
      await own.putBytes(text("1")),
      await own.putBytes(text("2")),
      await own.putBytes(text("3")),
    ];
    await own.put("short", { in: short }, { scope: "workspace" });
    const filling = Array.from({ length: 20_000 }, (_, at) => at);
    await own.put("long", { filling, in: long }, { scope: "workspace" });
    await store.close();
    const care = new SqliteMaintenance({ path });
    await care.prune({ before: 0, dryRun: false });
    await using again = await OwnStores.open(path);
    const now = again.of("test.a", "/a");
    assert.deepEqual([await read(now, short), await read(now, long)], [text("1"), text("2")]);
    await assert.rejects(read(now, lost), /the store has no such bytes$/);
  }));

async function* inParts(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 300_001) yield await Promise.resolve(bytes.subarray(at, at + 300_001));
}

async function read(own: Pick<ExtensionStore, "bytes">, reference: string): Promise<Uint8Array> {
  return new Uint8Array(await new Response(ReadableStream.from(own.bytes(reference))).arrayBuffer());
}

function text(of: string): Uint8Array {
  return new TextEncoder().encode(of);
}

function equal(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}
