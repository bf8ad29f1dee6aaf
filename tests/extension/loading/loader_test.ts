import assert from "node:assert/strict";
import { loadShipped, type ShippedIndex } from "../../../src/extension/loading/loader.ts";
import type { Extension } from "../../../src/extension/spec.ts";
import { recordingLog, sample } from "../_sample.ts";

const of = (name: string, requires: readonly string[] = []) => () =>
  Promise.resolve({ default: sample({ namespace: `test.${name}`, requires }) });
const broken = () => Promise.reject(new Error("Module is gone"));

async function load(index: ShippedIndex, wanted?: readonly string[]) {
  const { log, entries } = recordingLog();
  const report = await loadShipped(index, wanted ? { wanted, log } : { log });
  return { loaded: report.loaded.map(({ namespace }) => namespace), skipped: report.skipped, entries };
}

Deno.test("loadShipped() loads all, or those wanted and no other", async () => {
  assert.deepEqual((await load({ a: of("a"), b: of("b") })).loaded, ["test.a", "test.b"]);
  let touched = false;
  const index = { a: of("a"), b: () => (touched = true, broken()) };
  assert.deepEqual((await load(index, ["a"])).loaded, ["test.a"]);
  assert.equal(touched, false);
});

Deno.test("loadShipped() skips one that fails, with those that need it, and says why", async () => {
  const { loaded, skipped, entries } = await load({
    a: broken,
    b: of("b", ["test.a"]),
    c: of("c", ["test.b"]),
    d: of("d"),
  });
  assert.deepEqual(loaded, ["test.d"]);
  assert.deepEqual(skipped.map(({ name }) => name), ["a", "b", "c"]);
  assert.equal(skipped[0]?.reason, "Cannot load a: Module is gone");
  assert.match(skipped[2]?.reason ?? "", /Cannot load c: .*test\.c → test\.b → test\.a/);
  assert.equal(entries.filter(({ level }) => level === "error").length, 3);
});

Deno.test("loadShipped() skips a circle and goes on", async () => {
  const { loaded, skipped } = await load({ a: of("a", ["test.b"]), b: of("b", ["test.a"]), c: of("c") });
  assert.deepEqual(loaded, ["test.c"]);
  assert.match(skipped[0]?.reason ?? "", /circular requires: test\.a → test\.b → test\.a/);
});

Deno.test("loadShipped() skips what is not valid or not an extension", async () => {
  const odd = { default: { namespace: "x" } as unknown as Extension };
  const empty = {} as { default: Extension };
  const { loaded, skipped } = await load({
    odd: () => Promise.resolve(odd),
    empty: () => Promise.resolve(empty),
    a: of("a"),
  });
  assert.deepEqual(loaded, ["test.a"]);
  assert.match(skipped[0]?.reason ?? "", /Cannot load odd: Cannot use extension x: alias is missing/);
  assert.match(skipped[1]?.reason ?? "", /Cannot load empty/);
});

Deno.test("loadShipped() reports a name that the index lacks", async () => {
  for (const name of ["nope", "toString"]) {
    const { loaded, skipped } = await load({ a: of("a") }, [name, "a"]);
    assert.deepEqual(loaded, ["test.a"]);
    assert.equal(skipped[0]?.reason, `Cannot load ${name}: no such shipped extension, there are a`);
  }
});
