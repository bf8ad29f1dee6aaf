import assert from "node:assert/strict";
import fc from "fast-check";
import { applyDelta, deltaOf } from "../../../src/persistence/long_values.ts";
import { encode } from "../../../src/sandbox/codec/codec.ts";

const ROWS = Array.from({ length: 300 }, (_, id) => ({ id, name: `name ${id}`, value: Math.sin(id) }));

Deno.test("deltaOf() is small for the changes of a value from block to block", () => {
  const changes: readonly (readonly [string, unknown])[] = [
    ["an entry more", [...ROWS, { id: 300, name: "name 300", value: 1 }]],
    ["the first entry less", ROWS.slice(1)],
    ["an entry changed in the middle", ROWS.with(150, { id: 150, name: "another", value: 0 })],
    ["two entries changed", ROWS.with(20, { id: 20, name: "a", value: 0 }).with(280, { id: 280, name: "b", value: 0 })],
  ];
  const base = encode(ROWS);
  for (const [what, changed] of changes) {
    const value = encode(changed);
    const delta = deltaOf(base, value);
    assert.ok(delta, what);
    assert.ok(delta.literals.length + JSON.stringify(delta.steps).length < 250, `${what}: ${delta.literals.length}`);
    assert.deepEqual(applyDelta(base, delta), new Uint8Array(value), what);
  }
});

Deno.test("deltaOf() gives nothing for a value that is another one", () => {
  const other = ROWS.map(({ id }) => ({ id: id * 7919 % 977, name: `${id * 31}`, value: Math.cos(id) }));
  assert.equal(deltaOf(encode(ROWS), encode(other)), null);
});

Deno.test("applyDelta() restores any value that deltaOf() found a difference for", () => {
  const edit = fc.record({ at: fc.nat(5000), remove: fc.nat(300), insert: fc.uint8Array({ maxLength: 200 }) });
  const small = fc.uint8Array({ minLength: 1, maxLength: 40 });
  fc.assert(fc.property(small, fc.nat(200), fc.array(edit, { maxLength: 6 }), (pattern, times, edits) => {
    const base = new Uint8Array(Array.from({ length: times }, () => [...pattern]).flat());
    let value = [...base];
    for (const { at, remove, insert } of edits) value = [...value.slice(0, at), ...insert, ...value.slice(at + remove)];
    const bytes = new Uint8Array(value);
    const delta = deltaOf(base, bytes);
    if (delta) assert.deepEqual(applyDelta(base, delta), bytes);
  }));
});

Deno.test("applyDelta() refuses steps that do not fit the base", () => {
  const literals = new Uint8Array([1]);
  assert.throws(() => applyDelta(new Uint8Array(3), { steps: [[2, 2, 0]], literals }), /Cannot apply a difference/);
  assert.throws(() => applyDelta(new Uint8Array(3), { steps: [[0, 1, 2]], literals }), /Cannot apply a difference/);
});
