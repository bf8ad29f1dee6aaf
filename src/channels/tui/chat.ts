import type { Conversation as Branch } from "../../conversation/conversations.ts";
import type { AskOptions } from "../../conversation/ask_options.ts";
import { ENDED, messageOf, UsageError } from "../../domain/errors.ts";
import type { ApprovalQuestion, Approve } from "../../domain/query/approval.ts";
import { addSpend, addUsage, NOTHING_SPENT, type Spend } from "../../domain/query/model_call.ts";
import { MORE_TEXT, PLANNED_TEXT } from "../../domain/query/outcomes.ts";
import { isChild } from "../../domain/query/query_event.ts";
import { PLAN_VARIABLE, planOf } from "../../domain/query/plan.ts";
import type { QueryProgress } from "../../domain/query/query_progress.ts";
import type { PlanItem, QueryEvent, QueryResult, Usage } from "../../domain/query/query_schemas.ts";
import { type EndedQuery, shownRange, type StoredQuery } from "../../domain/query/stored_query.ts";
import { storedDiffs } from "../../domain/query/host_call.ts";
import { changedPath, changedPaths } from "../../domain/query/work_summary.ts";
import { type FileChange, type runUndo, undoableChanges, type UndoReport, withMoves } from "../../domain/undo.ts";
import type { Session } from "../channel.ts";
import { OlderCommandEntry } from "./entries/command_entry.ts";
import { type DisplayOptions, LineEntry, type TranscriptEntry } from "./entries/entry.ts";
import { AnswerEntry, EndEntry, RequestEntry } from "./entries/message_entries.ts";
import { OlderEntry, type OlderParts, StepEntry, storedStep } from "./entries/step_entry.ts";
import type { Transcript } from "./entries/transcript.ts";
import { RunningTurn } from "./entries/running_turn.ts";
import { type StoredTurn, WatchedTurn } from "./entries/watched_turn.ts";
import { givenVariables, type Outgoing } from "./input/outgoing.ts";
import { flat } from "./text/one_line.ts";
import type { TakenOutputs } from "./user_commands.ts";

const CHANNEL = "tui";
const RUNG_MS = 10_000;
const FOLDED = 40;

interface Waiting {
  readonly outgoing: Outgoing;
  /** An abort withdraws the message from the running query. Null means that the message waits for the end of the
   * query. */
  steering: AbortController | null;
}

export interface WaitingMessage {
  readonly text: string;
  readonly steers: boolean;
  readonly isOwn: boolean;
}

interface Elsewhere {
  readonly queryId: string;
  readonly since: number;
  readonly turn: WatchedTurn;
  readonly step: ReturnType<Session["conversations"]["elsewhere"]["watch"]>;
  phase: string;
  question: string | null;
  asking: AbortController;
  cancelling: boolean;
}

export interface RequestBudget {
  readonly steps: number | null;
  readonly costUsd: number | null;
  readonly reasoning: NonNullable<AskOptions["reasoning"]> | null;
}

interface ChatParts {
  readonly session: () => Session;
  readonly transcript: Transcript;
  readonly shown: () => DisplayOptions;
  readonly changed: () => void;
  readonly approve: Approve;
  readonly worked: () => void;
  readonly outputs: () => TakenOutputs;
  readonly ring: (why: string) => void;
  readonly giveBack: (outgoing: Outgoing) => void;
  readonly undone: () => Promise<UndoReport>;
  readonly undo: (options: Parameters<typeof runUndo>[1]) => Promise<UndoReport | null>;
}

export interface SessionSpend {
  readonly usage: Usage;
  readonly costUsd: number | null;
  readonly steps: number;
  readonly walls: readonly string[] | null;
  readonly sentBytes: number | null;
}

interface ChatStatus {
  readonly where: string;
  readonly phase: string;
  readonly ms: number;
  readonly asks: boolean;
  readonly title: string;
}

const NEW_SESSION: SessionSpend = { ...NOTHING_SPENT, steps: 0, walls: null, sentBytes: null };

export class ChatController {
  readonly #parts: ChatParts;
  #branch: Branch | null = null;
  #spent: SessionSpend = NEW_SESSION;
  #running: { readonly turn: RunningTurn; readonly controller: AbortController; readonly since: number } | null = null;
  #waiting: Waiting[] = [];
  #steering: readonly string[] = [];
  #lastAnswer = "";
  #ended: Promise<void> = Promise.resolve();
  #last: RunningTurn | null = null;
  #plan: readonly PlanItem[] = [];
  #asked: TranscriptEntry | null = null;
  #elsewhere: Elsewhere | null = null;
  #known: ReadonlyMap<string, string> = new Map();
  budget: RequestBudget = { steps: null, costUsd: null, reasoning: null };

  constructor(parts: ChatParts) {
    this.#parts = parts;
  }

  get branch(): Branch | null {
    return this.#branch;
  }

  get spent(): SessionSpend {
    return this.#spent;
  }

  get isElsewhere(): boolean {
    return this.#elsewhere !== null;
  }

  get running(): { readonly turn: RunningTurn; readonly since: number } | null {
    return this.#running;
  }

  get isWorking(): boolean {
    const turn = this.#running?.turn;
    return turn !== undefined && !turn.cancelling && !turn.ended;
  }

  get waiting(): readonly WaitingMessage[] {
    const own = this.#waiting.map(({ outgoing, steering }) => ({
      ...{ text: outgoing.text, steers: steering !== null, isOwn: true },
    }));
    const others = [...this.#steering];
    for (const { text, steers } of own) {
      const at = steers ? others.indexOf(text) : -1;
      if (at >= 0) others.splice(at, 1);
    }
    return [...others.map((text) => ({ text, steers: true, isOwn: false })), ...own];
  }

  get lastAnswer(): string {
    return this.#lastAnswer;
  }

  get status(): ChatStatus {
    const title = this.#branch?.title ?? "";
    const [running, elsewhere] = [this.#running, this.#elsewhere];
    if (running === null && elsewhere !== null) {
      const { phase, since, question, cancelling, turn } = elsewhere;
      const asks = question !== null;
      const doing = asks ? "waiting for your answer" : turn.progress?.doing ?? phase;
      const ms = Math.max(0, Date.now() - since);
      return { where: "runs in another process: ", phase: cancelling ? "cancelling" : doing, ms, asks, title };
    }
    const ms = running ? Date.now() - running.since - running.turn.progress.askedMs : 0;
    const asks = (running?.turn.progress.question ?? null) !== null;
    return { where: "", phase: running?.turn.phase ?? "", ms, asks, title };
  }

  get plan(): readonly PlanItem[] {
    return this.#elsewhere?.turn.plan ?? this.#plan;
  }

  get progress(): QueryProgress | null {
    return this.#running?.turn.progress ?? this.#elsewhere?.turn.progress ?? null;
  }

  get isCancelling(): boolean {
    return this.#running?.turn.cancelling ?? this.#elsewhere?.cancelling ?? false;
  }

  /** With `undone`, the file changes of the newest request with changes are all undone. */
  async changes(): Promise<{ readonly title: string; readonly diffs: readonly string[]; readonly undone?: string }> {
    const { turn } = this.#running ?? {};
    if (turn !== undefined) {
      const diffs = await this.#net(turn.changes, await this.#recorded(turn.progress.queryId));
      if (diffs.length > 0) return { title: "Changes of the running request", diffs };
    }
    const branch = this.#branch;
    const { conversations } = this.#parts.session();
    const queries = branch === null ? [] : await conversations.queries(branch);
    const watched = this.#elsewhere;
    if (watched !== null) {
      const stored = await conversations.iterations(watched.queryId);
      const all = [...stored.flatMap(({ metadata }) => storedDiffs(metadata)), ...watched.turn.changes];
      const diffs = await this.#net(all, await this.#recorded(watched.queryId));
      if (diffs.length > 0) return { title: "Changes of the running request", diffs };
    }
    const ended = queries.filter(({ running }) => !running);
    const changes = undoableChanges(await this.#parts.undone());
    const { query, replaced } = await this.#newestChanged(ended, changes);
    if (query === undefined) return { title: "", diffs: [] };
    const iterations = replaced === undefined
      ? await conversations.iterations(query.queryId, shownRange(query))
      : await conversations.iterations(replaced);
    const isLeft = (diff: string, iterationId: string): boolean => {
      const own = changes.filter((change) => change.iterationId === iterationId);
      return changedPaths(diff).some((path) => !isUndone(path, own));
    };
    const stored = iterations.map(({ metadata }) => storedDiffs(metadata));
    const left = iterations.flatMap(({ iterationId }, at) =>
      stored[at]?.filter((one) => isLeft(one, iterationId)) ?? []
    );
    const which = query === ended.at(-1) ? "Changes of the last request" : `Changes of: ${flat(query.text, 80)}`;
    const name = replaced === undefined ? which : `${which}, before /retry`;
    const own = changes.filter((change) => iterations.some(({ iterationId }) => change.iterationId === iterationId));
    const title = own.some(({ undone }) => undone) ? `${name}, without undone changes` : name;
    const isOver = own.length > 0 && own.every(({ undone, kept = [] }) => undone && kept.length === 0);
    return {
      ...{ title, diffs: await this.#net(left, own) },
      ...left.length === 0 && isOver ? { undone: `Request ${queries.indexOf(query) + 1} was undone` } : {},
    };
  }

  /** An undo also finds changes of a run that a retry replaced. */
  async #newestChanged(
    queries: readonly StoredQuery[],
    changes: readonly FileChange[],
  ): Promise<{ readonly query?: StoredQuery; readonly replaced?: string }> {
    const isOpen = (id: string): boolean => changes.some(({ queryId, undone }) => queryId === id && !undone);
    for (const query of queries.toReversed()) {
      const hasChanged = (query.work?.files ?? 0) > 0;
      if (hasChanged && (isOpen(query.queryId) || !changes.some(({ queryId }) => queryId === query.queryId))) {
        return { query };
      }
      const runs = await this.#parts.session().conversations.attempts(query.queryId);
      const replaced = runs.slice(0, runs.indexOf(query.queryId)).findLast(isOpen);
      if (replaced !== undefined) return { query, replaced };
      if (hasChanged) return { query };
    }
    return {};
  }

  async #recorded(query: string | null): Promise<readonly FileChange[]> {
    return undoableChanges(await this.#parts.undone()).filter(({ queryId }) => query !== null && queryId === query);
  }

  /** The recorded changes give the net diffs, except of files with other changes since. */
  async #net(diffs: readonly string[], own: readonly FileChange[]): Promise<readonly string[]> {
    const changes = own.filter(({ undone }) => !undone);
    if (changes.length === 0) return diffs;
    const report = await this.#parts.undo({
      ...{ conversation: this.#branch?.conversationId, dryRun: true, rest: true, committed: true },
      changes: changes.map(({ id }) => id).join(","),
    });
    const { files = [], kept = [], error } = report ?? { error: "" };
    if (error !== undefined && kept.length === 0) return diffs;
    const times = (path: string): number => changes.filter(({ paths }) => paths.includes(path)).length;
    const perPath = Map.groupBy(diffs, (diff) => changedPath(diff) ?? "");
    const moved = diffs.map(changedPaths).filter((paths) =>
      paths.length > 1 && paths.every((path) => times(path) === 1)
    );
    const single = new Set([...kept.map(({ path }) => path), ...moved.flat()]);
    const isNet = (path: string): boolean => !single.has(path) && times(path) >= (perPath.get(path)?.length ?? 0);
    const net = withMoves(new Map(files.flatMap(({ path, diff }) => diff !== "" && isNet(path) ? [[path, diff]] : [])));
    const shown = [...perPath].flatMap(([path, those]) => {
      const diff = net.get(path);
      net.delete(path);
      return !isNet(path) ? those : diff === undefined ? [] : [diff];
    });
    return [...shown, ...net.values()];
  }

  get ended(): Promise<void> {
    return this.#ended;
  }

  async rename(title: string): Promise<void> {
    const branch = this.#branch;
    if (branch === null) throw new UsageError("Cannot rename the conversation: it has no request yet; send one first");
    const { conversations } = this.#parts.session();
    await conversations.records.rename(branch, title);
    this.#branch = await conversations.byId(branch.branchId);
    this.#parts.changed();
  }

  /** The caller ensures that this screen runs no query. */
  show(branch: Branch | null, opened: OpenedBranch | null): void {
    const { spent = NEW_SESSION, lastAnswer = "", asked = null, turns = [], plan = [] } = opened ?? {};
    for (let back = this.takeBack(); back !== null; back = this.takeBack()) this.#parts.giveBack(back);
    this.#branch = branch;
    this.#plan = plan;
    this.#last = null;
    this.#spent = spent;
    this.#lastAnswer = lastAnswer;
    this.#asked = asked;
    this.#known = statesOf(turns.map(({ query }) => query));
    this.#parts.transcript.add(...turns.flatMap(({ entries }) => entries));
    this.#meet(turns.at(-1) ?? null);
  }

  async follow(open: (branch: Branch) => Promise<OpenedBranch>): Promise<void> {
    const branch = this.#branch;
    if (branch === null || this.#running !== null) return;
    const isNew = (query: StoredQuery): boolean => this.#known.get(query.queryId) !== stateOf(query);
    // The newest query may be a request of this screen that began after a request of another process.
    const newest = await this.#parts.session().conversations.queries(branch, { newest: 2 });
    if (this.#running !== null) return;
    const last = newest.at(-1);
    const steering = last?.running ? last.waiting : [];
    if (steering.join("\n") !== this.#steering.join("\n")) {
      this.#steering = steering;
      this.#parts.changed();
    }
    if (newest.some(isNew)) await this.#reopen(branch, await open(branch), isNew);
    await this.#watch();
  }

  async #reopen(
    branch: Branch,
    { turns, spent, lastAnswer, asked, plan }: OpenedBranch,
    isNew: (query: StoredQuery) => boolean,
  ): Promise<void> {
    const at = turns.findIndex(({ query }) => isNew(query));
    const ids = new Set(turns.map(({ query }) => query.queryId));
    const isReplaced = [...this.#known.keys()].some((id) => !ids.has(id));
    const isTail = !isReplaced && at >= 0 && turns.slice(at).every(({ query }) => isNew(query));
    const drawn = await Promise.all(turns.slice(isTail ? at : 0).flatMap(({ entries }) => entries).map(readSteps));
    if (this.#branch !== branch || this.#running !== null) return;
    const { transcript } = this.#parts;
    if (!isTail) transcript.clear();
    else if (this.#known.has(turns[at]?.query.queryId ?? "") && this.#asked !== null) transcript.cutFrom(this.#asked);
    transcript.add(...drawn.flat());
    this.#known = statesOf(turns.map(({ query }) => query));
    this.#spent = { ...spent, walls: this.#spent.walls, sentBytes: this.#spent.sentBytes };
    [this.#lastAnswer, this.#asked, this.#plan] = [lastAnswer, asked, plan];
    this.#meet(turns.at(-1) ?? null);
    this.#parts.worked();
    const last = turns.at(-1)?.query;
    if (last !== undefined && last.iterations > 0) void this.#readFacts(last.queryId, last.iterations);
    this.#parts.changed();
  }

  async #watch(): Promise<void> {
    const watched = this.#elsewhere;
    const events = await watched?.step.newest();
    if (!events || this.#elsewhere !== watched) return;
    watched?.turn.show(events);
    this.#parts.changed();
  }

  #meet(turn: OpenedBranch["turns"][number] | null): void {
    const branch = this.#branch;
    const before = this.#elsewhere;
    const query = turn?.query ?? null;
    const runs = branch !== null && this.#running === null && query?.running === true;
    const approval = runs ? query.approval : undefined;
    const question = approval?.answer === null ? approval.question : null;
    this.#steering = runs ? query.waiting : [];
    const id = question?.id ?? null;
    const elsewhere = runs ? before?.queryId === query.queryId ? before : this.#begun(query, branch) : null;
    if (elsewhere !== before) this.leave();
    this.#elsewhere = elsewhere;
    if (elsewhere !== null && turn !== null) {
      elsewhere.phase = storedPhase(turn);
      elsewhere.turn.restore(turn);
      if (elsewhere.question !== id) {
        elsewhere.asking.abort(ENDED);
        elsewhere.asking = new AbortController();
        elsewhere.question = id;
        if (branch !== null && question !== null) void this.#askElsewhere(branch, question, elsewhere.asking.signal);
      }
    }
    if (!runs && before !== null && !this.#waiting.some(({ steering }) => steering !== null)) this.#next();
  }

  #begun(query: StoredQuery, branch: Branch): Elsewhere {
    const { transcript, shown, session } = this.#parts;
    const { queryId, createdAt: since } = query;
    return {
      ...{ queryId, since, phase: "", question: null, asking: new AbortController(), cancelling: false },
      turn: new WatchedTurn(transcript, { queryId, shown }),
      step: session().conversations.elsewhere.watch(branch),
    };
  }

  async #askElsewhere(branch: Branch, question: ApprovalQuestion, signal: AbortSignal): Promise<void> {
    const { approve, session, transcript, shown, changed } = this.#parts;
    try {
      const answer = await approve(question, signal);
      await session().conversations.elsewhere.answer(branch.conversationId, question.id, answer);
    } catch (error) {
      if (signal.aborted) return; // The question has ended elsewhere, or the user has left.
      transcript.add(new LineEntry([messageOf(error), shown().theme.bad]));
      changed();
    }
  }

  send(outgoing: Outgoing): void {
    this.#parts.transcript.toEnd();
    if (this.#running === null && this.#elsewhere === null) this.#ended = this.#run(outgoing);
    else this.#wait(outgoing);
    this.#parts.changed();
  }

  retry(): void {
    this.#ended = this.#again();
    this.#parts.changed();
  }

  more(): void {
    this.#ended = this.#more();
    this.#parts.changed();
  }

  /** After `leave`, a query of another process continues. */
  leave(): void {
    this.#elsewhere?.asking.abort(ENDED);
    void this.#elsewhere?.step.close();
    this.#elsewhere = null;
  }

  cancel(): boolean {
    if (this.#running === null) return this.#cancelElsewhere();
    for (let back = this.takeBack(); back !== null; back = this.takeBack()) this.#parts.giveBack(back);
    this.#running.controller.abort();
    this.#running.turn.cancelling = true;
    this.#parts.changed();
    return true;
  }

  #cancelElsewhere(): boolean {
    const branch = this.#branch;
    if (branch === null || this.#elsewhere === null) return false;
    for (let back = this.takeBack(); back !== null; back = this.takeBack()) this.#parts.giveBack(back);
    const { transcript, shown, changed, session } = this.#parts;
    const cancelled = this.#elsewhere;
    cancelled.cancelling = true;
    changed();
    session().conversations.elsewhere.cancel(branch.conversationId).catch((error: unknown) => {
      cancelled.cancelling = false;
      transcript.add(new LineEntry([messageOf(error), shown().theme.bad]));
      changed();
    });
    return true;
  }

  takeBack(): Outgoing | null {
    const last = this.#waiting.pop();
    last?.steering?.abort();
    return last?.outgoing ?? null;
  }

  #wait(outgoing: Outgoing): void {
    const { changed, session } = this.#parts;
    const alone = Object.keys({ ...outgoing.variables, ...outgoing.images }).length === 0 && !outgoing.only;
    const steers = this.#branch !== null && alone;
    const waiting: Waiting = { outgoing, steering: steers ? new AbortController() : null };
    this.#waiting.push(waiting);
    if (!waiting.steering || this.#branch === null) return;
    const { signal } = waiting.steering;
    session().conversations.steer(this.#branch, outgoing.text, { signal }).then((read) => {
      waiting.steering = null;
      // An event of the query adds the message to the transcript.
      if (read && !signal.aborted) this.#waiting = this.#waiting.filter((one) => one !== waiting);
      if (this.#running === null && this.#elsewhere === null) this.#next();
      changed();
    }, () => void (waiting.steering = null));
  }

  #next(): void {
    const next = this.#waiting.shift();
    if (next) this.send(next.outgoing);
  }

  async #run(outgoing: Outgoing): Promise<void> {
    const { transcript, shown, session, giveBack } = this.#parts;
    const { text, only } = outgoing;
    const outputs = this.#parts.outputs();
    const variables = givenVariables({ ...outputs.variables, ...outgoing.variables });
    const images = Object.values(outgoing.images).map(({ image }) => image);
    const before = this.#asked;
    transcript.add(this.#asked = new RequestEntry(text, { shown, ...(only ? { label: only } : {}) }));
    await this.#work(async (options) => {
      const { conversations, workspace } = session();
      const target = this.#branch ?? { channel: CHANNEL, workspace };
      return await conversations.ask(target, text, { ...options, images, only, variables });
    }, {
      refused: () => {
        if (this.#asked !== null) transcript.replace(this.#asked, []);
        this.#asked = before;
        outputs.giveBack();
        giveBack(outgoing);
      },
    });
  }

  async #again(): Promise<void> {
    const { transcript, shown, session } = this.#parts;
    await this.#work(async ({ emit, ...options }) => {
      const { conversations } = session();
      const seenFrom = this.#branch;
      const queries = seenFrom === null ? [] : await conversations.queries(seenFrom);
      const query = queries.at(-1);
      if (seenFrom === null || !query) {
        throw new UsageError("Cannot retry the last request: this conversation has none yet; send one first");
      }
      const begun = { yet: false };
      const first = (event: QueryEvent): void => {
        if (!begun.yet) {
          if (this.#asked !== null) transcript.cutFrom(this.#asked);
          this.#plan = [];
          this.#spent = { ...this.#spent, ...spendOf(queries.slice(0, -1)) };
          const label = [query.only ?? "", "asked again"].filter((part) => part !== "").join(" · ");
          transcript.add(this.#asked = new RequestEntry(query.text, { label, shown }));
          transcript.toEnd();
        }
        begun.yet = true;
        emit(event);
      };
      return await conversations.retry(query.queryId, { ...options, emit: first, seenFrom });
    }, { refused: () => {} });
  }

  async #more(): Promise<void> {
    const { transcript, shown, session } = this.#parts;
    const outputs = this.#parts.outputs();
    await this.#work(async ({ emit, ...options }) => {
      const branch = this.#branch;
      if (branch === null) {
        throw new UsageError("Cannot continue the last request: this conversation has none yet; send one first");
      }
      let begun = false;
      const first = (event: QueryEvent): void => {
        if (!begun) transcript.add(this.#asked = new RequestEntry(MORE_TEXT, { shown }));
        begun = true;
        emit(event);
      };
      const variables = givenVariables(outputs.variables);
      return await session().conversations.more(branch, { ...options, emit: first, variables });
    }, { refused: outputs.giveBack });
  }

  async #work(
    begin: (options: AskOptions) => Promise<QueryResult>,
    { refused }: { readonly refused: () => void },
  ): Promise<void> {
    const { transcript, shown, changed, session, approve } = this.#parts;
    const turn = new RunningTurn(transcript, { shown, conversations: () => session().conversations });
    this.#last?.fold(FOLDED);
    this.#last = turn;
    const controller = new AbortController();
    this.#running = { turn, controller, since: Date.now() };
    const emit = (event: QueryEvent): void => this.#event(event, turn);
    try {
      const onBranch = (branch: Branch): void => void (this.#branch = branch);
      const { steps, costUsd, reasoning } = this.budget;
      const budget = {
        ...(steps === null ? {} : { maxIterations: steps }),
        ...(costUsd === null ? {} : { limits: { costUsd, wallMs: null } }),
        ...(reasoning === null ? {} : { reasoning }),
      };
      const signal = controller.signal;
      this.#finished(
        await begin({ ...budget, signal, emit, approve, onBranch, refuseWhenBusy: true, showsOutput: true }),
      );
      if (this.#branch !== null) this.#branch = await session().conversations.byId(this.#branch.branchId);
    } catch (error) {
      transcript.add(new LineEntry([messageOf(error), shown().theme.bad]));
      if (turn.progress.queryId === null) refused(); // Once a query has begun, the database has the request.
    } finally {
      if (Date.now() - this.#running.since > RUNG_MS) this.#parts.ring("the request has ended");
      this.#running = null;
      this.#steering = [];
      if (turn.progress.queryId !== null) this.#known = new Map(this.#known).set(turn.progress.queryId, OVER);
      this.#parts.worked();
      if (!this.#waiting.some(({ steering }) => steering !== null)) this.#next();
      changed();
    }
  }

  #event(event: QueryEvent, turn: RunningTurn): void {
    turn.show(event);
    if (event.type === "plan" && !isChild(event)) this.#plan = event.items;
    if (event.type === "steering") this.#steering = event.texts;
    if (event.type === "usage") this.#spent = { ...this.#spent, usage: addUsage(this.#spent.usage, event.usage) };
    if (event.type === "iteration_finished") this.#parts.worked();
    if (event.type === "iteration_finished" && !isChild(event) && event.iteration !== null) {
      void this.#readFacts(event.queryId, event.iteration);
    }
    this.#parts.changed();
  }

  #finished({ queryId, usage, costUsd, answer, status, iterations, only }: QueryResult): void {
    const { transcript, shown } = this.#parts;
    if (only === "plan" && status !== "interrupted") transcript.add(new LineEntry([PLANNED_TEXT, shown().theme.dim]));
    if (status !== "interrupted") this.#lastAnswer = answer;
    // No event reports the end of an interrupted step.
    else if (iterations > 0) void this.#readFacts(queryId, iterations);
    if (status === "done") this.#plan = [];
    const steps = this.#spent.steps + iterations;
    this.#spent = { ...this.#spent, steps, costUsd: addSpend(this.#spent, { usage, costUsd }).costUsd };
  }

  async #readFacts(queryId: string, iteration: number): Promise<void> {
    const range = { after: iteration - 2, limit: 1 };
    const [row] = await this.#parts.session().conversations.iterations(queryId, range).catch(() => []);
    if (!row) return;
    this.#spent = { ...this.#spent, ...factsOf(row.metadata) };
    this.#parts.changed();
  }
}

function isUndone(path: string, changes: readonly FileChange[]): boolean {
  const own = changes.filter(({ paths }) => paths.includes(path));
  return own.length > 0 && own.every(({ undone = false, kept = [] }) => undone && !kept.includes(path));
}

function factsOf(
  { walls, requestBytes }: Readonly<Record<string, unknown>>,
): Partial<Pick<SessionSpend, "walls" | "sentBytes">> {
  return {
    ...typeof walls === "object" && walls !== null ? { walls: wallNames({ ...walls }) } : {},
    ...typeof requestBytes === "number" ? { sentBytes: requestBytes } : {},
  };
}

function wallNames(walls: Readonly<Record<string, unknown>>): readonly string[] {
  const { kernel } = walls;
  const holds = typeof kernel === "object" && kernel !== null && "landlock" in kernel && "seccomp" in kernel &&
    (Number(kernel.landlock) > 0 || kernel.seccomp === true);
  return [...["realm", "permissions", "process"].filter((name) => walls[name] === true), ...holds ? ["kernel"] : []];
}

interface OpenedTurn extends StoredTurn {
  readonly query: StoredQuery;
  readonly entries: readonly TranscriptEntry[];
}

interface OpenedBranch {
  readonly turns: readonly OpenedTurn[];
  readonly counts: { readonly ran: number; readonly pasted: number };
  readonly spent: SessionSpend;
  readonly lastAnswer: string;
  readonly asked: TranscriptEntry | null;
  readonly plan: readonly PlanItem[];
}

export async function openBranch(
  branch: Branch,
  parts: OlderParts & { readonly redraw: () => void },
): Promise<OpenedBranch> {
  const { conversations, shown, redraw } = parts;
  const [queries, counted, variables] = await Promise.all([
    conversations.queries(branch),
    conversations.stored.turns(branch.branchId),
    conversations.stored.variables(branch.branchId),
  ]);
  const counts = new Map(counted.map(({ queryId, iterations }) => [queryId, iterations]));
  const ran = variables.filter(({ name }) => /^ran_\d+$/.test(name)).toReversed();
  const read = async (name: string): Promise<unknown> =>
    (await conversations.records.versions(branch, { name, newest: 1 })).at(-1)?.shown?.value;
  const turns = await Promise.all(queries.map(async (query, at) => {
    const count = counts.get(query.queryId) ?? 0;
    const until = queries[at + 1]?.createdAt ?? Infinity;
    const commands = ran.filter(({ createdAt }) => createdAt >= query.createdAt && createdAt < until);
    const ended = query.running ? Math.min(count, query.iterations) : count;
    const steered = query.steered.filter(({ iteration }) => iteration > count)
      .map(({ text }) => new RequestEntry(text, { label: "sent while running", shown }));
    const entries: readonly TranscriptEntry[] = [
      ...commands.map(({ name }) => new OlderCommandEntry(name, { shown, read, redraw })),
      new RequestEntry(query.text, { shown, ...(query.only ? { label: query.only } : {}) }),
      ...ended > 0 ? [new OlderEntry(query.queryId, { from: 0, to: ended }, { ...parts, answer: query.answer })] : [],
      ...query.running ? [] : [...steered, ...lastEntries(query, shown)],
    ];
    if (!query.running) return { query, ended, entries, now: [] };
    const begun = await conversations.iterations(query.queryId, { after: ended - 1, limit: count - ended });
    const now = [...begun.map((row) => new StepEntry(storedStep(row), shown)), ...steered];
    return { query, ended, entries, now };
  }));
  const unanswered = queries[queries.findLastIndex(({ status }) => status === "done") + 1]?.createdAt ?? Infinity;
  const hasPlan = variables.some(({ name, createdAt }) => name === PLAN_VARIABLE && createdAt >= unanswered);
  return {
    turns,
    counts: { ran: highest("ran", variables), pasted: highest("pasted", variables) },
    spent: { ...spendOf(queries), walls: null, sentBytes: null },
    lastAnswer: queries.findLast(({ running, status }) => !running && status !== "interrupted")?.answer ?? "",
    asked: turns.at(-1)?.entries.find((entry) => entry instanceof RequestEntry) ?? null,
    plan: hasPlan ? planOf(await read(PLAN_VARIABLE)) : [],
  };
}

function spendOf(queries: readonly StoredQuery[]): Spend & { readonly steps: number } {
  const steps = queries.reduce((sum, { iterations }) => sum + iterations, 0);
  return { ...queries.reduce(addSpend, NOTHING_SPENT), steps };
}

function highest(word: string, variables: readonly { readonly name: string }[]): number {
  return Math.max(0, ...variables.map(({ name }) => Number(new RegExp(`^${word}_(\\d{1,9})$`).exec(name)?.[1] ?? 0)));
}

const OVER = "ended";

function stateOf(query: StoredQuery): string {
  if (!query.running) return OVER;
  const { iterations, usage: { calls }, approval } = query;
  // The number of calls grows when a step begins to run, and the number of iterations when the step ends.
  return `${calls} ${iterations} ${approval?.answer === null ? approval.question.id : ""}`;
}

function storedPhase({ ended, now }: StoredTurn): string {
  return now.some((entry) => entry instanceof StepEntry)
    ? `step ${ended + 1}, running code`
    : `step ${ended + 1}, waiting for the model`;
}

async function readSteps(entry: TranscriptEntry): Promise<readonly TranscriptEntry[]> {
  return entry instanceof OlderEntry ? await entry.read() : [entry];
}

function statesOf(queries: readonly StoredQuery[]): ReadonlyMap<string, string> {
  return new Map(queries.map((query) => [query.queryId, stateOf(query)]));
}

function lastEntries(query: EndedQuery, shown: () => DisplayOptions): readonly TranscriptEntry[] {
  const { theme } = shown();
  if (query.status === "interrupted") return [new EndEntry(query, shown)];
  const answer = new AnswerEntry(shown);
  answer.settle(query.answer, { plain: query.answerType === "text" });
  const planned = query.only === "plan" ? [new LineEntry([PLANNED_TEXT, theme.dim])] : [];
  return [answer, new EndEntry(query, shown), ...planned];
}
