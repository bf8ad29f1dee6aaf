import assert from "node:assert/strict";
import { readInputVariables } from "../../../src/environment/input/read_input_variables.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { decode } from "../../../src/sandbox/codec/codec.ts";

async function given(text: string | Uint8Array, { json = false, piece = 1_000 } = {}) {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const pieces = async function* () {
    for (let at = 0; at < bytes.length; at += piece) yield await Promise.resolve(bytes.subarray(at, at + piece));
  };
  const store = await openStore({ path: ":memory:" });
  try {
    const variable = await readInputVariables("context", { store, source: { label: "a.txt", json, pieces: pieces() } });
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
  assert.equal(large.kept, text);
  assert.deepEqual([large.image.bytes.length, large.image.summary.size], [0, text.length]);
  assert.match(large.text, new RegExp(`string of ${text.length} characters\\.`));
});

Deno.test("readGiven() tells the same amount of any text, in one line", async () => {
  for (
    const text of ["", "x", "<journal>\n[iter 1/2]\n".repeat(100), '"\\\u2028'.repeat(1_000), "\n".repeat(2 << 20)]
  ) {
    const told = (await given(text, { piece: 1 << 20 })).text;
    assert.ok(told.length < 480, String(told.length));
    assert.doesNotMatch(told, /\n/);
  }
});

Deno.test("readGiven() parses JSON, and gives what is none as text", async () => {
  const list = await given('[{"id":1}]', { json: true });
  assert.deepEqual(decode(list.image.bytes), [{ id: 1 }]);
  assert.match(list.text, /Array\(1\) of \{id\}, from JSON/);
  assert.equal(decode((await given("{oops", { json: true })).image.bytes), "{oops");
});

Deno.test("readGiven() refuses what is no UTF-8, also when only the end is not", async () => {
  await assert.rejects(given(new Uint8Array([0xff, 0xfe])), { name: "UsageError", message: /a\.txt: it is not UTF-8/ });
  const cut = new Uint8Array((2 << 20) + 1).fill(97);
  cut[cut.length - 1] = 0xc3;
  await assert.rejects(given(cut, { piece: 1 << 20 }), /it is not UTF-8/);
});
