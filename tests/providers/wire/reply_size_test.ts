import assert from "node:assert/strict";
import { ReplySize } from "../../../src/providers/wire/_reply_size.ts";

Deno.test("ReplySize one reply has at most a million characters", () => {
  const size = new ReplySize();
  size.add(1_000_000);
  assert.equal(size.fault, null);
  size.add(1);
  assert.equal(size.fault, "it has more than 1 million characters");
  size.close();
});

Deno.test("ReplySize of too many large replies at the same time the largest end, and no small one", () => {
  const large = Array.from({ length: 10 }, () => new ReplySize());
  const small = Array.from({ length: 30 }, () => new ReplySize());
  for (const size of small) size.add(5_000);
  for (const size of large) size.add(780_000);
  assert.deepEqual([...large, ...small].map(({ fault }) => fault), Array(40).fill(null));
  for (const size of large) size.add(50_000);
  assert.equal(large[0]?.fault, "it has more than 200000 characters while 39 other replies arrive");
  assert.deepEqual(small.map(({ fault }) => fault), Array(30).fill(null));
  large[0]?.close();
  assert.equal(large[1]?.fault, null, "there is room again");
  for (const size of [...large.slice(1), ...small]) size.close();
});
