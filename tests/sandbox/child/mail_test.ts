import assert from "node:assert/strict";
import fc from "fast-check";
import { readMail, readToWorker, writeAnswers, writeGroup, writeMail } from "../../../src/sandbox/child/mail.ts";
import type { FromWorker, RunMessage, ToWorker } from "../../../src/sandbox/child/messages.ts";
import { ProtocolError, wireId } from "../../../src/sandbox/protocol.ts";

const BYTES = 4096;
const space = (bytes = BYTES): Uint8Array<SharedArrayBuffer> => new Uint8Array(new SharedArrayBuffer(bytes));

function sent(of: Uint8Array<SharedArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(of.slice(0, length));
}

Deno.test("writeMail() and readMail() pass calls and a report", () => {
  const run = wireId();
  const calls = [{ id: 1, run, name: "fs.read", payload: new Uint8Array([1, 2]) }, {
    id: 2 ** 32 - 1,
    run,
    name: "é",
    payload: new Uint8Array(0),
  }];
  const one = space();
  assert.deepEqual(readMail(sent(one, writeMail(one, { t: "calls", calls }))), { t: "calls", calls });
  assert.deepEqual(readMail(sent(one, writeMail(one, { t: "call", ...calls[0]! }))), {
    t: "calls",
    calls: [calls[0]],
  });
  for (const rests of [true, false]) {
    const done: FromWorker = { t: "done", id: run, more: false, error: null, rests, payload: new Uint8Array([9]) };
    assert.deepEqual(readMail(sent(one, writeMail(one, done))), done);
  }
});

Deno.test("writeMail() leaves to the port what it does not know or has no room for", () => {
  const id = wireId(), payload = new Uint8Array(BYTES);
  const error = { name: "Error", message: "", frames: [] };
  const messages: readonly FromWorker[] = [
    { t: "pong", id },
    { t: "done", id, more: true, payload: new Uint8Array(1) },
    { t: "done", id, more: false, error, payload: new Uint8Array(1) },
    { t: "done", id: "short", more: false, payload: new Uint8Array(1) },
    { t: "done", id, more: false, error: null, payload },
    { t: "call", id: 1, run: id, name: "f", payload },
    { t: "call", id: 1, run: id, name: "函数", payload: new Uint8Array(1) },
    { t: "call", id: 1, run: id, name: "f".repeat(BYTES), payload: new Uint8Array(1) },
  ];
  for (const message of messages) assert.equal(writeMail(space(), message), 0, JSON.stringify(message.t));
  assert.equal(writeAnswers(space(), [{ id: 1, ok: true, payload }]), 0);
});

Deno.test("readToWorker() reads answers and a block, text of any kind included", () => {
  const answers = [{ id: 5, ok: true, payload: new Uint8Array([1]) }, { id: 6, ok: false, payload: new Uint8Array(0) }];
  const one = space();
  assert.deepEqual([...readAnswers(sent(one, writeAnswers(one, answers)))], answers);
  const run: RunMessage = {
    t: "run",
    id: wireId(),
    iteration: 1,
    index: 2,
    deadlineMs: 3000,
    block: {
      ok: true,
      code: '"\ud800 \u2028 __proto__ é 函"',
      isAsync: false,
      declarations: [],
      assigned: [],
      reads: ["__proto__"],
      shows: null,
      literal: true,
      repaired: null,
    },
    defined: [],
    file: "block1",
  };
  const id = wireId(), payload = new Uint8Array([7, 8]);
  const messages: readonly ToWorker[] = [
    { t: "bind", id: null, name: "$query", user: false, part: "whole", payload },
    { t: "endQuery", id: null },
    run,
    { t: "render", id, deadlineMs: 5, payload: new Uint8Array(0) },
    { t: "read", id, name: "__proto__", maxBytes: 1 },
    { t: "forget", id, names: ["a", "é"] },
  ];
  const read = readToWorker(sent(one, writeGroup(one, messages)));
  assert.ok(read.t === "group");
  assert.deepEqual(Array.from({ length: read.messages.length }, (_, i) => read.messages[i]), messages);
});

Deno.test("writeGroup() leaves to the port what has parts that are no JSON", () => {
  const id = wireId();
  assert.equal(writeGroup(space(), [{ t: "endQuery", id }, { t: "restore", id, images: [] }]), 0);
  assert.equal(writeGroup(space(), [{ t: "ping", id }]), 0);
  assert.equal(writeGroup(space(), [{ t: "render", id, deadlineMs: 1, payload: new Uint8Array(BYTES) }]), 0);
});

function readAnswers(bytes: Uint8Array<ArrayBuffer>) {
  const read = readToWorker(bytes);
  return read.t === "group" ? [] : Array.from({ length: read.answers.length }, (_, i) => read.answers[i]);
}

Deno.test("readMail() refuses every other byte sequence with ProtocolError, or reads what it says", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
    try {
      const { t } = readMail(new Uint8Array(bytes));
      assert.ok(t === "calls" || t === "done");
    } catch (error) {
      assert.ok(error instanceof ProtocolError);
    }
  }));
});

Deno.test("readMail() refuses a message that was cut off anywhere", () => {
  const one = space();
  const call: FromWorker = { t: "call", id: 1, run: wireId(), name: "f.g", payload: new Uint8Array([1, 2, 3]) };
  const whole = sent(one, writeMail(one, call));
  for (let length = 0; length < whole.length; length++) {
    assert.throws(() => readMail(whole.slice(0, length)), ProtocolError);
  }
});
