import { isChild, isEnd } from "../domain/query/query_event.ts";
import type { QueryEvent } from "../domain/query/query_schemas.ts";

/** The store keeps as many calls of a block. */
const MOST_CALLS = 1_000, TOLD_CALLS = 100;
/** These events do not change the progress of a query. */
const UNSHOWN: readonly QueryEvent["type"][] = ["steering", "usage", "nudge"];

/** The events of the newest step of a query. The events have the same progress as all events of this step, but are
 * fewer, because joined texts and replaced states are one event. */
export class StepEvents {
  readonly #kept = new Map<"started" | "plan", QueryEvent>();
  #events: QueryEvent[] = [];
  #iteration = 0;
  #calls = 0;
  changes = 0;

  get all(): readonly QueryEvent[] {
    return [...this.#kept.values(), ...this.#events];
  }

  add(event: QueryEvent): void {
    if (UNSHOWN.includes(event.type)) return;
    this.changes++;
    if (event.type === "approval_requested" || event.type === "approval_answered") this.#events.push(event);
    else if (isChild(event)) this.#addOfChild(event);
    else if (event.type === "started" || event.type === "plan") this.#kept.set(event.type, event);
    else if (!isEnd(event)) this.#addOwn(event);
  }

  #addOfChild(event: QueryEvent): void {
    if (event.type === "iteration_started") {
      this.#drop((one) => one.type === "iteration_started" && one.queryId === event.queryId);
    } else if (event.type !== "started" && !isEnd(event)) return;
    this.#events.push(event);
  }

  #addOwn(event: QueryEvent): void {
    const { iteration } = event;
    if (iteration !== null && iteration < this.#iteration) return; // Such a call ends after its step.
    if (iteration !== null && iteration > this.#iteration) {
      [this.#iteration, this.#calls, this.#events] = [iteration, 0, []];
    }
    if (event.type === "host_call") return this.#addCall(event);
    if (event.type === "block_started") this.#drop((one) => one.type === "code" && one.block === event.block);
    if (event.type === "answer_draft" && event.again) this.#drop(({ type }) => type === "answer_draft");
    const last = this.#events.at(-1);
    const joined = last ? joinedEvent(last, event) : null;
    if (joined !== null) this.#events.pop();
    this.#events.push(joined ?? event);
  }

  #addCall(event: Extract<QueryEvent, { readonly type: "host_call" }>): void {
    if (event.phase === "end") {
      const begun = this.#events.findIndex((one) =>
        one.type === "host_call" && one.phase === "start" && one.block === event.block && one.name === event.name
      );
      if (begun >= 0) this.#events.splice(begun, 1);
      if (++this.#calls > MOST_CALLS) return;
    }
    const { action: _action, outcome: _outcome, output: _output, hint: _hint, ...short } = event;
    this.#events.push(event.phase === "start" || this.#calls <= TOLD_CALLS ? event : short);
  }

  #drop(isGone: (event: QueryEvent) => boolean): void {
    this.#events = this.#events.filter((event) => !isGone(event));
  }
}

/** Returns null if both events count. */
function joinedEvent(last: QueryEvent, next: QueryEvent): QueryEvent | null {
  if (isChild(last) || last.type !== next.type) return null;
  if (next.type === "call_output" || next.type === "retrying" || next.type === "waiting") return next;
  if (!("delta" in last) || !("delta" in next)) return null;
  if (last.type === "code" && next.type === "code" && last.block !== next.block) return null;
  return { ...next, delta: last.delta + next.delta };
}
