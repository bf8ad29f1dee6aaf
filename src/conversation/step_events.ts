import { isChild, isEnd } from "../domain/query/query_event.ts";
import type { QueryEvent } from "../domain/query/query_schemas.ts";

const MOST_CALLS = 1_000, TOLD_CALLS = 100;
/** The store has the messages, and a follower in another process shows no nudges. */
const UNSHOWN: readonly QueryEvent["type"][] = ["steering", "nudge"];

export class StepEvents {
  readonly #kept = new Map<QueryEvent["type"], QueryEvent>();
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
    else if (isKept(event)) this.#kept.set(event.type, event);
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
    if (iteration !== null && iteration < this.#iteration) return;
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

type Kept = Extract<QueryEvent, { readonly type: "started" | "plan" | "usage" }>;

function isKept(event: QueryEvent): event is Kept {
  return event.type === "started" || event.type === "plan" || event.type === "usage";
}

function joinedEvent(last: QueryEvent, next: QueryEvent): QueryEvent | null {
  if (isChild(last) || last.type !== next.type) return null;
  if (next.type === "call_output" || next.type === "retrying" || next.type === "waiting") return next;
  if (!("delta" in last) || !("delta" in next)) return null;
  if (last.type === "code" && next.type === "code" && last.block !== next.block) return null;
  return { ...next, delta: last.delta + next.delta };
}

type Delta = Extract<QueryEvent, { readonly delta: string }>;

/** A follower of another process gets the same step several times: in each shared list, and in the rows of the store.
 * Each list begins with the start of the step. */
export class UnseenEvents {
  readonly #kept = new Map<Kept["type"], string>();
  readonly #counts = new Map<string, number>();
  readonly #texts = new Map<string, string>();

  /** Null replaces an event that an earlier list contained. A text that has grown becomes only its new end. */
  of(events: readonly QueryEvent[]): readonly (QueryEvent | null)[] {
    const step = Math.max(0, ...events.map((event) => isChild(event) ? 0 : event.iteration ?? 0));
    const list = { step, counts: new Map<string, number>(), texts: new Map<string, string>() };
    const found = events.map((event) => this.#unseen(event, list));
    for (const known of [this.#counts, this.#texts]) {
      for (const key of known.keys()) if (Number.parseInt(key) < step) known.delete(key);
    }
    return found;
  }

  #unseen(event: QueryEvent, list: { readonly step: number } & Lists): QueryEvent | null {
    if (isChild(event)) return this.#isNext(`${list.step} ${event.queryId} ${keyOf(event)}`, list) ? event : null;
    if ("delta" in event) return this.#unseenText(event, list);
    if (isKept(event)) {
      const { at: _at, seq: _seq, iteration: _iteration, ...body } = event;
      const text = JSON.stringify(body);
      const isKnown = this.#kept.get(event.type) === text;
      this.#kept.set(event.type, text);
      return isKnown ? null : event;
    }
    if (event.type !== "host_call" || event.phase === "start") return this.#isNext(keyOf(event), list) ? event : null;
    const isNext = this.#isNext(keyOf(event), list);
    const diffs = event.diffs?.filter(() => this.#isNext(`${event.iteration} diff ${event.block}`, list)) ?? [];
    const { diffs: _all, ...rest } = event;
    return isNext ? { ...rest, ...diffs.length > 0 ? { diffs } : {} } : null;
  }

  #isNext(key: string, { counts }: Lists): boolean {
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (count <= (this.#counts.get(key) ?? 0)) return false;
    this.#counts.set(key, count);
    return true;
  }

  #unseenText(event: Delta, list: Lists): QueryEvent | null {
    const key = keyOf(event);
    const { again = false, ...piece } = { again: false, ...event };
    const text = again ? event.delta : (list.texts.get(key) ?? "") + event.delta;
    list.texts.set(key, text);
    const seen = this.#texts.get(key) ?? "";
    const isWithdrawn = again && this.#isNext(`${event.iteration} again ${event.seq}`, list);
    if (seen.startsWith(text) && !isWithdrawn) return null;
    this.#texts.set(key, text);
    if (text.startsWith(seen) && !isWithdrawn) return { ...piece, delta: text.slice(seen.length) };
    return piece.type === "answer_draft" ? { ...piece, delta: text, again: true } : null;
  }
}

interface Lists {
  readonly counts: Map<string, number>;
  readonly texts: Map<string, string>;
}

/** Events of two lists with the same key are the same event if they have the same place among the events of this key. */
function keyOf(event: QueryEvent): string {
  const { type, iteration, seq } = event;
  if (type === "approval_requested" || type === "approval_answered") return `${type} ${event.id}`;
  const isPassing = type === "retrying" || type === "waiting" || type === "call_output" ||
    type === "host_call" && event.phase === "start";
  return `${iteration} ${type} ${"block" in event ? event.block : ""} ${isPassing ? seq : ""}`;
}
