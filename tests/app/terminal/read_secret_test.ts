import assert from "node:assert/strict";
import { readSecret } from "../../../src/app/terminal/read_line.ts";
import { Cancelled } from "../../../src/domain/errors.ts";

function terminal(...chunks: string[]) {
  const raw: boolean[] = [];
  const shown: string[] = [];
  const stdin = {
    setRaw: (on: boolean) => void raw.push(on),
    read: (into: Uint8Array) => {
      const chunk = chunks.shift();
      if (chunk === undefined) return Promise.resolve(null);
      return Promise.resolve(new TextEncoder().encodeInto(chunk, into).written);
    },
  };
  return { raw, shown, stdin, write: (text: string) => void shown.push(text) };
}

Deno.test("readSecret() reads a line and shows no part of it", async () => {
  const cases: readonly (readonly [readonly string[], string])[] = [
    [["sk-4711\r"], "sk-4711"],
    [["sk", "-47", "11\n", "more"], "sk-4711"],
    [["sk-48\x7f711\r"], "sk-4711"],
    [["wrong\x15sk-4711\r"], "sk-4711"],
    [["\x7f\x7fsk-4711\r"], "sk-4711"],
    [["\x1b[200~sk-4711\x1b[201~\r"], "sk-4711"],
    [["  sk-4711 \x04"], "sk-4711"],
    [["sk-4711"], "sk-4711"],
    [["\r"], ""],
  ];
  for (const [chunks, expected] of cases) {
    const { raw, shown, ...rest } = terminal(...chunks);
    assert.equal(await readSecret("Key: ", rest), expected);
    assert.deepEqual([raw, shown], [[true, false], ["Key: ", "\n"]]);
  }
});

Deno.test("readSecret() restores the terminal at Ctrl-C", async () => {
  const { raw, ...rest } = terminal("sk-47\x03");
  await assert.rejects(readSecret("Key: ", rest), Cancelled);
  assert.deepEqual(raw, [true, false]);
});
