import assert from "node:assert/strict";
import type { FrameWriter } from "../../../../src/sandbox/child/relay/frame_writer.ts";
import { Relay } from "../../../../src/sandbox/child/relay/relay.ts";
import { ALL_WALLS, type Setup } from "../../../../src/sandbox/child/setup/setup.ts";
import { encode } from "../../../../src/sandbox/codec/codec.ts";
import { type Header, PROTOCOL_VERSION, wireId } from "../../../../src/sandbox/protocol.ts";

const DEADLINE_MS = 400;
const SETUP: Setup = {
  version: PROTOCOL_VERSION,
  walls: ALL_WALLS,
  parentPid: 0,
  memoryBytes: 1,
  outputBytes: 1,
  previewChars: 1,
  graceMs: 0,
  functions: [],
  untimed: [],
  access: { globals: [], net: [], ports: [], read: [], write: [], env: [], workspace: "" },
};

Deno.test("Relay reports a run as stuck at its deadline, but none whose foreign code has ended", async () => {
  const { port1, port2 } = new MessageChannel();
  const frames: Header[] = [];
  const waiting = new Map<string, () => void>();
  const sent = (t: string): Promise<void> => new Promise((resolve) => waiting.set(t, resolve));
  const writer = {
    send: (header: Header) => {
      frames.push(header);
      waiting.get(header.t)?.();
    },
  } as unknown as FrameWriter;
  const loadSucrase = () => assert.fail("the blocks are plain JavaScript");
  const relay = new Relay({ setup: SETUP, writer, port: port1, loadSucrase });
  const run = (id: string): void =>
    relay.receive({ header: { t: "run", id, iteration: 0, index: 0, deadlineMs: DEADLINE_MS }, payload: encode("1") });
  try {
    const [settled, stuck] = [wireId(), wireId()];
    run(settled);
    port2.postMessage({ t: "settled", id: settled });
    const pong = sent("pong");
    port2.postMessage({ t: "pong", id: wireId() });
    await pong;
    const last = sent("stuck");
    run(stuck);
    await last;
    assert.deepEqual(frames.filter(({ t }) => t === "stuck"), [{ t: "stuck", id: stuck }]);
  } finally {
    port1.close();
    port2.close();
  }
});
