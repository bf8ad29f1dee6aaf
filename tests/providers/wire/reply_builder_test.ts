import { ReplyBuilder, ReplySize } from "../../../src/providers/wire/reply_builder.ts";
import assert from "node:assert/strict";

/** Begins a reply that arrives until the test ends. Replies that arrive at the same time share their limit. */
function arriving(): ReplyBuilder & Disposable {
  const reply = new ReplyBuilder("m", 0);
  return Object.assign(reply, { [Symbol.dispose]: () => reply.close() });
}

Deno.test("Reply keeps halves of characters back until they are whole", () => {
  using reply = arriving();
  for (const half of "a😀b") for (const unit of half.split("")) reply.text(unit);
  reply.reasoning("\ud83d");
  reply.text("c");
  reply.reasoning("\ude00");
  assert.deepEqual(reply.take(), [
    { type: "text", delta: "a" },
    { type: "text", delta: "😀" },
    { type: "text", delta: "b" },
    { type: "text", delta: "c" },
    { type: "reasoning", delta: "😀" },
  ]);
  assert.deepEqual(reply.take(), []);
});

Deno.test("Reply takes nothing for text that is no text", () => {
  using reply = arriving();
  for (const odd of [undefined, null, 5, {}, [], ""]) {
    reply.text(odd);
    reply.reasoning(odd);
    reply.refusal(odd);
    reply.servedBy(odd);
  }
  assert.deepEqual([reply.take(), reply.isDeclined, reply.model], [[], false, "m"]);
});

Deno.test("Reply replaces counts by later ones and keeps counts that these lack", () => {
  using reply = arriving();
  reply.count({ input: 5, output: 1, cached: 9, reasoning: "many", cacheWrite: undefined });
  reply.count({ output: 7, input: null, cached: NaN });
  assert.deepEqual(reply.usage, { input: 5, output: 7, cached: 5, reasoning: 0, calls: 1 });
});

Deno.test("Reply remembers the end of its text for messages, or why it was declined", () => {
  using reply = arriving();
  reply.text("x".repeat(600));
  reply.text("end");
  reply.decline("SAFETY");
  assert.deepEqual([reply.tail.length, reply.tail.endsWith("xend"), reply.finish], [500, true, "content-filter"]);
  using early = arriving();
  early.decline("SAFETY");
  assert.equal(early.tail, "SAFETY");
});

Deno.test("Reply takes pieces that repeat all that was said once", () => {
  const said = (pieces: readonly string[], options?: { readonly isMessage: boolean }): string => {
    using reply = arriving();
    for (const piece of pieces) reply.text(piece, options);
    return reply.take().map((event) => event.type === "text" ? event.delta : "").join("");
  };
  const whole = "I think that it is 4, since 2 and 2 are 4.";
  const growing = Array.from(whole, (_, at) => whole.slice(0, at + 1));
  assert.equal(said(growing, { isMessage: true }), whole);
  assert.equal(said([...growing, whole], { isMessage: true }), whole);
  assert.equal(said([whole.slice(0, 20), whole.slice(0, 30), whole]), whole);
  assert.equal(said(["I", " think", " that"], { isMessage: true }), "I think that");
  // Equal pieces are no repetition.
  for (const piece of ["ha", "-".repeat(40)]) assert.equal(said([piece, piece, piece]), piece.repeat(3));
  using reply = arriving();
  for (const text of growing) reply.whole("text", text);
  reply.takeWhole();
  assert.deepEqual(reply.take(), [{ type: "text", delta: whole }]);
});

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
