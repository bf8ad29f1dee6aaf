/** A child ends, and never hangs, if a main process or a pipe sends damaged bytes. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { decode, encode } from "../../../src/sandbox/codec/codec.ts";
import { type Bytes, type Frame, FrameFields, frameHead, type Header, wireId } from "../../../src/sandbox/protocol.ts";
import { RawChild } from "./raw_child.ts";
import { runs } from "../../helpers/long_part.ts";

const VALUE = encode({ text: "x".repeat(2000), list: [1, new Map([["a", new Date(0)]])], bytes: new Uint8Array(30) });

function run(child: RawChild, code: string, deadlineMs = 10_000): string {
  const id = wireId();
  child.send({ t: "run", id, iteration: 1, index: 0, deadlineMs }, encode(code));
  return id;
}

function previewOf(frame: Frame | null): string {
  assert.ok(frame, "the child has ended");
  return new FrameFields(decode(frame.payload), "report").text("preview", 1 << 20);
}

const damage = fc.array(fc.tuple(fc.nat(VALUE.length * 8 - 1), fc.boolean(), fc.boolean()), {
  minLength: 1,
  maxLength: 4,
});

Deno.test("a child reads damaged bytes of an answer as an error of that call, and continues", async () => {
  await using child = await RawChild.start();
  await fc.assert(
    fc.asyncProperty(damage, async (flips) => {
      run(child, "await fs.read('a').then((v) => 'value of ' + typeof v, (e) => e.name + ': ' + e.message)");
      const call = await child.next("call");
      const bytes = VALUE.slice(0, flips[0]?.[1] ? flips[0][0] >> 3 : VALUE.length);
      for (const [bit] of flips) if (bit >> 3 < bytes.length) bytes[bit >> 3]! ^= 1 << (bit & 7);
      const ok = flips[0]?.[2] ?? true;
      child.send({ t: "answer", id: call?.header["id"], ok }, bytes);
      const text = previewOf(await child.next("done"));
      assert.match(text, ok ? /^"(value of \w+|Error: Cannot read the result of fs\.read: .*)"$/s : /^"\w+: /);
    }),
    { numRuns: runs(50, 150), interruptAfterTimeLimit: 8000 },
  );
  run(child, "1 + 1");
  assert.equal(previewOf(await child.next("done")), "2");
});

Deno.test("a child reports waits for calls with their own deadlines when the block would otherwise be overdue", async () => {
  await using child = await RawChild.start();
  const answer = async (): Promise<void> => {
    const call = await child.next("call");
    child.send({ t: "answer", id: call?.header["id"], ok: true }, VALUE);
  };
  run(child, "for (let n = 0; n < 5; n++) await rlm.run(n)");
  for (let n = 0; n < 5; n++) await answer();
  assert.equal((await child.next("waited", "done"))?.header.t, "done");

  run(child, "await rlm.run(0); 1", 50);
  const waits = await child.next("waited", "done");
  assert.equal(waits?.header["goesOn"], true);
  await answer();
  const waited = await child.next("waited", "done");
  assert.equal(waited?.header["goesOn"], false);
  assert.ok(Number(waited?.header["ms"]) >= Number(waits?.header["ms"]));
  assert.equal(previewOf(await child.next("done")), "1");
});

Deno.test("a child that waits for an answer ends its block soon after the time limit is announced", async () => {
  await using child = await RawChild.start();
  const id = run(child, "await fs.read('a')", 300);
  let frame = await child.next("call", "done"); // A slow machine may send no call before that.
  if (frame?.header.t === "call") {
    child.send({ t: "due", id });
    frame = await child.next("done");
  }
  assert.equal(new FrameFields(decode(frame!.payload), "report").text("outcome", 100), "timeout");
  run(child, "1 + 1");
  assert.equal(previewOf(await child.next("done")), "2");
});

/** Each of these must end the child with these words. */
const WRONG: Readonly<Record<string, readonly [send: (child: RawChild, call: string) => void, why: RegExp]>> = {
  "an answer to nobody": [
    (child) => child.send({ t: "answer", id: wireId(), ok: true }, VALUE),
    /no call with the id \S+ waits for it/,
  ],
  "an answer twice": [(child, id) => {
    child.send({ t: "answer", id, ok: true }, VALUE);
    child.send({ t: "answer", id, ok: true }, VALUE);
  }, /no call with the id \S+ waits for it/],
  "an id that is no id": [
    (child) => child.send({ t: "answer", id: "__proto__", ok: true }, VALUE),
    /field "id" is not valid/,
  ],
  "a flag that is no flag": [
    (child, id) => child.send({ t: "answer", id, ok: "yes" }, VALUE),
    /field "ok" is not valid/,
  ],
  "an unknown type": [(child) => child.send({ t: "please" }), /Cannot accept a frame/],
  "another setup": [(child) => child.send({ t: "setup" }), /Cannot accept a frame/],
  "a run without code": [(child) => child.send({ t: "run", id: wireId(), iteration: 1, index: 1, deadlineMs: 1 }), /./],
  "a run of a number": [
    (child) => child.send({ t: "run", id: wireId(), iteration: 1, index: 1, deadlineMs: 1 }, encode(1)),
    /not text/,
  ],
  "text": [(child) => child.raw(new TextEncoder().encode("not a frame at all")), /its header would have/],
  "a length over the limit": [(child) => {
    const head = frameHead({ header: { t: "x" }, payloadBytes: 0 });
    new DataView(head.buffer).setUint32(4, 2 ** 31, true);
    child.raw(head);
  }, /its header would have/],
  "a restore of something else": [
    (child) => child.send({ t: "restore", id: wireId(), more: false }, encode([{ name: 1 }])),
    /./,
  ],
};
for (const [name, [send, why]] of Object.entries(WRONG)) {
  Deno.test(`a child ends at ${name}, and gives the reason`, async () => {
    await using child = await RawChild.start();
    run(child, "await fs.read('a'); await new Promise(() => {})");
    const call = await child.next("call");
    send(child, String(call?.header["id"]));
    const end = await child.end();
    assert.match(end, /^1: /);
    assert.match(end, why);
  });
}

Deno.test("a child whose input ends in the middle of a frame ends, or at its block's deadline if it computes", async () => {
  for (const code of ["await fs.read('a')", "for (;;);"]) {
    await using child = await RawChild.start();
    run(child, code, 300);
    await new Promise((done) => setTimeout(done, 20));
    child.raw(frameHead({ header: { t: "ping", id: wireId() }, payloadBytes: 10 }));
    child.hangUp();
    assert.match(await child.end(), /^[01]: /);
  }
});

const frame = fc.record({
  header: fc.record({
    t: fc.constantFrom(
      "run",
      "answer",
      "cancel",
      "ping",
      "restore",
      "bind",
      "results",
      "read",
      "present",
      "forget",
      "render",
      "endQuery",
    ),
    id: fc.oneof(fc.constant(wireId()), fc.jsonValue({ maxDepth: 1 })),
    name: fc.oneof(fc.constantFrom("a", "fs", "__proto__", "globalThis", "then"), fc.jsonValue({ maxDepth: 1 })),
    names: fc.jsonValue({ maxDepth: 1 }),
    more: fc.constantFrom(true, false, 1),
    user: fc.constantFrom(true, false, null),
    json: fc.constantFrom(true, false, null),
    deadlineMs: fc.constantFrom(1, 50, -1, null),
    maxBytes: fc.constantFrom(0, 100, 1e9),
    iteration: fc.constant(1),
    index: fc.nat(3),
  }),
  payload: fc.oneof(
    fc.uint8Array({ maxLength: 40 }).map((it): Bytes => new Uint8Array(it)),
    fc.constantFrom(encode("1 + 1"), encode("const a = 1"), encode([]), encode({})),
  ),
});

Deno.test("a child answers or ends, whatever the order and the fields of messages", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(frame, { minLength: 1, maxLength: 8 }), async (frames) => {
      await using child = await RawChild.start();
      for (const { header, payload } of frames) child.send({ ...header } as unknown as Header, payload);
      child.hangUp();
      assert.match(await child.end(), /^[01]: /);
    }),
    { numRuns: 12, interruptAfterTimeLimit: 15_000 },
  );
});
