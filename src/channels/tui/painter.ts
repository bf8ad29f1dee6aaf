/** Between two frames of what streams in, and how many times the cost of one frame is left for everything else. */
const FRAME_MS = 33;
const SPARE = 4;
/** Time that is shown beside a running query. */
const TICK_MS = 250;

/** When the screen is drawn: soon after a change, many changes at once, and at times while something runs. Nothing is drawn
 * where nothing changes. */
export class Painter {
  readonly #draw: () => void;
  readonly #cost: () => number;
  #drawing: ReturnType<typeof setTimeout> | null = null;
  #ticking: ReturnType<typeof setInterval> | null = null;

  /** `cost`: milliseconds of the last drawing. */
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

  /** Whether time passes on the screen. */
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
