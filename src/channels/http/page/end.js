import { byId } from "./dom.js";

/** So near to the end, in pixels, one is at it. */
const NEAR = 80;
/** What was opened takes a moment until it is drawn. */
const DRAWN_MS = 200;

/** The end of what scrolls: it is kept in view while one is at it, and there is a way back to it. */
export class End {
  #node;
  #runs;
  #isAt = true;
  #asked = false;
  #top = 0;

  /** `runs` says whether more is about to come. */
  constructor(node, { runs }) {
    this.#node = node;
    this.#runs = runs;
    node.addEventListener("scroll", () => this.#measure(), { passive: true });
    node.addEventListener("toggle", ({ target }) => setTimeout(() => this.#opened(target), DRAWN_MS), true);
    new ResizeObserver(() => this.#isAt && !node.querySelector(".hello") && this.show()).observe(node);
    byId("latest").addEventListener("click", () => this.show());
  }

  show() {
    this.#node.scrollTop = this.#node.scrollHeight;
    this.#top = this.#node.scrollTop;
    this.#isAt = true;
  }

  /** Where one is at it: once a frame, however often it is called. */
  keep() {
    if (!this.#isAt || this.#asked) return;
    this.#asked = true;
    requestAnimationFrame(() => {
      this.#asked = false;
      if (this.#isAt) this.show();
    });
  }

  get #below() {
    const { scrollHeight, scrollTop, clientHeight } = this.#node;
    return scrollHeight - scrollTop - clientHeight;
  }

  /** Only who goes up leaves the end: by the time a scroll to it is told of, more may have come below. */
  #measure() {
    const top = this.#node.scrollTop;
    const below = this.#below;
    if (below < 2) this.#isAt = true;
    else if (top !== this.#top) this.#isAt = top > this.#top && (this.#isAt || below < NEAR);
    this.#top = top;
    byId("latest").hidden = (this.#isAt && this.#runs()) || below < this.#node.clientHeight / 2;
  }

  /** What is opened is looked at, wherever the end goes; the work of a query that runs opens by itself. */
  #opened(target) {
    if (target.closest(".running") === null && this.#below > NEAR) this.#isAt = false;
    this.#measure();
  }
}
