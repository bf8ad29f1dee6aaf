import { setImmediate } from "node:timers";
import type { FrameReader } from "../protocol.ts";
import { fail } from "./fail.ts";
import type { FrameWriter } from "./frame_writer.ts";
import type { Relay } from "./relay.ts";
import type { Wire } from "./wire.ts";

const READ_BYTES = 256 << 10;
/** Timers of this thread come that much later. */
const STAY_MS = 20;
/** A worker that sleeps sends nothing; one that has answered may. */
const SLEEPING_MS = 5, IDLE_MS = 2, BUSY_MS = 1;
/** The event loop has a turn that often, although it has nothing to do. */
const QUIET_MS = 1000;

export interface ServeOptions {
  readonly wire: Wire;
  readonly reader: FrameReader;
  readonly writer: FrameWriter;
  readonly relay: Relay;
}

/** Passes on what comes from the main process until its end, and then ends the child. */
export async function serve(options: ServeOptions): Promise<never> {
  const buffer = new Uint8Array(READ_BYTES);
  try {
    for (let got = await read(options, buffer); got !== null; got = await read(options, buffer)) {
      if (!stay(options, buffer, got)) break;
    }
    Deno.exit(0);
  } catch (error) {
    fail(String(error));
  }
}

/** The next bytes, null at the end of input. While nothing goes on, nothing wakes the event loop either: then the thread
 * sleeps until there is input, which saves it the two hops of a read beside. */
async function read({ wire, writer, relay }: ServeOptions, buffer: Uint8Array): Promise<number | null> {
  while (wire.canWait && relay.isQuiet && !writer.isBusy) {
    if (wire.waits(QUIET_MS)) return wire.readSync(buffer);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return await wire.read(buffer);
}

/**
 * Messages come in quick succession: each side asks the other and waits. So this thread stays awake for a moment and
 * waits for the side whose turn it is, which saves the turns of the event loop on the way. False at the end of input.
 */
function stay({ wire, reader, relay }: ServeOptions, buffer: Uint8Array, first: number): boolean {
  const take = (got: number): void => {
    reader.push(buffer.subarray(0, got), (frame) => relay.receive(frame));
    relay.link.forward();
  };
  const until = performance.now() + STAY_MS;
  relay.link.enter();
  try {
    take(first);
    while (wire.canWait && performance.now() < until && !relay.link.hasPosted) {
      const turn = reader.inFrame ? "idle" : relay.turn;
      if (turn === "worker") {
        if (!relay.link.listen(BUSY_MS)) break;
      } else {
        if (relay.isQuiet || !wire.waits(turn === "sleeping" ? SLEEPING_MS : IDLE_MS)) break;
        const got = wire.readSync(buffer);
        if (got === null) return false;
        take(got);
      }
    }
  } finally {
    relay.link.leave();
  }
  return true;
}
