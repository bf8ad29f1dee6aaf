import assert from "node:assert/strict";
import { Mailbox, MAILBOX_BYTES, mailboxMemory } from "../../../src/sandbox/child/mailbox.ts";

/** Both ends of one direction, as each thread makes its own. */
function ends(): { readonly sender: Mailbox; readonly reader: Mailbox; readonly memory: SharedArrayBuffer } {
  const memory = mailboxMemory();
  return { sender: new Mailbox(memory, "worker"), reader: new Mailbox(memory, "worker"), memory };
}

function send(mailbox: Mailbox, byte: number): boolean {
  mailbox.space[0] = byte;
  return mailbox.deliver(1);
}

Deno.test("Mailbox takes a message only while its reader is to look again", () => {
  const { sender, reader } = ends();
  assert.equal(sender.isOpen, false);
  assert.equal(send(sender, 1), false);
  reader.enter();
  assert.equal(sender.isOpen, true);
  assert.equal(send(sender, 2), true);
  assert.deepEqual(reader.wait(0), new Uint8Array([2]));
  assert.equal(reader.leave(), null);
  assert.equal(sender.isOpen, false);
});

Deno.test("Mailbox holds one message, and nothing overwrites it before it is read", () => {
  const { sender, reader } = ends();
  reader.enter();
  assert.equal(send(sender, 1), true);
  assert.equal(sender.isOpen, false);
  assert.equal(sender.deliver(1), false);
  sender.call();
  assert.equal(reader.isFull, true);
  assert.deepEqual(reader.wait(0), new Uint8Array([1]));
  assert.equal(reader.wait(0), "late");
});

Deno.test("Mailbox.leave() returns the message that came meanwhile", () => {
  const { sender, reader } = ends();
  reader.enter();
  assert.equal(send(sender, 7), true);
  assert.deepEqual(reader.leave(), new Uint8Array([7]));
  assert.equal(reader.leave(), null);
});

Deno.test("Mailbox is shut while a message of the port has not been taken, and its reader does not sleep then", () => {
  const { sender, reader } = ends();
  reader.enter();
  sender.posting();
  assert.equal(sender.isOpen, false);
  assert.equal(reader.hasPosted, true);
  const begun = performance.now();
  assert.equal(reader.wait(10_000), "called");
  assert.ok(performance.now() - begun < 5000);
  reader.took();
  assert.equal(sender.isOpen, true);
});

Deno.test("Mailbox.call() before the reader sleeps is not lost", () => {
  const { sender, reader } = ends();
  reader.enter();
  sender.call();
  assert.equal(reader.wait(10_000), "called");
  assert.equal(reader.wait(0), "late");
});

Deno.test("Mailbox.wait() tells who may wake it when it sleeps", () => {
  const { sender, reader } = ends();
  let asleep = false;
  reader.enter();
  assert.equal(reader.wait(0, () => asleep = sender.isReaderAsleep), "late");
  assert.equal(asleep, true);
  assert.equal(sender.isReaderAsleep, false);
});

Deno.test("Mailbox wakes a sleeping thread, thousands of times in turn", async () => {
  const memory = mailboxMemory();
  const inbox = new Mailbox(memory, "relay"), outbox = new Mailbox(memory, "worker");
  const source = new URL("../../../src/sandbox/child/mailbox.ts", import.meta.url).href;
  const text = `import { Mailbox } from ${JSON.stringify(source)};
    self.onmessage = ({ data }) => {
      const inbox = new Mailbox(data, "worker"), outbox = new Mailbox(data, "relay");
      inbox.enter();
      self.postMessage("up");
      for (let count = 0; count < 1000;) {
        const mail = inbox.wait(1000);
        if (typeof mail === "string") continue;
        outbox.space.set(mail);
        while (!outbox.deliver(mail.length)) if (performance.now() > 60_000) return;
        count++;
      }
    };`;
  const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  const worker = new Worker(url, { type: "module" });
  try {
    const up = new Promise((resolve) => worker.onmessage = resolve);
    worker.postMessage(memory);
    await up;
    inbox.enter();
    const end = performance.now() + 60_000;
    for (let i = 0; i < 1000; i++) {
      outbox.space[0] = i & 255;
      outbox.space[1] = i >> 8;
      while (!outbox.deliver(2)) assert.ok(performance.now() < end, "Cannot deliver");
      let mail = inbox.wait(1000);
      for (let tries = 0; typeof mail === "string" && tries < 60; tries++) mail = inbox.wait(1000);
      assert.deepEqual(mail, new Uint8Array([i & 255, i >> 8]));
    }
  } finally {
    worker.terminate();
    URL.revokeObjectURL(url);
  }
});

Deno.test("Mailbox holds lengths and states that lie to its memory", () => {
  const { sender, reader, memory } = ends();
  const words = new Int32Array(memory, 0, 8);
  for (const length of [-1, MAILBOX_BYTES + 1, 2 ** 31 - 1]) {
    reader.enter();
    assert.equal(sender.deliver(length), true);
    assert.deepEqual(reader.wait(0), new Uint8Array(0));
  }
  for (const state of [-5, 99, 2 ** 31 - 1]) {
    words[0] = state;
    assert.equal(typeof reader.wait(1), "string");
    words[0] = state;
    assert.equal(reader.leave(), null);
  }
});
