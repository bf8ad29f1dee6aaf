import { element } from "./dom.js";
import { Step } from "./step.js";

const PAGE = 20;
/** Estimated height of a step before it is first shown. */
const STEP_PX = 180;

/** The steps of a query. Only those near the viewport are on the page; the others are empty boxes of their height,
 * filled from the server when they come near. */
export class Steps {
  #pages = element("div");
  #live = element("div");
  #steps = new Map();
  #boxes = new Map();
  #seen;
  #given;
  node = element("div", { class: "steps", children: [this.#pages, this.#live] });

  /** `load` returns the stored iterations after a number; `root` is the scrolling element; `actions` are those of a
   * step. */
  constructor({ load, root, actions }) {
    this.#given = { load, actions };
    const near = (entries) => entries.forEach(({ target, isIntersecting }) => void this.#near(target, isIntersecting));
    this.#seen = new IntersectionObserver(near, { root, rootMargin: "1200px 0px" });
  }

  clear() {
    this.#seen.disconnect();
    this.#steps.clear();
    this.#boxes.clear();
    this.#pages.replaceChildren();
    this.#live.replaceChildren();
  }

  /** For a query that has ended: all its steps are on the server. */
  stored(count) {
    for (let from = 0; from < count; from += PAGE) this.#box(from, Math.min(PAGE, count - from) * STEP_PX);
  }

  /** The step of a running iteration; much earlier ones are removed from the page. */
  at(number) {
    const known = this.#steps.get(number);
    if (known) return known;
    const step = new Step(number, this.#given.actions);
    this.#steps.set(number, step);
    this.#live.append(step.node);
    if (this.#steps.size > 2 * PAGE + 5) this.#putAway();
    return step;
  }

  /** Scrolls a step into view. */
  async reveal(number) {
    const box = this.#boxes.get(Math.floor((number - 1) / PAGE) * PAGE);
    if (box) {
      box.node.scrollIntoView({ block: "start" });
      await this.#fill(box);
    }
    const node = this.node.querySelector(`[data-step="${CSS.escape(number)}"]`);
    node?.scrollIntoView({ block: "start" });
    node?.querySelector("button")?.focus({ preventScroll: true });
  }

  #putAway() {
    const [first] = this.#steps.keys();
    const from = Math.floor((first - 1) / PAGE) * PAGE;
    let height = 0;
    for (const [number, { node }] of this.#steps) {
      if (number > from + PAGE) break;
      height += node.offsetHeight;
      node.remove();
      this.#steps.delete(number);
    }
    this.#box(from, height);
  }

  #box(from, height) {
    const node = element("div", { class: "page" });
    node.style.minHeight = `${height}px`;
    const box = { from, node, filling: null };
    this.#boxes.set(from, box);
    node.dataset.from = from;
    this.#pages.append(node);
    this.#seen.observe(node);
  }

  async #near(node, isNear) {
    const box = this.#boxes.get(Number(node.dataset.from));
    if (!box) return;
    if (isNear) return await this.#fill(box);
    if (box.filling === null || node.contains(document.activeElement)) return;
    node.style.minHeight = `${node.offsetHeight}px`;
    box.filling = null;
    node.replaceChildren();
  }

  async #fill(box) {
    box.filling ??= this.#load(box);
    await box.filling;
  }

  async #load(box) {
    try {
      const items = await this.#given.load(box.from, PAGE);
      if (box.filling === null) return; // it went out of view meanwhile
      box.node.replaceChildren(...items.map((item) => Step.stored(item, this.#given.actions).node));
      box.node.style.minHeight = "0";
    } catch (error) {
      box.filling = null;
      box.node.replaceChildren(element("p", { class: "reason", text: error.message }));
    }
  }
}
