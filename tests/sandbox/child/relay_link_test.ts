import assert from "node:assert/strict";
import { Mailbox, mailboxMemory } from "../../../src/sandbox/child/mailbox.ts";
import type { FromWorker, ToWorker } from "../../../src/sandbox/child/messages.ts";
import { readToWorker } from "../../../src/sandbox/child/mail.ts";
import { RelayLink } from "../../../src/sandbox/child/relay_link.ts";
import { WorkerLink } from "../../../src/sandbox/child/worker_link.ts";
import { ProtocolError, wireId } from "../../../src/sandbox/protocol.ts";

const PAYLOAD = new Uint8Array([1]);
const answer = (id: number) => ({ id, ok: true, payload: PAYLOAD });

/** Both ends in one thread: nobody sleeps, so what is waited for is there already. */
class Ends implements Disposable {
  readonly #memory = mailboxMemory();
  readonly #channel = new MessageChannel();
  /** What came to the relay by either way, and to the worker by the port. */
  readonly toRelay: FromWorker[] = [];
  readonly byPort: ToWorker[] = [];
  readonly relay = new RelayLink({
    port: this.#channel.port1,
    memory: this.#memory,
    onMessage: (message) => this.toRelay.push(message),
  });
  readonly worker = new WorkerLink(this.#channel.port2, this.#memory);
  readonly workersInbox = new Mailbox(this.#memory, "worker");
  readonly relaysInbox = new Mailbox(this.#memory, "relay");

  constructor() {
    this.#channel.port2.onmessage = ({ data }) => {
      this.worker.took();
      this.byPort.push(data);
    };
  }

  /** Until the ports have handed over what they have. */
  async settle(): Promise<void> {
    for (let i = 0; i < 5; i++) await new Promise((done) => setTimeout(done, 1));
  }

  [Symbol.dispose](): void {
    this.#channel.port1.close();
    this.#channel.port2.close();
  }
}

Deno.test("RelayLink sends answers by the port to a worker in its event loop", async () => {
  using ends = new Ends();
  ends.relay.answer(answer(1));
  ends.relay.forward();
  ends.relay.answer(answer(2));
  ends.relay.answer(answer(3));
  ends.relay.forward();
  await ends.settle();
  assert.deepEqual(ends.byPort, [{ t: "answer", ...answer(1) }, { t: "answers", answers: [answer(2), answer(3)] }]);
});

Deno.test("RelayLink keeps answers while the worker has not read the ones before, and sends them when it leaves", async () => {
  using ends = new Ends();
  ends.worker.enter();
  ends.relay.enter();
  for (const id of [1, 2, 3]) {
    ends.relay.answer(answer(id));
    ends.relay.forward();
  }
  assert.equal(ends.relay.hasWork, true);
  assert.deepEqual(Array.from({ length: 1 }, (_, i) => listOf(ends.worker.sleep(0))[i]), [answer(1)]);
  ends.relay.forward();
  assert.deepEqual(listOf(ends.worker.leave()), [answer(2), answer(3)]);
  assert.equal(ends.relay.hasWork, false);
  ends.relay.answer(answer(4));
  ends.relay.leave();
  await ends.settle();
  assert.deepEqual(ends.byPort, [{ t: "answer", ...answer(4) }]);
});

function listOf(mail: ReturnType<WorkerLink["leave"]>): unknown[] {
  if (mail?.t !== "answers") return [];
  return Array.from({ length: mail.answers.length }, (_, i) => mail.answers[i]);
}

Deno.test("RelayLink gives a block to a worker in a turn by the port only", async () => {
  using ends = new Ends();
  const run = {
    t: "run",
    id: wireId(),
    iteration: 0,
    index: 0,
    deadlineMs: 1,
    block: {
      ok: true,
      code: "",
      isAsync: false,
      declarations: [],
      assigned: [],
      reads: [],
      shows: null,
      literal: false,
      repaired: null,
    },
    defined: [],
    file: "block1",
  } as const;
  ends.worker.settle();
  assert.equal(ends.relay.isSettled, true);
  ends.worker.enter();
  ends.relay.post(run);
  assert.equal(ends.relay.isSettled, false);
  assert.equal(ends.worker.leave(), null);
  await ends.settle();
  assert.equal(ends.byPort.length, 1);
});

Deno.test("what the worker says keeps its order over both ways", async () => {
  using ends = new Ends();
  const id = wireId();
  const done: FromWorker = { t: "done", id, more: false, error: null, payload: PAYLOAD };
  const output: FromWorker = { t: "output", run: id, stream: 1, dropped: 0, payload: PAYLOAD };
  ends.relay.enter();
  ends.worker.post(output);
  ends.worker.post(done); // by the port too: the one before has not been taken
  assert.equal(ends.relay.hasPosted, true);
  ends.relay.leave();
  await ends.settle();
  assert.deepEqual(ends.toRelay.map(({ t }) => t), ["output", "done"]);
  ends.relay.enter();
  ends.worker.post(done);
  assert.equal(ends.relay.hasPosted, false);
  ends.relay.leave();
  assert.equal(ends.toRelay.length, 3);
});

Deno.test("RelayLink refuses mail that is none with ProtocolError", () => {
  using ends = new Ends();
  ends.relay.enter();
  ends.relaysInbox.space.fill(255);
  assert.equal(ends.relaysInbox.deliver(10), true);
  assert.throws(() => ends.relay.listen(0), ProtocolError);
  assert.equal(ends.toRelay.length, 0);
  ends.workersInbox.enter();
  assert.throws(() => readToWorker(new Uint8Array([3, 1, 0, 0, 0])), ProtocolError);
});
