/** Processes exchange messages about a running query through global states of the tenant. */

import { ENDED, messageOf } from "../domain/errors.ts";
import { abortable, type Clock, REAL_CLOCK, unrefTimer } from "../domain/kit/concurrency.ts";
import { newId } from "../domain/kit/ids.ts";
import type { ApprovalAnswer, ApprovalQuestion, Approve } from "../domain/query/approval.ts";
import type { StoredQuery } from "../domain/query/stored_query.ts";
import type { StateStore } from "../domain/records/extension_state.ts";
import type { Log } from "../logging/log.ts";
import type { Branch, Store } from "../persistence/store.ts";
import { readSettled } from "./stored_conversations.ts";
import { WaitingQuestions } from "./ask_options.ts";

/** The namespace of an extension cannot have a slash. */
const PLACE = { namespace: "vis/messages", branchId: null } as const;
const MOST = 1_000;
const LOOK_MS = 500;
const ANSWER_LOOK_MS = 200;
/** A killed process may have left messages, so Vis deletes messages older than this. */
const KEPT_MS = 24 * 3_600_000;

/** `done` is null until the process of the query has carried out or refused the message. */
interface StoredMessage {
  readonly kind: "steer" | "cancel" | "answer";
  readonly body: string;
  readonly done: boolean | null;
}

function keyOf(branchId: string, id: string): string {
  return `${branchId} ${id}`;
}

async function read(states: StateStore, key: string): Promise<StoredMessage | null> {
  // Only this file writes these states, so the cast is safe.
  return (await states.get(PLACE, { key }))?.value as StoredMessage | undefined ?? null;
}

export class OtherProcesses {
  readonly #store: Store;
  readonly #storeOf: (branch: Branch) => Store;
  readonly #clock: Clock;

  constructor(store: Store, { storeOf, clock = REAL_CLOCK }: {
    readonly storeOf: (branch: Branch) => Store;
    readonly clock?: Clock;
  }) {
    this.#store = store;
    this.#storeOf = storeOf;
    this.#clock = clock;
  }

  async steer(branch: Branch, text: string, signal?: AbortSignal): Promise<boolean> {
    const query = await this.#running(branch);
    return query !== null && await this.#send(branch, { kind: "steer", body: text }, { query, signal });
  }

  async cancel(conversationId: string): Promise<number> {
    const running = await this.#runningIn(conversationId);
    const sent = running.map(({ branch, query }) => this.#send(branch, { kind: "cancel", body: "" }, { query }));
    return (await Promise.all(sent)).filter(Boolean).length;
  }

  async questions(conversationId: string): Promise<readonly ApprovalQuestion[]> {
    return (await this.#runningIn(conversationId)).flatMap(({ query }) => questionOf(query) ?? []);
  }

  /** Returns false if the question no longer waits. */
  async answer(conversationId: string, id: string, { decision, reason }: ApprovalAnswer): Promise<boolean> {
    const asking = (await this.#runningIn(conversationId)).find(({ query }) => questionOf(query)?.id === id);
    if (!asking) return false;
    const body = JSON.stringify({ id, decision, reason });
    return await this.#send(asking.branch, { kind: "answer", body }, { query: asking.query });
  }

  async #runningIn(conversationId: string): Promise<readonly { branch: Branch; query: StoredQuery }[]> {
    const runs = () => this.#store.runningQuery(conversationId);
    if (await readSettled(this.#store, runs, (found) => found !== null) === null) return [];
    const branches = await this.#store.branches(conversationId);
    const found = await Promise.all(branches.map(async (branch) => ({ branch, query: await this.#running(branch) })));
    return found.flatMap(({ branch, query }) => query === null ? [] : [{ branch, query }]);
  }

  async #running({ branchId }: Branch): Promise<StoredQuery | null> {
    const newest = await this.#store.queries(branchId, { newest: 1 });
    const [query] = newest;
    return query?.running && query.branchId === branchId ? query : null;
  }

  async #send(
    branch: Branch,
    message: Pick<StoredMessage, "kind" | "body">,
    { query: { queryId }, signal }: { readonly query: StoredQuery; readonly signal?: AbortSignal | undefined },
  ): Promise<boolean> {
    const { states } = this.#storeOf(branch);
    const key = keyOf(branch.branchId, newId());
    const query = () => this.#store.query(queryId);
    await states.put(PLACE, { key, value: { ...message, done: null } });
    try {
      for (;;) {
        const running = await readSettled(this.#store, query, (found) => found?.running ?? false);
        // An ended query carries out no message, so this method reads the message after the query.
        const { done = null } = await read(states, key) ?? {};
        if (done !== null) return done;
        if (!running?.running) return message.kind === "cancel" && running?.reason === "cancelled";
        if (signal?.aborted) return false;
        await this.#clock.sleep(ANSWER_LOOK_MS, signal).catch(() => {});
      }
    } finally {
      await states.delete(PLACE, key).catch(() => {}); // A process removes a message that stays here a day later.
    }
  }
}

function questionOf(query: StoredQuery): ApprovalQuestion | null {
  return query.running && query.approval?.answer === null ? query.approval.question : null;
}

interface RunMessagesParts {
  readonly log: Pick<Log, "warn">;
  readonly now: () => number;
}

interface ReachableRun {
  readonly states: StateStore;
  readonly questions: WaitingQuestions;
  steer(text: string, signal: AbortSignal): Promise<boolean>;
  cancel(): void;
}

export class RunMessages {
  readonly #parts: RunMessagesParts;
  readonly #running = new Map<string, ReachableRun & { readonly taken: Map<string, AbortController> }>();
  #timer: ReturnType<typeof setInterval> | null = null;
  #looking = false;

  constructor(parts: RunMessagesParts) {
    this.#parts = parts;
  }

  begin(branchId: string, run: ReachableRun): void {
    this.#running.set(branchId, { ...run, taken: new Map() });
    if (this.#timer !== null) return;
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
    unrefTimer(this.#timer);
  }

  end(branchId: string): void {
    this.#running.delete(branchId);
    if (this.#running.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      for (const states of new Set(Array.from(this.#running.values(), (run) => run.states))) await this.#lookIn(states);
    } catch (error) {
      this.#parts.log.warn("messages_not_read", { error: messageOf(error) });
    } finally {
      this.#looking = false;
    }
  }

  async #lookIn(states: StateStore): Promise<void> {
    const found = await states.list(PLACE, { limit: MOST });
    for (const { key, at } of found) if (this.#parts.now() - at > KEPT_MS) await states.delete(PLACE, key);
    const keys = found.map(({ key }) => key);
    for (const [branchId, run] of this.#running) {
      if (run.states !== states) continue;
      // The sender withdrew these messages, or has read their outcomes.
      for (const [id, controller] of run.taken) {
        if (keys.includes(keyOf(branchId, id))) continue;
        controller.abort(ENDED);
        run.taken.delete(id);
      }
      for (const key of keys.filter((one) => one.startsWith(`${branchId} `))) await this.#take(key, run);
    }
  }

  async #take(key: string, { states, questions, steer, cancel, taken }: ReachableRun & {
    readonly taken: Map<string, AbortController>;
  }): Promise<void> {
    const id = key.slice(key.indexOf(" ") + 1);
    const message = taken.has(id) ? null : await read(states, key);
    if (message === null || message.done !== null) return;
    const controller = new AbortController();
    taken.set(id, controller);
    const settle = async (done: boolean): Promise<void> => {
      // A deleted message has no version, so this write does not restore the message.
      await states.put(PLACE, { key, value: { ...message, body: "", done }, ifVersion: 1 });
    };
    const said = message.kind === "steer" ? steer(message.body, controller.signal) : Promise.resolve(obeyed(message));
    void said.then(settle).catch(() => {});

    function obeyed({ kind, body }: StoredMessage): boolean {
      if (kind === "cancel") {
        cancel();
        return true;
      }
      const { id: question, ...answer } = JSON.parse(body);
      return questions.answer(question, answer);
    }
  }
}

/** The first answer of the two sides counts, and ends the question on the other side. */
export function askedEverywhere(approve: Approve, questions: WaitingQuestions): Approve {
  return async (question, signal) => {
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal]);
    const answers = [approve(question, either), questions.approve(question, either)];
    try {
      return await abortable(Promise.race(answers), signal);
    } finally {
      over.abort(ENDED);
      void Promise.allSettled(answers);
    }
  };
}
