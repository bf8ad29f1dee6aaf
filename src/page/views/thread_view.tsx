import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { Button } from "../parts/controls.tsx";
import { drawn, elements, guarded, newFolder } from "../store/state.ts";
import { thread } from "../store/thread.ts";
import { putRequest } from "./composer.tsx";
import { revealStep } from "./steps.tsx";
import { TurnView } from "./turn_view.tsx";

const MAX_PAGES = 20;
const end = signal<End | null>(null);

export function ThreadView(): JSX.Element {
  useLayoutEffect(() => {
    const { current } = elements.thread;
    if (current === null) return;
    thread.scroller = end.value = new End(current, () => thread.running.value);
  }, []);
  return (
    <section id="thread" aria-label="Conversation" tabIndex={0} ref={elements.thread}>
      <div>
        <Content />
      </div>
    </section>
  );
}

function Content(): JSX.Element | null {
  const turns = thread.turns.value;
  const earlier = thread.earlier.value;
  switch (thread.shows.value) {
    case "nothing":
      return <Hello />;
    case "loading":
      return <p class="wait">Loading…</p>;
    case "fault":
      return (
        <div class="wait">
          <Button run={() => guarded(() => thread.open(thread.id.value ?? ""))}>Try again</Button>
        </div>
      );
    case "turns":
      if (turns.length === 0) return thread.running.value ? null : <p class="wait">No requests yet</p>;
      return (
        <>
          {earlier > 0 && (
            <Button class="earlier" run={() => guarded(() => thread.more())}>
              {`Show earlier requests (${earlier.toLocaleString()})`}
            </Button>
          )}
          {turns.map((turn, at) => (
            <TurnView key={turn.key} turn={turn} last={thread.isServed.value && at === turns.length - 1} />
          ))}
        </>
      );
  }
}

export function Latest(): JSX.Element {
  const isAway = end.value?.away.value ?? false;
  return (
    <Button id="latest" hidden={!isAway || thread.shows.value !== "turns"} run={() => end.value?.toEnd()}>
      ↓ Latest
    </Button>
  );
}

export async function reveal(queryId: string, step: number): Promise<void> {
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const turn = thread.turns.value.find((one) => one.queryId === queryId);
    if (turn) {
      await drawn();
      (step < 0 && turn.node?.querySelector(".answer") || turn.node)?.scrollIntoView({ block: "start" });
      if (step > 0) await revealStep(turn, step);
      return;
    }
    if (thread.earlier.value === 0) return;
    await thread.more();
  }
  const { length } = thread.turns.value;
  throw new Error(`Cannot show this request: it is not among the latest ${length}; press “Show earlier requests”`);
}

const IDEAS = [
  "What is in this folder, and what is each part for?",
  "Find the longest functions and suggest which to split",
  "Which dependencies are no longer used?",
];

function Hello(): JSX.Element {
  return (
    <div class="hello">
      <h2>What should Vis do?</h2>
      <p>
        Vis reads, changes and runs code in <code>{newFolder()}</code>
      </p>
      <p>You see each step, and can undo changes of files.</p>
      <div class="ideas">
        {IDEAS.map((text) => <Button class="idea" run={() => putRequest(text)}>{text}</Button>)}
      </div>
    </div>
  );
}

const NEAR = 80;

class End {
  readonly away = signal(false);
  readonly node: HTMLElement;
  readonly #runs: () => boolean;
  #isAt = true;
  #asked = false;
  #top = 0;
  #rest = 0;

  constructor(node: HTMLElement, runs: () => boolean) {
    this.node = node;
    this.#runs = runs;
    node.addEventListener("scroll", () => this.#measure(), { passive: true });
    node.addEventListener("click", ({ target }) => this.#clicked(target as Element), true);
    // The observer moves the end in the frame of a change, because a later scroll event could look like an event of the
    // user.
    const sizes = new ResizeObserver(() => {
      if (this.#isAt && !node.querySelector(".hello")) this.toEnd();
      this.#measure();
    });
    sizes.observe(node);
    if (node.firstElementChild) sizes.observe(node.firstElementChild);
  }

  toEnd(): void {
    this.node.scrollTop = this.node.scrollHeight;
    this.#top = this.node.scrollTop;
    this.#rest = 0;
    this.#isAt = true;
  }

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

  /** Content may grow below before a scroll event arrives, so only scrolling up counts as leaving the end. The browser may
   * change the top but not the distance to the end. */
  #measure(): void {
    const top = this.node.scrollTop;
    const below = this.#below;
    if (below < 2) this.#isAt = true;
    else if (top < this.#top && below > this.#rest) this.#isAt = false;
    // Heights have fractions, so a difference below one pixel does not count.
    else if (top > this.#top && below < this.#rest - 1 && below < NEAR) this.#isAt = true;
    this.#top = top;
    this.#rest = below;
    this.away.value = (!this.#isAt || !this.#runs()) && below >= this.node.clientHeight / 2;
  }

  /** If the user opens a part, it grows below its heading, and the heading stays in place. */
  #clicked(target: Element): void {
    if (target.closest("summary, .more") !== null) this.#isAt = false;
  }
}
