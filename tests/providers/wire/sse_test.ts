import assert from "node:assert/strict";
import fc from "fast-check";
import { sse } from "../../../src/providers/wire/_exchange.ts";
import { runs } from "../../helpers/long_part.ts";

async function eventsOf(text: string, size = text.length || 1): Promise<unknown[]> {
  const bytes = new TextEncoder().encode(text);
  const chunks = async function* () {
    for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.slice(at, at + size));
  };
  return (await Array.fromAsync(sse(chunks()))).flat();
}

Deno.test("sse() reads the fields as the standard defines", async () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ["data: a\n\n", ["a"]],
    ["data:a\n\n", ["a"]],
    ["data:  a \n\n", [" a "]],
    ["data: a\ndata: b\n\n", ["a\nb"]],
    ["data\n\n", [""]],
    ["event: x\nid: 1\nretry: 5\ndata: a\n\n", ["a"]],
    ["event: x\n\n", []],
    [": comment\n\n:\n\ndata: a\n\n", ["a"]],
    ["database: a\n\n", []],
    ["\ufeffdata: a\n\n", ["a"]],
    ["\n\n\ndata: a\n\n\n\n", ["a"]],
    ["data: a: b\n\n", ["a: b"]],
    ["data: a\u2028b\u0085c\n\n", ["a\u2028b\u0085c"]],
    ['data: {"a": "b\n\tc"}\n\n', ['{"a": "b\n\tc"}']],
    ['data: {"a": 1}\nb: c\n\n', ['{"a": 1}']],
    ['data: {"a":\nid: 1\ndata: 1}\n\n', ['{"a":\n1}']],
    ["", []],
  ];
  for (const [text, expected] of cases) assert.deepEqual(await eventsOf(text), expected, JSON.stringify(text));
});

Deno.test("sse() gives the last event of a server that forgets the empty line", async () => {
  assert.deepEqual(await eventsOf("data: a\n\ndata: b"), ["a", "b"]);
  assert.deepEqual(await eventsOf("data: a\n\ndata: b\n"), ["a", "b"]);
  assert.deepEqual(await eventsOf("data: a\r\rdata: b\r"), ["a", "b"]);
});

Deno.test("sse() gives the same however bytes and line ends are cut", async () => {
  const line = fc.string({ unit: "grapheme" }).map((text) => text.replace(/[\r\n]/g, ""));
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { maxLength: 8 }),
      fc.constantFrom("\n", "\r\n", "\r"),
      fc.integer({ min: 1, max: 9 }),
      async (texts, end, size) => {
        const stream = texts.map((text) => `: note${end}data: ${text}${end}${end}`).join("");
        assert.deepEqual(await eventsOf(stream, size), texts);
      },
    ),
    { numRuns: runs(50, 200) },
  );
});

Deno.test("sse() keeps the lines of an event together, wherever CR LF is cut", async () => {
  for (let size = 1; size < 30; size++) {
    assert.deepEqual(await eventsOf("data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n", size), ["a\nb", "c"], String(size));
  }
});

Deno.test("sse() yields an event before the stream ends", async () => {
  const open = async function* () {
    yield new TextEncoder().encode("data: a\n\n");
    await new Promise(() => {});
  };
  assert.deepEqual(await sse(open()).next(), { done: false, value: ["a"] });
});

Deno.test("sse() gives up on an event without an end", async () => {
  const endless = async function* () {
    const chunk = new Uint8Array(1 << 20).fill(97);
    while (true) yield await Promise.resolve(chunk);
  };
  await assert.rejects(sse(endless()).next(), RangeError);
});

Deno.test("sse() reads a long event in linear time", async () => {
  const text = `data: ${"x".repeat(4_000_000)}\n\n`;
  const [event] = await eventsOf(text, 100);
  assert.equal(String(event).length, 4_000_000);
});
