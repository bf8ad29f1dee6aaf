import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import {
  type ApprovalAnswer,
  approvalBeginning,
  approvalChange,
  approvalChoices,
  approvalExact,
  type ApprovalQuestion,
  approvalScope,
  approvalTitle,
  approvalWhy,
} from "../../domain/query/approval.ts";
import type { Decision } from "../../domain/query/outcomes.ts";
import { Button } from "../parts/controls.tsx";
import { DiffView } from "../parts/texts.tsx";
import { elements } from "../store/state.ts";
import { putRequest } from "./composer.tsx";

const PAUSE_MS = 300;
const BUTTON_CHARS = 72, NARROW_PX = 480, NARROW_CHARS = 48;

export function Question({ question, answer }: {
  readonly question: ApprovalQuestion;
  readonly answer: (given: ApprovalAnswer) => void;
}): JSX.Element {
  const node = useRef<HTMLElement>(null);
  const reason = useRef<HTMLInputElement>(null);
  const why = approvalWhy(question);
  const exact = approvalExact(question);
  const beginning = approvalBeginning(question);
  const most = innerWidth < NARROW_PX ? NARROW_CHARS : BUTTON_CHARS;
  const scope = approvalScope(question, (text) => text.length <= most);
  const choices = approvalChoices(scope === "" ? question : { ...question, scope: "all of this" });
  const choose = (decision: Decision): void =>
    answer({ decision, reason: decision === "no" ? reason.current?.value.trim() ?? "" : "" });
  const choice = (decision: Decision, kind: string): readonly JSX.Element[] =>
    choices.filter((one) => one.decision === decision).map(({ key, text }) => (
      <Button
        key={key}
        class={kind}
        aria-keyshortcuts={key}
        run={() => choose(decision)}
      >
        {text.replace(/^./, (letter) => letter.toUpperCase())}
        <kbd aria-hidden="true">{key}</kbd>
      </Button>
    ));
  useLayoutEffect(() => {
    const keys = new AbortController();
    const letters = new Map(choices.map(({ key, decision }) => [key, decision]));
    listenTo(letters, { signal: keys.signal, choose, node: () => node.current });
    return () => keys.abort();
  }, []);
  return (
    <section class="question" aria-label="Vis asks" ref={node}>
      <p class="plain">{approvalTitle(question)}</p>
      {exact !== "" && <pre>{exact}</pre>}
      <DiffView text={approvalChange(question)} whole />
      {[why, beginning, scope].map((text) => text && <p class="said">{text}</p>)}
      <p class="choices">
        {choice("once", "primary")}
        {choice("conversation", "")}
        {choice("workspace", "")}
      </p>
      <p class="choices">
        {choice("no", "danger")}
        <input type="text" maxLength={1000} aria-label="Why not" placeholder="Why not (optional)" ref={reason} />
      </p>
    </section>
  );
}

/** The user may be typing when the question appears, so a letter counts only if the question was there for `PAUSE_MS`,
 * and no other key follows within `PAUSE_MS`. */
function listenTo(letters: ReadonlyMap<string, Decision>, { signal, choose, node }: {
  readonly signal: AbortSignal;
  readonly choose: (decision: Decision) => void;
  readonly node: () => HTMLElement | null;
}): void {
  const since = performance.now();
  const held: { timer: ReturnType<typeof setTimeout> | undefined } = { timer: undefined };
  const onKey = (event: KeyboardEvent): void => {
    clearTimeout(held.timer);
    const decision = letters.get(event.key);
    if (decision === undefined || !isFree(event) || performance.now() - since < PAUSE_MS) return;
    held.timer = setTimeout(() => {
      const area = elements.request.current;
      if (area?.value === event.key && event.target === area) putRequest("");
      else if (event.target === area) return;
      if (inSight(node())) choose(decision);
      else node()?.scrollIntoView({ block: "end" });
    }, PAUSE_MS);
  };
  addEventListener("keydown", onKey, { signal });
  signal.addEventListener("abort", () => clearTimeout(held.timer));
}

function isFree({ target, ctrlKey, metaKey, altKey, isComposing, repeat }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey || isComposing || repeat || document.querySelector("dialog[open]")) return false;
  if (target === elements.request.current) return elements.request.current?.value === "";
  return !(target instanceof Element && target.matches("input, select, textarea"));
}

function inSight(node: HTMLElement | null): boolean {
  const [box, frame] = [node?.getBoundingClientRect(), elements.thread.current?.getBoundingClientRect()];
  if (box === undefined || frame === undefined) return false;
  // If a question is longer than the window, its end suffices, because the end repeats the beginning.
  return box.bottom <= frame.bottom + 1 && (box.top >= frame.top || box.height > frame.height);
}
