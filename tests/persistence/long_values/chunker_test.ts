import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { chunks } from "../../../src/persistence/long_values.ts";

const MIB = 1024 * 1024;

function noise(length: number): Uint8Array {
  const parts: Uint8Array[] = [];
  for (let at = 0; at * 64 < length; at++) parts.push(createHash("sha512").update(String(at)).digest());
  return new Uint8Array(Buffer.concat(parts).subarray(0, length));
}

function sizes(bytes: Uint8Array): number[] {
  return chunks(bytes).map(({ length }) => length);
}

Deno.test("chunks() join to the input and keep to their limits", () => {
  for (const bytes of [noise(2 * MIB), new Uint8Array(MIB), new Uint8Array(), noise(1), noise(4096), noise(4097)]) {
    const pieces = chunks(bytes);
    assert.ok(Buffer.concat(pieces).equals(bytes));
    assert.ok(pieces.every(({ length }) => length <= 64 * 1024));
    assert.ok(pieces.slice(0, -1).every(({ length }) => length > 4096));
  }
});

Deno.test("chunks() of noise are some 20 KiB on average", () => {
  const all = sizes(noise(4 * MIB));
  const mean = 4 * MIB / all.length;
  assert.ok(mean > 12_000 && mean < 32_000, String(mean));
});

Deno.test("chunks() stay the same around an insertion, a deletion and an addition", () => {
  const before = noise(2 * MIB);
  const known = new Set(chunks(before).map((piece) => Buffer.from(piece).toString("base64")));
  const at = MIB + 17;
  const changed = [
    Buffer.concat([before.subarray(0, at), Buffer.from("inserted"), before.subarray(at)]),
    Buffer.concat([before.subarray(0, at), before.subarray(at + 5)]),
    Buffer.concat([before, Buffer.from("added")]),
    Buffer.concat([Buffer.from("in front"), before]),
  ];
  for (const bytes of changed) {
    const added = chunks(bytes).filter((piece) => !known.has(Buffer.from(piece).toString("base64")));
    assert.ok(added.length <= 3, `${added.length} new pieces`);
  }
});

Deno.test("chunks() never change their boundaries from one version of Vis to the next", () => {
  assert.deepEqual(sizes(noise(100_000)), [52_515, 30_360, 17_125]);
});
