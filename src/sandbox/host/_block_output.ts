import { cleanText } from "./clean_text.ts";
import { type Frame, FrameFields, MAX_OUTPUT_BYTES, OUTPUT_FRAMES_PER_SECOND, ProtocolError } from "../protocol.ts";
import type { SandboxOptions } from "../sandbox.ts";

/** Frames at the end of a block may arrive at once. */
const BURST = 40;
const SMALLEST_FULL_FRAME = 16 << 10;

/** What one block printed, up to the limit. */
export class BlockOutput {
  readonly #cap: number;
  readonly #onOutput: SandboxOptions["onOutput"];
  readonly #begun = performance.now();
  readonly #texts = { 1: "", 2: "" };
  #frames = 0;
  #chars = 0;

  constructor(cap: number, onOutput: SandboxOptions["onOutput"]) {
    this.#cap = cap;
    this.#onOutput = onOutput;
  }

  get stdout(): string {
    return this.#texts[1];
  }

  get stderr(): string {
    return this.#texts[2];
  }

  /** Handles an `output` frame of this block's run. Throws ProtocolError above what a child may send. */
  receive({ header, payload }: Frame): void {
    const stream = new FrameFields(header, "output").oneOf("stream", [1, 2]);
    if (payload.length > MAX_OUTPUT_BYTES) throw new ProtocolError(`Cannot take output of ${payload.length} bytes`);
    const seconds = (performance.now() - this.#begun) / 1000;
    const most = BURST + this.#cap / SMALLEST_FULL_FRAME + seconds * OUTPUT_FRAMES_PER_SECOND;
    if (++this.#frames > most) throw new ProtocolError("Cannot take so many output messages");
    const text = new TextDecoder().decode(payload);
    this.#chars += text.length;
    if (this.#chars > this.#cap) throw new ProtocolError("Cannot take more output than a block may keep");
    const clean = cleanText(text);
    this.#texts[stream] += clean;
    this.#onOutput?.({ stream, text: clean });
  }
}
