import { signal } from "@preact/signals";

/** Distance in pixels that still counts as the end. */
const NEAR = 80;
/** Time until an opened element is drawn. */
const DRAWN_MS = 200;

/** Keeps the end of a scrolling element in view while the user is there, and offers a way back to it. */
export class End {
  /** Whether the end is too far away to be seen. */
  readonly away = signal(false);
  readonly node: HTMLElement;
  readonly #runs: () => boolean;
  #isAt = true;
  #asked = false;
  #top = 0;
  /** Pixels below what was seen when `#top` was measured. */
  #rest = 0;

  /** `runs` reports whether more content is expected. */
  constructor(node: HTMLElement, runs: () => boolean) {
    this.node = node;
    this.#runs = runs;
    const opened = ({ target }: Event) => setTimeout(() => this.#opened(target as Element), DRAWN_MS);
    node.addEventListener("scroll", () => this.#measure(), { passive: true });
    node.addEventListener("toggle", opened, true);
    new ResizeObserver(() => this.#isAt && !node.querySelector(".hello") && this.toEnd()).observe(node);
  }

  toEnd(): void {
    this.node.scrollTop = this.node.scrollHeight;
    this.#top = this.node.scrollTop;
    this.#rest = 0;
    this.#isAt = true;
  }

  /** Scrolls to the end if the user is there: once a frame, however often it is called. */
  keepEnd(): void {
    if (!this.#isAt || this.#asked) return;
    this.#asked = true;
    requestAnimationFrame(() => {
      this.#asked = false;
      if (this.#isAt) this.toEnd();
    });
  }

  get #below(): number {
    const { scrollHeight, scrollTop, clientHeight } = this.node;
    return scrollHeight - scrollTop - clientHeight;
  }

  /** Only scrolling up leaves the end: more content may have been added below before the event of a scroll arrives. What
   * changes the top, but not the distance to the end, is the browser: it keeps a text in place while others above it
   * change their height. */
  #measure(): void {
    const top = this.node.scrollTop;
    const below = this.#below;
    if (below < 2) this.#isAt = true;
    else if (top < this.#top && below > this.#rest) this.#isAt = false;
    else if (top > this.#top && below < this.#rest && below < NEAR) this.#isAt = true;
    this.#top = top;
    this.#rest = below;
    this.away.value = (!this.#isAt || !this.#runs()) && below >= this.node.clientHeight / 2;
  }

  /** An element that the user opens stays in view, wherever the end moves. The work of a running query opens
   * automatically. */
  #opened(target: Element): void {
    if (target.closest(".running") === null && this.#below > NEAR) this.#isAt = false;
    this.#measure();
  }
}
