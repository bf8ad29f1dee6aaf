import { unrefTimer } from "../../domain/kit/time.ts";
import { type Frame, FrameFields, type Header, ProtocolError, wireId } from "../protocol.ts";

const EVERY_MS = 1000, DEAD_AFTER_MS = 2000;

export interface HeartbeatOptions {
  readonly send: (header: Header) => void;
  /** Whether no request to the child is open: a block may keep it busy until its deadline. */
  readonly isIdle: () => boolean;
  readonly onDead: () => void;
  /** Tests set other times. */
  readonly everyMs?: number;
  readonly deadAfterMs?: number;
}

/** Pings an idle child every second in which it sent nothing. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #everyMs: number;
  readonly #deadAfterMs: number;
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #sent = new Map<string, number>();
  #lastTick = performance.now();
  #heard = 0;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#everyMs = options.everyMs ?? EVERY_MS;
    this.#deadAfterMs = options.deadAfterMs ?? DEAD_AFTER_MS;
    this.#timer = setInterval(() => this.#tick(), this.#everyMs);
    unrefTimer(this.#timer);
  }

  /** Handles a `pong` frame. Throws ProtocolError for one without a ping. */
  receive({ header }: Frame): void {
    if (!this.#sent.delete(new FrameFields(header, "pong").id())) {
      throw new ProtocolError("Cannot take a pong that nobody asked for");
    }
  }

  /** Called when the child has answered something else. */
  heard(): void {
    this.#heard = performance.now();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    const now = performance.now();
    // A tick this late means that the main process itself was delayed, which is not the child's fault.
    const late = now - this.#lastTick > this.#everyMs * 1.5;
    this.#lastTick = now;
    const idle = this.#options.isIdle();
    for (const [id, at] of this.#sent) {
      if (late || !idle) this.#sent.set(id, now);
      else if (now - at >= this.#deadAfterMs) return this.#options.onDead();
    }
    if (!idle || this.#sent.size > 0 || now - this.#heard < this.#everyMs) return;
    const id = wireId();
    this.#sent.set(id, now);
    this.#options.send({ t: "ping", id });
  }
}
