import type { FrameReader } from "../protocol.ts";
import { fail } from "./fail.ts";
import type { Relay } from "./relay.ts";
import type { Wire } from "./wire.ts";

const READ_BYTES = 256 << 10;
/** Timers of this thread come that much later. */
const STAY_MS = 20;
/** A worker that sleeps sends nothing; one that has answered may. */
const SLEEPING_MS = 5, IDLE_MS = 2, BUSY_MS = 1;

export interface ServeOptions {
  readonly wire: Wire;
  readonly reader: FrameReader;
  readonly relay: Relay;
}

/** Passes on what comes from the main process until its end, and then ends the child. */
export async function serve(options: ServeOptions): Promise<never> {
  const { wire } = options;
  const buffer = new Uint8Array(READ_BYTES);
  try {
    for (let got = await wire.read(buffer); got !== null; got = await wire.read(buffer)) {
      if (!stay(options, buffer, got)) break;
    }
    Deno.exit(0);
  } catch (error) {
    fail(String(error));
  }
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
        if (!wire.waits(turn === "sleeping" ? SLEEPING_MS : IDLE_MS)) break;
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
