import assert from "node:assert/strict";
import fc from "fast-check";
import { decodeText, Utf8Pieces } from "../../../src/domain/kit/bytes.ts";
import { runs } from "../../helpers/long_part.ts";

const byte = fc.oneof(
  fc.nat(255),
  fc.constant(0),
  fc.constantFrom(0x61, 0x0a, 0xc3, 0xa4, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80, 0xed),
);

async function read(pieces: readonly Uint8Array[], options?: ConstructorParameters<typeof Utf8Pieces>[0]) {
  const utf8 = new Utf8Pieces(options);
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let text = "";
  for await (
    const piece of utf8.of(async function* () {
      for (const one of pieces) yield await Promise.resolve(one);
    }())
  ) text += strict.decode(piece);
  const { replaced, isBinary, encoding, isGuess } = utf8;
  return { text, replaced, isBinary, encoding, isGuess };
}

Deno.test("Utf8Pieces reads any bytes as decodeText() does, however they are cut", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(byte, { maxLength: 40 }), fc.array(fc.nat(9), { maxLength: 12 }), async (all, cuts) => {
      const bytes = Uint8Array.from(all);
      const pieces: Uint8Array[] = [];
      let at = 0;
      for (const size of cuts) pieces.push(bytes.subarray(at, at += size));
      pieces.push(bytes.subarray(at));
      const { text, encoding, isGuess, isBinary } = await read(pieces);
      assert.equal(isBinary, decodeText(bytes) === null);
      const wanted = decodeText(bytes) ?? { text: new TextDecoder().decode(bytes), encoding: "utf-8", isGuess: false };
      assert.deepEqual([text, encoding, isGuess], [wanted.text.toWellFormed(), wanted.encoding, wanted.isGuess]);
    }),
    { numRuns: runs(250, 1_000) },
  );
});

const MB = 1 << 20, LATE = MB + (MB >> 2);
const SHIFT_JIS = [0x83, 0x5c, 0x81, 0x5b, 0x83, 0x58, 0x0a];
/** The file is longer than the part that the detection reads. */
const LINES = 200_000;
const shiftJis = Uint8Array.from({ length: LINES * SHIFT_JIS.length }, (_, at) => SHIFT_JIS[at % SHIFT_JIS.length]!);
const cutIn = (bytes: Uint8Array, size: number) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
const after = (ascii: number, bytes: ArrayLike<number>) => {
  const all = new Uint8Array(ascii + bytes.length).fill(97);
  all.set(bytes, ascii);
  return all;
};

Deno.test("Utf8Pieces finds the encoding of a long text by its first bytes above ASCII", async () => {
  const wide = new Uint8Array(2 * MB);
  for (let at = 0; at < wide.length; at += 2) wide[at] = 97;
  const cases = [
    [after(LATE, [0x67, 0x72, 0xfc, 0xdf]), "windows-1252", `${"a".repeat(LATE)}grüß`],
    [after(LATE, [0xc3, 0xbc]), "utf-8", `${"a".repeat(LATE)}ü`],
    [after(LATE, [0xff, 0xfe]), "windows-1251", `${"a".repeat(LATE)}яю`],
    [after(LATE, [0xef, 0xbb, 0xbf]), "utf-8", `${"a".repeat(LATE)}\ufeff`],
    // A character begins where the first part ends.
    [after(MB - 1, [0xc3, 0xbc, 0x0a]), "utf-8", `${"a".repeat(MB - 1)}ü\n`],
    [shiftJis, "shift_jis", "ソース\n".repeat(LINES)],
    [after(MB + 7, shiftJis), "shift_jis", "a".repeat(MB + 7) + "ソース\n".repeat(LINES)],
    [wide, "utf-16le", "a".repeat(MB)],
  ] as const;
  for (const [bytes, name, wanted] of cases) {
    for (const size of [77_777, MB, 8 * MB]) {
      const { text, encoding, replaced } = await read(cutIn(bytes, size));
      assert.deepEqual([encoding, replaced, text === wanted], [name, 0, true], `${name} in pieces of ${size}`);
    }
  }
});

Deno.test("Utf8Pieces guesses nothing about bytes that are known to be UTF-8", async () => {
  const bytes = new TextEncoder().encode("a\0b\0c\0");
  assert.deepEqual((await read([bytes])).encoding, "utf-16le");
  const { text, encoding, isBinary } = await read([bytes], { encoding: "utf-8" });
  assert.deepEqual([text, encoding, isBinary], ["a\0b\0c\0", "utf-8", false]);
});

Deno.test("Utf8Pieces counts replaced characters, and detects binary data", async () => {
  const of = async (...bytes: number[]) => {
    const { text, replaced, isBinary } = await read([Uint8Array.from(bytes)]);
    return [text, replaced, isBinary];
  };
  assert.deepEqual(await of(0xef, 0xbb, 0xbf, 0x61), ["a", 0, false]);
  assert.deepEqual(await of(0xef, 0xbf, 0xbd), ["\uFFFD", 0, false]);
  assert.deepEqual(await of(0x61, 0xe4, 0x62, 0xff), ["aäbÿ", 0, false]);
  assert.deepEqual(await of(...new TextEncoder().encode("Größe für süße"), 0xff), ["Größe für süße\uFFFD", 1, false]);
  assert.deepEqual(await of(0x61, 0, 0x62), ["a\0b", 0, true]);
  assert.deepEqual(await of(0x61, 0, 0xff), ["a\0\uFFFD", 1, true]);
  assert.deepEqual(await of(0xff, 0xfe, 0xe4, 0), ["ä", 0, false]);
});
