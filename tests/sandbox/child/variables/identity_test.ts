import assert from "node:assert/strict";
import { IdentityWalk } from "../../../../src/sandbox/child/variables/saving.ts";

const LIMITS = { objects: 50_000, properties: 50_000 };

Deno.test("IdentityWalk.add() finds shared objects however they are held", () => {
  const shared = { n: 1 }, buffer = new ArrayBuffer(8);
  const holders: readonly (readonly [unknown, unknown])[] = [
    [shared, { a: { b: [shared] } }],
    [new Map([[shared, 1]]), [shared]],
    [new Map([[1, shared]]), new Set([shared])],
    [new Uint8Array(buffer), new Float64Array(buffer)],
    [new DataView(buffer), new Uint8Array(buffer)],
    [buffer, new DataView(buffer, 4)],
    [Object.assign(() => 1, { shared }), shared],
    [new Error("x", { cause: shared }), { shared }],
    [{ [Symbol("s")]: shared }, shared],
  ];
  for (const [a, b] of holders) {
    const walk = new IdentityWalk(LIMITS);
    assert.deepEqual([...Array.from(walk.add("a", a))], []);
    assert.deepEqual(Array.from(walk.add("b", b)), ["a"]);
  }
});

Deno.test("IdentityWalk.add() distinguishes values that only look alike, or share text or prototypes", () => {
  const walk = new IdentityWalk(LIMITS);
  class Point {}
  walk.add("a", [{ n: 1 }, "text", new Point()]);
  assert.deepEqual(Array.from(walk.add("b", [{ n: 1 }, "text", new Point()])), []);
  assert.deepEqual(Array.from(walk.add("c", 5)), []);
});

Deno.test("IdentityWalk.exceeded after too many objects or properties", () => {
  const many = Array.from({ length: 200 }, () => ({}));
  const walk = new IdentityWalk({ objects: 100, properties: 1e9 });
  walk.add("a", many);
  assert.ok(walk.exceeded);
  const slow = new IdentityWalk({ objects: 1e9, properties: 9_999 });
  slow.add("a", Array.from({ length: 10_000 }, (_, i) => i));
  assert.ok(slow.exceeded);
  const sparse: unknown[] = [];
  sparse.length = 4e9;
  const endless = new IdentityWalk({ objects: 100, properties: 20 });
  endless.add("a", sparse);
  assert.ok(endless.exceeded);
});

Deno.test("IdentityWalk.add() runs nothing", () => {
  const never = (): never => {
    throw new Error("ran");
  };
  const value = {
    get a() {
      return never();
    },
    p: new Proxy({}, { ownKeys: never, get: never }),
    m: new Map(),
  };
  Object.assign(value.m, { [Symbol.iterator]: never, entries: never });
  new IdentityWalk(LIMITS).add("a", value);
});
