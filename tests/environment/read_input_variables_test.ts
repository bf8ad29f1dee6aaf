import assert from "node:assert/strict";
import { readInputVariables } from "../../src/environment/input_variables.ts";
import { openStore } from "../../src/persistence/open_store.ts";
import { decode } from "../../src/sandbox/codec/codec.ts";
import { runs } from "../helpers/long_part.ts";

async function given(text: string | Uint8Array, { json = false, piece = 1_000, source = {} } = {}) {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const pieces = async function* () {
    for (let at = 0; at < bytes.length; at += piece) yield await Promise.resolve(bytes.subarray(at, at + piece));
  };
  const store = await openStore({ path: ":memory:" });
  try {
    const variable = await readInputVariables("context", {
      store,
      source: { label: "a.txt", json, pieces: pieces(), ...source },
    });
    let kept = "";
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const { large } = variable.image;
    if (large !== undefined) {
      for await (const one of store.largePieces(large)) kept += decoder.decode(one, { stream: true });
    }
    return { ...variable, kept };
  } finally {
    await store.close();
  }
}

Deno.test("readGiven() keeps a small text as a value and a large one in pieces, to the last character", async () => {
  const small = await given("äöü 😀");
  assert.deepEqual([decode(small.image.bytes), small.image.large], ["äöü 😀", undefined]);
  const text = "\ufeff" + "ä😀 text\n".repeat(700_000);
  const large = await given(text, { piece: 77_777 });
  assert.equal(large.kept, text.slice(1));
  assert.deepEqual([large.image.bytes.length, large.image.summary.size], [0, text.length - 1]);
  assert.match(large.text, new RegExp(`string of ${text.length - 1} characters\\.`));
});

Deno.test("readGiven() describes any text in one line of bounded length", async () => {
  for (
    const text of ["", "x", "<journal>\n[iter 1/2]\n".repeat(100), '"\\\u2028'.repeat(1_000), "\n".repeat(2 << 20)]
  ) {
    const told = (await given(text, { piece: 1 << 20 })).text;
    assert.ok(told.length < 480, String(told.length));
    assert.doesNotMatch(told, /\n/);
  }
});

Deno.test("readGiven() shows the end of a text whose source asks for it, in whole lines", async () => {
  for (const count of [1_000, 300_000]) {
    const text = Array.from({ length: count }, (_, at) => `line ${at} ä\n`).join("");
    const { parts = [] } = await given(text, { piece: 1 << 16, source: { showsEnd: true } });
    const whole = parts[0]?.whole ?? "";
    assert.ok(text.endsWith(whole) && whole.startsWith("line ") && whole.length > 7_900 && whole.length <= 8_000);
    assert.match(
      parts[0]?.text ?? "",
      new RegExp(`Its last ${whole.length} characters; .*slice\\(0, -${whole.length}\\)`),
    );
  }
  assert.equal((await given("short", { source: { showsEnd: true } })).whole?.whole, "short");
});

Deno.test("readGiven() parses JSON, and returns other input as text", async () => {
  const list = await given('[{"id":1}]', { json: true });
  assert.deepEqual(decode(list.image.bytes), [{ id: 1 }]);
  assert.match(list.text, /Array\(1\) of \{id\}, from JSON/);
  assert.equal(decode((await given("{oops", { json: true })).image.bytes), "{oops");
});

Deno.test("readGiven() names a guessed encoding, and counts the replaced characters", async () => {
  const latin = Uint8Array.from([0x67, 0x72, 0xfc, 0xdf]);
  const { image, text } = await given(latin);
  assert.equal(decode(image.bytes), "grüß");
  assert.match(text, /string of 4 characters; read as windows-1252, a guess\./);
  const broken = await given(Uint8Array.from([...new TextEncoder().encode("Größe für süße"), 0xff]));
  assert.equal(decode(broken.image.bytes), "Größe für süße\uFFFD");
  assert.match(broken.text, /; 1 of the characters are U\+FFFD for bytes that are not UTF-8\./);
  const json = await given(Uint8Array.from([0x5b, 0x22, 0xfc, 0x22, 0x5d]), { json: true });
  assert.deepEqual(decode(json.image.bytes), ["ü"]);
  assert.match(json.text, /from JSON; read as windows-1252, a guess\./);
  const late = new Uint8Array((2 << 20) + 5).fill(97);
  late.set([0x67, 0x72, 0xfc, 0xdf], late.length - 4);
  const large = await given(late, { piece: 1 << 20 });
  assert.ok(large.kept === `${"a".repeat((2 << 20) + 1)}grüß`);
  assert.match(large.text, /; read as windows-1252, a guess\./);
  const chars = runs(2, 5) << 20;
  const many = await given(new Uint8Array(chars).fill(0xe9), { piece: 77_777 });
  assert.deepEqual([many.image.summary.size, new Set(many.kept).size], [chars, 1]);
});

Deno.test("readGiven() reads UTF-16 by its mark, and JSON with a mark", async () => {
  const wide = (text: string) =>
    Uint8Array.from([0xff, 0xfe, ...[...text].flatMap((one) => [one.charCodeAt(0) & 0xff, one.charCodeAt(0) >> 8])]);
  const { image } = await given(wide("größe\n"), { piece: 3 });
  assert.equal(decode(image.bytes), "größe\n");
  const list = await given('\ufeff[{"id":1}]', { json: true, piece: 2 });
  assert.deepEqual(decode(list.image.bytes), [{ id: 1 }]);
});

Deno.test("readGiven() refuses binary input", async () => {
  const wanted = { name: "UsageError", message: /a\.txt: it contains binary data, not text/ };
  await assert.rejects(given(Uint8Array.from([1, 0, 0xff])), wanted);
  const large = new Uint8Array(2 << 20).fill(0xff);
  large[7] = 0;
  await assert.rejects(given(large, { piece: 1 << 20 }), wanted);
});
