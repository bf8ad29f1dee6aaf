import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { drawn } from "../store/drawn.ts";
import { elements } from "../store/elements.ts";
import { type LiveStep, shownStored } from "../store/shown_step.ts";
import { BOX_STEPS, type StepBox } from "../store/step_box.ts";
import type { Turn } from "../store/turn.ts";
import { StepView } from "./step.tsx";

/** The steps of a query. Only those near the viewport are on the page; the others are empty boxes of their height,
 * filled from the server when they come near. */
export function Steps({ turn }: { readonly turn: Turn }): JSX.Element {
  const live = useRef<HTMLDivElement>(null);
  const count = turn.live.value.length;
  useLayoutEffect(() => {
    if (count <= 2 * BOX_STEPS + 5) return;
    const nodes = [...live.current?.children ?? []].slice(0, BOX_STEPS) as HTMLElement[];
    turn.putAway(nodes.reduce((sum, { offsetHeight }) => sum + offsetHeight, 0));
  }, [count]);
  return (
    <div class="steps">
      <div>{turn.boxes.value.map((box) => <Box key={box.from} box={box} turn={turn} />)}</div>
      <div ref={live}>{turn.live.value.map((one) => <Live key={one.number} live={one} turn={turn} />)}</div>
    </div>
  );
}

/** Drawn anew with each event of its step, and of no other. */
function Live({ live, turn }: { readonly live: LiveStep; readonly turn: Turn }): JSX.Element {
  void live.changes.value;
  return <StepView step={live.shown} turn={turn} />;
}

function Box({ box, turn }: { readonly box: StepBox; readonly turn: Turn }): JSX.Element {
  const node = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const { current } = node;
    if (current === null) return;
    const seen = new IntersectionObserver((entries) => {
      if (entries.at(-1)?.isIntersecting) void box.fill();
      else if (!current.contains(document.activeElement)) box.leave(current.offsetHeight);
    }, { root: elements.thread.current, rootMargin: "1200px 0px" });
    seen.observe(current);
    return () => seen.disconnect();
  }, [box]);
  const items = box.items.value;
  return (
    <div class="page" data-from={box.from} ref={node} style={{ minHeight: items ? "0" : `${box.height.value}px` }}>
      {items?.map((item) => <StepView key={item.iteration} step={shownStored(item)} turn={turn} />)}
      {box.fault.value !== "" && <p class="reason">{box.fault.value}</p>}
    </div>
  );
}

/** Scrolls a step into view. */
export async function revealStep(turn: Turn, number: number): Promise<void> {
  turn.showSteps(true);
  await drawn();
  const from = Math.floor((number - 1) / BOX_STEPS) * BOX_STEPS;
  const box = turn.boxes.value.find((one) => one.from === from);
  if (box) {
    turn.node?.querySelector(`[data-from="${from}"]`)?.scrollIntoView({ block: "start" });
    await box.fill();
    await drawn();
  }
  const node = turn.node?.querySelector(`[data-step="${number}"]`);
  node?.scrollIntoView({ block: "start" });
  node?.querySelector("button")?.focus({ preventScroll: true });
}
