/** Processes exchange messages about a running query through states of the store. */

import { ENDED, messageOf } from "../domain/errors.ts";
import { abortable, type Clock, REAL_CLOCK, unrefTimer } from "../domain/kit/concurrency.ts";
import type { BackgroundProgram } from "../domain/admin_reports.ts";
import { joinBytes } from "../domain/kit/bytes.ts";
import { newId } from "../domain/kit/ids.ts";
import type { ApprovalAnswer, ApprovalQuestion, Approve } from "../domain/query/approval.ts";
import type { QueryEvent } from "../domain/query/query_schemas.ts";
import type { StoredQuery } from "../domain/query/stored_query.ts";
import type { StateStore } from "../domain/records/extension_state.ts";
import type { Log } from "../logging/log.ts";
import type { Branch, Store } from "../persistence/store.ts";
import { readSettled } from "./stored_conversations.ts";
import { WaitingQuestions } from "./ask_options.ts";
import type { StepEvents } from "./step_events.ts";

/** The namespace of an extension contains no slash, so extensions cannot reach these states. */
const PLACE = { namespace: "vis/messages", branchId: null } as const;
const MOST = 1_000;
const LOOK_MS = 500;
const ANSWER_LOOK_MS = 200;
/** A killed process may leave messages behind, so Vis deletes messages of this age. */
const KEPT_MS = 24 * 3_600_000;

const MOST_STEP_CHARS = 1_000_000;

const MOST_COMMANDS = 20, MOST_OUTPUT_CHARS = 4_000;

const NONE: ReadonlySet<string> = new Set();

/** `done` is null until the process of the query has carried out or refused the message. A message `watch` keeps null:
 * the process shares the events of its running step until the watcher deletes the message. */
interface StoredMessage {
  readonly kind: "steer" | "cancel" | "answer" | "stop" | "watch";
  readonly body: string;
  readonly done: boolean | null;
}

function keyOf(branchId: string, id: string): string {
  return `${branchId} ${id}`;
}

/** No branch has the id `step`, so no message has this key. */
function stepKeyOf(branchId: string): string {
  return `step ${branchId}`;
}

type SharedCommand = Pick<BackgroundProgram, "id" | "title" | "startedAt" | "output">;

interface SharedTexts {
  /** A random id makes each text unique, so that deleting one text keeps the bytes of all others. */
  readonly id: string;
  readonly events: readonly QueryEvent[];
  readonly commands: readonly SharedCommand[];
}

async function readShared(store: Store, large: string): Promise<SharedTexts | null> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  try {
    for await (const piece of store.largePieces(large)) pieces.push(piece);
  } catch {
    return null;
  }
  return JSON.parse(new TextDecoder().decode(joinBytes(pieces))) as SharedTexts;
}

async function read(states: StateStore, key: string): Promise<StoredMessage | null> {
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

  /** `own` names the branches whose queries run in this process. */
  async cancel(conversationId: string, own: ReadonlySet<string> = NONE): Promise<number> {
    const running = await this.#runningIn(conversationId, own);
    const sent = running.map(({ branch, query }) => this.#send(branch, { kind: "cancel", body: "" }, { query }));
    return (await Promise.all(sent)).filter(Boolean).length;
  }

  async questions(conversationId: string, own: ReadonlySet<string> = NONE): Promise<readonly ApprovalQuestion[]> {
    return (await this.#runningIn(conversationId, own)).flatMap(({ query }) => questionOf(query) ?? []);
  }

  async answer(conversationId: string, id: string, { decision, reason }: ApprovalAnswer): Promise<boolean> {
    const asking = (await this.#runningIn(conversationId)).find(({ query }) => questionOf(query)?.id === id);
    if (!asking) return false;
    const body = JSON.stringify({ id, decision, reason });
    return await this.#send(asking.branch, { kind: "answer", body }, { query: asking.query });
  }

  /** Commands are visible only while a process watches the query. */
  async programs(
    branch: Branch,
  ): Promise<readonly (SharedCommand & { readonly stop: () => Promise<boolean> })[]> {
    const runs = () => this.#running(branch);
    const query = await readSettled(this.#store, runs, (found) => found !== null);
    if (query === null) return [];
    const store = this.#storeOf(branch);
    const large = (await store.states.get(PLACE, { key: stepKeyOf(branch.branchId) }))?.value;
    const { commands = [] } = typeof large === "string" ? await readShared(store, large) ?? {} : {};
    return commands.map((command) => {
      return { ...command, stop: () => this.#send(branch, { kind: "stop", body: command.id }, { query }) };
    });
  }

  watch(branch: Branch): WatchedStep {
    return new WatchedStep(this.#storeOf(branch), branch.branchId);
  }

  async #runningIn(
    conversationId: string,
    own: ReadonlySet<string> = NONE,
  ): Promise<readonly { branch: Branch; query: StoredQuery }[]> {
    const runs = () => this.#store.runningQuery(conversationId);
    if (await readSettled(this.#store, runs, (found) => found !== null) === null) return [];
    const branches = (await this.#store.branches(conversationId)).filter(({ branchId }) => !own.has(branchId));
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
        // An ended query carries out no message, so Vis reads the query first, and then the message.
        const { done = null } = await read(states, key) ?? {};
        if (done !== null) return done;
        if (!running?.running) return message.kind === "cancel" && running?.reason === "cancelled";
        if (signal?.aborted) return false;
        await this.#clock.sleep(ANSWER_LOOK_MS, signal).catch(() => {});
      }
    } finally {
      // If this fails, a process that runs a query deletes the message after `KEPT_MS`.
      await states.delete(PLACE, key).catch(() => {});
    }
  }
}

function questionOf(query: StoredQuery): ApprovalQuestion | null {
  return query.running && query.approval?.answer === null ? query.approval.question : null;
}

export class WatchedStep {
  readonly #store: Store;
  readonly #branchId: string;
  readonly #key: string;
  readonly #asked: Promise<unknown>;
  #seen = "";

  constructor(store: Store, branchId: string) {
    this.#store = store;
    this.#branchId = branchId;
    this.#key = keyOf(branchId, newId());
    const watch: StoredMessage = { kind: "watch", body: "{}", done: null };
    // If the watcher cannot write, for example to a full disk, the watcher still sees the stored steps.
    this.#asked = store.states.put(PLACE, { key: this.#key, value: { ...watch } }).catch(() => {});
  }

  async newest(): Promise<readonly QueryEvent[] | null> {
    const found = (await this.#store.states.get(PLACE, { key: stepKeyOf(this.#branchId) }))?.value;
    if (typeof found !== "string" || found === this.#seen) return null;
    const shared = await readShared(this.#store, found);
    if (shared !== null) this.#seen = found;
    return shared?.events ?? null;
  }

  async close(): Promise<void> {
    await this.#asked;
    // If this fails, the process of the query or a later process deletes the message.
    await this.#store.states.delete(PLACE, this.#key).catch(() => {});
  }
}

interface RunMessagesParts {
  readonly log: Pick<Log, "warn">;
  readonly now: () => number;
}

type RunStore = Pick<Store, "states" | "putLarge" | "dropLarge">;

interface ReachableRun {
  readonly store: RunStore;
  readonly step: StepEvents;
  readonly questions: WaitingQuestions;
  programs(): readonly BackgroundProgram[];
  steer(text: string, signal: AbortSignal): Promise<boolean>;
  cancel(): void;
}

interface Reached extends ReachableRun {
  readonly taken: Map<string, AbortController>;
  readonly shared: SharedStep;
}

export class RunMessages {
  readonly #parts: RunMessagesParts;
  readonly #running = new Map<string, Reached>();
  #timer: ReturnType<typeof setInterval> | null = null;
  #looking = false;

  constructor(parts: RunMessagesParts) {
    this.#parts = parts;
  }

  begin(branchId: string, run: ReachableRun): void {
    const shared = new SharedStep(run, stepKeyOf(branchId));
    this.#running.set(branchId, { ...run, taken: new Map(), shared });
    if (this.#timer !== null) return;
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
    unrefTimer(this.#timer);
  }

  async end(branchId: string): Promise<void> {
    const run = this.#running.get(branchId);
    this.#running.delete(branchId);
    if (this.#running.size === 0 && this.#timer !== null) {
      clearInterval(this.#timer);
      this.#timer = null;
    }
    await run?.shared.close();
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      const all = Array.from(this.#running.values(), ({ store }) => store.states);
      for (const states of new Set(all)) await this.#lookIn(states);
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
      if (run.store.states !== states) continue;
      for (const [id, controller] of run.taken) {
        if (keys.includes(keyOf(branchId, id))) continue;
        controller.abort(ENDED);
        run.taken.delete(id);
      }
      for (const key of keys.filter((one) => one.startsWith(`${branchId} `))) await this.#take(key, run);
      await run.shared.share();
    }
  }

  async #take(key: string, run: Reached): Promise<void> {
    const { store: { states }, questions, programs, steer, cancel, taken, shared } = run;
    const id = key.slice(key.indexOf(" ") + 1);
    const message = taken.has(id) ? null : await read(states, key);
    if (message === null || message.done !== null) return;
    const controller = new AbortController();
    taken.set(id, controller);
    if (message.kind === "watch") return shared.watch(key, controller.signal);
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
      if (kind === "stop") {
        const program = programs().find((one) => one.id === body);
        program?.stop();
        return program !== undefined;
      }
      const { id: question, ...answer } = JSON.parse(body);
      return questions.answer(question, answer);
    }
  }
}

class SharedStep {
  readonly #store: RunStore;
  readonly #step: StepEvents;
  readonly #programs: ReachableRun["programs"];
  readonly #key: string;
  readonly #watchers = new Set<string>();
  #shared = "";
  #text: string | null = null;
  #sharing: Promise<void> = Promise.resolve();
  #closed = false;

  constructor({ store, step, programs }: Pick<ReachableRun, "store" | "step" | "programs">, key: string) {
    this.#store = store;
    this.#step = step;
    this.#programs = programs;
    this.#key = key;
  }

  watch(key: string, signal: AbortSignal): void {
    this.#watchers.add(key);
    signal.addEventListener("abort", () => this.#watchers.delete(key), { once: true });
  }

  async share(): Promise<void> {
    if (this.#closed || this.#watchers.size === 0) return;
    const commands = this.#programs().slice(-MOST_COMMANDS).map(({ id, title, startedAt, output }): SharedCommand => (
      { id, title, startedAt, output: output.slice(-MOST_OUTPUT_CHARS) }
    ));
    const state = JSON.stringify([this.#step.changes, commands]);
    if (this.#shared === state || this.#step.changes === 0) return;
    this.#shared = state;
    const shared: SharedTexts = { id: newId(), events: this.#step.all, commands };
    const text = JSON.stringify(shared);
    if (text.length > MOST_STEP_CHARS) return;
    await (this.#sharing = this.#replace(text));
  }

  async #replace(text: string): Promise<void> {
    const { states } = this.#store;
    const pieces = ReadableStream.from([new TextEncoder().encode(text)]);
    const [before, large] = [this.#text, await this.#store.putLarge(pieces, { isOwn: true })];
    this.#text = large;
    await states.delete(PLACE, this.#key); // A put alone would keep the earlier versions.
    await states.put(PLACE, { key: this.#key, value: large });
    if (before !== null) await this.#store.dropLarge(before);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#sharing.catch(() => {});
    const keys = [...this.#watchers, ...this.#text === null ? [] : [this.#key]];
    for (const key of keys) await this.#store.states.delete(PLACE, key).catch(() => {});
    if (this.#text !== null) await this.#store.dropLarge(this.#text).catch(() => {});
  }
}

/** The first answer counts, and withdraws the approval from the other side. */
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
