/** Stores large values in the database of a URL, reads them back, and copies them to a file and from there to another
 * database. It prints the number of compared bytes. `large_values_test.ts` runs it with the heap of the executable. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { noise } from "../_filled.ts";
import { copyStore } from "../../../src/persistence/copy_store.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import type { Store } from "../../../src/persistence/store.ts";
import { encode } from "../../../src/sandbox/codec/codec.ts";
import { begun, block, image, iterate } from "../../conformance/store/fixtures.ts";

const [url = "", other = "", file = ""] = Deno.args;
const LARGEST = 60_000_000, TEXT_CHARS = 20_000_000;

const one = noise("large", 1_000_000);
const bytes = new Uint8Array(LARGEST).map((_, at) => (one[at % one.length] ?? 0) ^ (at / one.length));
const appended = new Uint8Array(LARGEST + 100);
appended.set(bytes);
const values = {
  zeros: encode(new Uint8Array(12_000_000)),
  bytes: encode(bytes),
  text: encode("\0\u001f x".repeat(TEXT_CHARS / 4)),
  wide: encode("\u4e2d".repeat(TEXT_CHARS / 8)),
};
const expected = new Map(
  Object.entries({ ...values, bytes: encode(appended) }).map(([name, value]) => [name, hash(value)]),
);

const store = await openStore({ path: url });
const { branchId, queryId } = await begun(store, { text: "q".repeat(TEXT_CHARS) });
for (const [position, [name, value]] of Object.entries(values).entries()) {
  await iterate(store, { queryId, position, blocks: [block(name, { saved: [image(name, { bytes: value })] })] });
}
const last = { position: 4, blocks: [block("more", { saved: [image("bytes", { bytes: encode(appended) })] })] };
await iterate(store, { queryId, ...last });
await check(store);
await store.close();
await copied(url, file);
await copied(file, other);

async function copied(from: string, to: string): Promise<void> {
  await copyStore({ from, to, signal: new AbortController().signal, onProgress: () => {} });
  const copy = await openStore({ path: to });
  await check(copy);
  await copy.close();
}

async function check(from: Store): Promise<void> {
  const images = await from.liveImages(branchId);
  assert.deepEqual(new Map(images.map((one) => [one.name, hash(one.bytes)])), expected);
  assert.equal((await from.query(queryId))?.text.length, TEXT_CHARS);
  console.log(images.reduce((sum, one) => sum + one.bytes.length, 0));
}

function hash(value: Uint8Array): string {
  return createHash("sha256").update(value).digest("hex");
}
