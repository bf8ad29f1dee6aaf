import { setTimeout as sleep } from "node:timers/promises";
import { Cancelled, ENDED, UsageError } from "../../domain/errors.ts";
import { REAL_CLOCK, withPatience } from "../../domain/kit/concurrency.ts";
import { beforeEpoch, isOwnEnd } from "../../domain/query/query_event.ts";
import type { QueryEvent } from "../../domain/query/query_schemas.ts";
import type { NodeStore, SharedEvent, Store } from "../../persistence/store.ts";
import { endEvent } from "../stored_events.ts";

/** A notification can be lost, so followers also look at the store at this interval. */
const LOOK_MS = 1_000;

export class Bell {
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>();

  /** A caller must call `next` before it looks at the store, so that it misses no event. */
  next(queryId: string): Promise<void> {
    let waiting = this.#waiting.get(queryId);
    if (!waiting) this.#waiting.set(queryId, waiting = Promise.withResolvers());
    return waiting.promise;
  }

  ring(queryId: string): void {
    this.#waiting.get(queryId)?.resolve();
    this.#waiting.delete(queryId);
  }

  ringAll(): void {
    for (const queryId of [...this.#waiting.keys()]) this.ring(queryId);
  }
}

export async function ringOrLook(ring: Promise<void>, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const timer = REAL_CLOCK.sleep(LOOK_MS, AbortSignal.any([over.signal, signal])).catch(() => {});
  await Promise.race([ring, timer]);
  over.abort(ENDED);
}

interface NumberedQueryEvent {
  readonly number: number;
  readonly event: QueryEvent;
}

const KEPT = 256;

export class LocalEvents {
  readonly before: number;
  readonly #kept: NumberedQueryEvent[] = [];
  #newest: number;
  over = false;

  constructor(epoch: number) {
    this.before = this.#newest = beforeEpoch(epoch);
  }

  add(event: QueryEvent): number {
    const number = ++this.#newest;
    this.#kept.push({ number, event });
    if (this.#kept.length > KEPT) this.#kept.shift();
    return number;
  }

  after(number: number): readonly NumberedQueryEvent[] | null {
    const oldest = this.#newest - this.#kept.length + 1;
    if (number < this.before || number > this.#newest || number + 1 < oldest) return null;
    if (this.over && number === this.#newest) return null;
    return this.#kept.slice(number + 1 - oldest);
  }
}

/** A lost node may not have published the last event. After this number of looks, a follower takes the end from the
 * store. */
const LOOKS_AFTER_END = 2;

interface FollowParts {
  readonly store: Pick<Store, "query">;
  readonly nodes: Pick<NodeStore, "eventsAfter" | "job">;
  readonly bell: Bell;
  readonly local: (queryId: string) => LocalEvents | null;
}

/** Throws `UsageError` for a request that could not begin, and `Cancelled` for a withdrawn request. */
export async function* followQuery(
  queryId: string,
  parts: FollowParts,
  options: { readonly after: number; readonly signal: AbortSignal },
): AsyncGenerator<NumberedQueryEvent> {
  try {
    yield* eventsAfter(queryId, parts, options);
  } finally {
    parts.bell.ring(queryId);
  }
}

async function* eventsAfter(
  queryId: string,
  parts: FollowParts,
  { after, signal }: { readonly after: number; readonly signal: AbortSignal },
): AsyncGenerator<NumberedQueryEvent> {
  let last = after, here: LocalEvents | null = null, looks = 0;
  while (!signal.aborted) {
    const ring = parts.bell.next(queryId);
    here = parts.local(queryId) ?? here;
    const found = here?.after(last) ?? await withPatience(undefined, () => storedAfter(queryId, last, parts));
    for (const one of found) {
      last = one.number;
      yield one;
      if (isOwnEnd(one.event)) return;
    }
    if (found.length > 0) {
      looks = 0;
      continue;
    }
    if (here && last < here.before) last = here.before;
    else {
      if (looks > 0 && !parts.local(queryId)) {
        const patient = looks <= LOOKS_AFTER_END;
        const end = await withPatience(undefined, () => endOf(queryId, last, { parts, patient }));
        if (end) return yield end;
      }
      looks++;
      await ringOrLook(ring, signal);
    }
  }
}

async function storedAfter(
  queryId: string,
  last: number,
  { nodes }: Pick<FollowParts, "nodes">,
): Promise<readonly NumberedQueryEvent[]> {
  const found = await nodes.eventsAfter(queryId, last);
  return found.map(({ number, body }) => {
    const event: QueryEvent | { readonly refused: string } = JSON.parse(body);
    if ("refused" in event) throw new UsageError(event.refused);
    return { number, event };
  });
}

async function endOf(
  queryId: string,
  last: number,
  { parts: { store, nodes }, patient }: { readonly parts: FollowParts; readonly patient: boolean },
): Promise<NumberedQueryEvent | null> {
  if (await nodes.job(queryId)) return null;
  const query = await store.query(queryId);
  if (!query) throw new Cancelled("Cancelled");
  if (query.running || patient) return null;
  const facts = { seq: 0, at: Date.now(), queryId, iteration: null };
  return { number: last + 1, event: { ...facts, ...endEvent(query) } };
}

const AGAIN_MS = 250;
const GATHER_MS = 10;
const MOST_CHARS = 4_000_000;

export class Publisher {
  readonly #store: Pick<NodeStore, "publish">;
  #waiting: SharedEvent[] = [];
  #sending: Promise<void> | null = null;
  #givenUp = false;

  constructor(store: Pick<NodeStore, "publish">) {
    this.#store = store;
  }

  add(event: SharedEvent): void {
    this.#waiting.push(event);
    this.#sending ??= this.#send().finally(() => this.#sending = null);
  }

  /** After this call, the publisher drops events that it cannot send at once. */
  giveUp(): void {
    this.#givenUp = true;
  }

  async sent(): Promise<void> {
    while (this.#sending) await this.#sending;
  }

  async #send(): Promise<void> {
    await Promise.resolve(); // Events that the caller adds in one synchronous step form one batch.
    while (this.#waiting.length > 0) {
      const events = this.#take();
      // The store ignores an event that it already has, so a retry is safe.
      while (!(await this.#store.publish(events).then(() => true, () => this.#givenUp))) await sleep(AGAIN_MS);
      if (!this.#givenUp) await sleep(GATHER_MS);
    }
  }

  #take(): readonly SharedEvent[] {
    let chars = 0;
    const last = this.#waiting.findIndex(({ body }) => (chars += body.length) > MOST_CHARS);
    return this.#waiting.splice(0, last < 0 ? this.#waiting.length : last + 1);
  }
}
