import assert from "node:assert/strict";
import { OutputRing } from "../../../extensions/shell/jobs.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const all = { maxBytes: 1000, whole: true };

Deno.test("OutputRing.from() returns the output since a place, and counts the dropped bytes", () => {
  const ring = new OutputRing(8);
  ring.push(bytes("abc"));
  assert.deepEqual(ring.from(0, all), { text: "abc", to: 3, missed: 0 });
  assert.deepEqual(ring.from(3, all), { text: "", to: 3, missed: 0 });
  ring.push(bytes("defghijkl"));
  assert.deepEqual(ring.from(3, all), { text: "efghijkl", to: 12, missed: 1 });
  ring.push(bytes("0123456789abcdefghij"));
  assert.deepEqual(ring.from(0, all), { text: "cdefghij", to: 32, missed: 24 });
  assert.deepEqual(ring.from(26, { ...all, maxBytes: 2 }), { text: "ef", to: 28, missed: 0 });
});

Deno.test("OutputRing.from() cuts no character in two", () => {
  const ring = new OutputRing(9);
  const [first, ...rest] = bytes("ä");
  ring.push(bytes("x"));
  ring.push(new Uint8Array([first ?? 0]));
  assert.deepEqual(ring.from(0, { ...all, whole: false }), { text: "x", to: 1, missed: 0 });
  assert.deepEqual(ring.from(1, { ...all, whole: false }), { text: "", to: 1, missed: 0 });
  ring.push(new Uint8Array(rest));
  assert.deepEqual(ring.from(1, { ...all, whole: false }), { text: "ä", to: 3, missed: 0 });
  ring.push(bytes("€€€"));
  assert.deepEqual(ring.from(3, { ...all, maxBytes: 7 }), { text: "€€", to: 9, missed: 0 });
  ring.push(bytes("yy"));
  assert.equal(ring.from(0, all).text, "€€yy", "the first one was cut by what came");
});

Deno.test("OutputRing.from() continues in bytes that are not UTF-8", () => {
  const ring = new OutputRing(16);
  ring.push(new Uint8Array(16).fill(0x80));
  const piece = ring.from(0, { maxBytes: 4, whole: false });
  assert.deepEqual([piece.text, piece.to], ["\ufffd".repeat(4), 4]);
  const lead = new OutputRing(16);
  lead.push(new Uint8Array([0xf0]));
  assert.equal(lead.from(0, { maxBytes: 4, whole: true }).to, 1);
});
