import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { End } from "../parts/end.ts";
import { drawn } from "../store/drawn.ts";
import { elements } from "../store/elements.ts";
import { guarded } from "../store/entry.ts";
import { thread } from "../store/thread_shown.ts";
import { Hello } from "./hello.tsx";
import { revealStep } from "./steps.tsx";
import { TurnView } from "./turn.tsx";

/** Most pages of turns to fetch when looking for one. */
const MAX_PAGES = 20;
const end = signal<End | null>(null);

/** The requests of the open conversation and their results. */
export function ThreadView(): JSX.Element {
  useLayoutEffect(() => {
    const { current } = elements.thread;
    if (current === null) return;
    thread.scroller = end.value = new End(current, () => thread.running.value);
  }, []);
  return (
    <section id="thread" aria-label="Conversation" tabIndex={0} ref={elements.thread}>
      <Content />
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
          {turns.map((turn, at) => <TurnView key={turn.key} turn={turn} last={at === turns.length - 1} />)}
        </>
      );
  }
}

/** The way back to the end. */
export function Latest(): JSX.Element {
  const isAway = end.value?.away.value ?? false;
  return (
    <Button id="latest" hidden={!isAway || thread.shows.value !== "turns"} run={() => end.value?.toEnd()}>
      ↓ Latest
    </Button>
  );
}

/** Scrolls a query, or one of its steps, into view; fetches older ones until it is found. */
export async function reveal(queryId: string, step: number): Promise<void> {
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const turn = thread.turns.value.find((one) => one.queryId === queryId);
    if (turn) {
      await drawn();
      turn.node?.scrollIntoView({ block: "start" });
      if (step > 0) await revealStep(turn, step);
      return;
    }
    if (thread.earlier.value === 0) return;
    await thread.more();
  }
  throw new Error("Cannot show this request: it is too far back");
}
