/** Time between two frames of streaming content, and the multiple of a frame's cost that is left for everything
 * else. */
const FRAME_MS = 33;
const SPARE = 4;
/** Update interval of the time shown beside a running query. */
const TICK_MS = 250;

/** Schedules redraws: soon after a change, batching changes, and at intervals while something runs. Without changes
 * nothing is drawn. */
export class Painter {
  readonly #draw: () => void;
  readonly #cost: () => number;
  #drawing: ReturnType<typeof setTimeout> | null = null;
  #ticking: ReturnType<typeof setInterval> | null = null;

  /** `cost`: milliseconds of the last redraw. */
  constructor({ draw, cost }: { readonly draw: () => void; readonly cost: () => number }) {
    this.#draw = draw;
    this.#cost = cost;
  }

  soon(): void {
    this.#drawing ??= setTimeout(() => {
      this.#drawing = null;
      this.#draw();
    }, Math.max(FRAME_MS, SPARE * this.#cost()));
  }

  /** Starts or stops the updates of the time. */
  tick(runs: boolean): void {
    if (runs) this.#ticking ??= setInterval(this.#draw, TICK_MS);
    else if (this.#ticking !== null) {
      clearInterval(this.#ticking);
      this.#ticking = null;
    }
  }

  stop(): void {
    this.tick(false);
    if (this.#drawing !== null) clearTimeout(this.#drawing);
    this.#drawing = null;
  }
}
