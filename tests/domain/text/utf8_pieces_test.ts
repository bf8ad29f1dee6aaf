import assert from "node:assert/strict";
import fc from "fast-check";
import { Utf8Pieces } from "../../../src/domain/text/utf8_pieces.ts";

const byte = fc.oneof(
  fc.nat(255),
  fc.constantFrom(0x61, 0x0a, 0xc3, 0xa4, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80, 0xed),
);

async function read(pieces: readonly Uint8Array[]) {
  const utf8 = new Utf8Pieces();
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let text = "";
  for await (
    const piece of utf8.of(async function* () {
      for (const one of pieces) yield await Promise.resolve(one);
    }())
  ) text += strict.decode(piece);
  return { text, replaced: utf8.replaced, isBinary: utf8.isBinary };
}

Deno.test("Utf8Pieces reads any bytes as a decoder does, however they are cut", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(byte, { maxLength: 40 }), fc.array(fc.nat(9), { maxLength: 12 }), async (all, cuts) => {
      const bytes = Uint8Array.from(all);
      const pieces: Uint8Array[] = [];
      let at = 0;
      for (const size of cuts) pieces.push(bytes.subarray(at, at += size));
      pieces.push(bytes.subarray(at));
      const wide = bytes.length < 3
        ? ""
        : bytes[0] === 0xff && bytes[1] === 0xfe
        ? "utf-16le"
        : bytes[0] === 0xfe && bytes[1] === 0xff
        ? "utf-16be"
        : "";
      const { text } = await read(pieces);
      assert.equal(text, new TextDecoder(wide || "utf-8").decode(bytes).toWellFormed());
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("Utf8Pieces counts what it replaces, and knows what is binary", async () => {
  const of = async (...bytes: number[]) => {
    const { text, replaced, isBinary } = await read([Uint8Array.from(bytes)]);
    return [text, replaced, isBinary];
  };
  assert.deepEqual(await of(0xef, 0xbb, 0xbf, 0x61), ["a", 0, false]);
  assert.deepEqual(await of(0xef, 0xbf, 0xbd), ["\uFFFD", 0, false]);
  assert.deepEqual(await of(0x61, 0xe4, 0x62, 0xff), ["a\uFFFDb\uFFFD", 2, false]);
  assert.deepEqual(await of(0x61, 0, 0x62), ["a\0b", 0, false]);
  assert.deepEqual(await of(0x61, 0, 0xff), ["a\0\uFFFD", 1, true]);
  assert.deepEqual(await of(0xff, 0xfe, 0xe4, 0), ["ä", 0, false]);
});
