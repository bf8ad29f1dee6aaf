import {
  Cancelled,
  ConfigError,
  HandedOver,
  messageOf,
  SHUTDOWN,
  StoreError,
  TakenOverError,
} from "../domain/errors.ts";
import { clip, counted, durationText, oneLine, someOf } from "../domain/kit/text.ts";
import type { ApprovalAnswer, Approve } from "../domain/query/approval.ts";
import { callsText } from "../domain/query/host_call.ts";
import { NO_USAGE } from "../domain/query/model_call.ts";
import { MORE_STEPS, type QueryReason, reasonAdvice, statusOf } from "../domain/query/outcomes.ts";
import { type Emit, Emitter } from "../domain/query/query_event.ts";
import type { QueryEnd, QueryResult } from "../domain/query/query_schemas.ts";
import type { KeyedRequest, StoredApproval, StoredQuery } from "../domain/query/stored_query.ts";
import { changedPaths } from "../domain/query/work_summary.ts";
import type { QueryScope } from "../environment/environment_parts.ts";
import { type ActiveExtensions, callView, messageWithLine, offLine } from "../extension/active_extensions.ts";
import type { FileWatcher } from "../extension/spec.ts";
import { isAboutWork, leavesText } from "../iteration/answer_claims.ts";
import type { IterationFault, IterationFrame } from "../iteration/iteration.ts";
import type { Log } from "../logging/log.ts";
import type { Asked, LeftQuery, PreviousTurn, QueryStore, StoredIteration } from "../persistence/store.ts";
import { renderConversation, renderInput } from "../prompt/context_message.ts";
import { Repetition } from "../prompt/nudges.ts";
import {
  assembleSystemPrompt,
  callMessages,
  type CallPrefix,
  NO_EXTRAS,
  type RequestExtras,
} from "../prompt/prompt.ts";
import { readingModeOf } from "../prompt/prompt.ts";
import type { ModelMessage } from "../providers/provider.ts";
import { buildContext, handoverIn, undoneNotes } from "./build_context.ts";
import { Ledger, LedgerCalls, QueryDeadline } from "./limits.ts";
import { QueryApprovals } from "./query_approvals.ts";
import { QueryState, type Unusable } from "./query_state.ts";
import { type BegunQuery, MAX_CONSECUTIVE_ERRORS, type Prepared, QueryLoop } from "./query_loop.ts";
import { chosenRoute, maxDepth, type QueryParts } from "./query_settings.ts";
import { Subcalls } from "./subcalls.ts";

export interface QueryLeft extends LeftQuery {
  readonly query: Pick<StoredQuery, "createdAt" | "steered">;
  readonly iterations: readonly StoredIteration[];
  readonly elapsedMs: number;
  /** The value is the number of the last event, or 0 if Vis sent no event. */
  readonly seq: number;
}

interface RunQueryOptions extends KeyedRequest {
  readonly signal: AbortSignal;
  readonly emit: Emit;
  readonly label?: string | undefined;
  readonly extras?: RequestExtras;
  readonly ledger?: Ledger;
  readonly parentQueryId?: string;
  /** The caller has stored the query with this id as running. */
  readonly begun?: string;
  readonly before?: PreviousTurn | null;
  readonly left?: QueryLeft | undefined;
  readonly leaving?: AbortSignal | undefined;
  readonly showsOutput?: boolean | undefined;
  /** This function gets the `call_output` events of a query without `showsOutput`. */
  readonly onOutput?: Emit | undefined;
  readonly approve?: Approve | undefined;
  readonly onUnasked?: ((option: string) => void) | undefined;
  readonly approvals?: QueryApprovals;
  readonly onChange?: (diff: string) => void;
  readonly model?: string | null | undefined;
  readonly keptFiles?: readonly string[] | undefined;
}

/** If `leaving` aborts before the end, rejects with `HandedOver`. Before another rejection, tries to end a query that
 * has begun. */
export async function runQuery(request: string, parts: QueryParts, given: RunQueryOptions): Promise<QueryResult> {
  // A sub-query has no deadline of its own, because it ends with its parent.
  const deadline = new QueryDeadline(given.signal, {
    wallMs: given.ledger ? null : parts.settings.limits.wallMs,
    now: parts.now,
    elapsedMs: given.left?.elapsedMs ?? 0,
  });
  try {
    return await runWithin(deadline, request, parts, { ...given, signal: deadline.signal });
  } finally {
    deadline.close();
  }
}

const FORESEEN = [ConfigError, StoreError, TakenOverError] as const;

async function runWithin(
  deadline: QueryDeadline,
  request: string,
  parts: QueryParts,
  options: RunQueryOptions,
): Promise<QueryResult> {
  const query = await begin(deadline, request, parts, options);
  const { queryId, state } = query;
  let unstored = false;
  const ending = new QueryEnding(query);
  const ended = async (...how: Parameters<QueryEnding["end"]>): Promise<QueryResult> => {
    const result = await ending.end(...how);
    unstored = result.reason === "unstored";
    return result;
  };
  try {
    const prepared = await prepare(query);
    // If no sandbox can start, the query ends before the model call.
    if (!parts.environment.alive) {
      parts.trySandbox?.({ granted: prepared.active.granted ?? [], workspace: parts.environment.branch.workspace });
    }
    const loop = new QueryLoop(prepared, options.leaving);
    if (options.left) loop.continueFrom(options.left.iterations, options.left.query.steered);
    return await ended(await loop.run(), loop);
  } catch (error) {
    if (error instanceof Cancelled) return await ended("cancelled");
    if (error instanceof HandedOver) {
      await query.subcalls.close();
      throw error;
    }
    unstored = !(error instanceof ConfigError);
    if (unstored) state.final = null;
    if (error instanceof ConfigError) state.failed(error.message);
    if (error instanceof StoreError) await ending.fail(error);
    else await ending.end(error instanceof ConfigError ? "configuration" : "defect").catch(() => {});
    if (!FORESEEN.some((kind) => error instanceof kind)) {
      parts.log.error("query_defect", { queryId, stack: error instanceof Error ? error.stack : String(error) });
    }
    throw error;
  } finally {
    // If this fails, the caller still gets the result or the first error.
    await parts.environment.endQuery({ unstored }).catch((error: unknown) => {
      parts.log.error("environment_not_undone", { queryId, error: String(error) });
    });
  }
}

async function begin(
  deadline: QueryDeadline,
  request: string,
  given: QueryParts,
  options: RunQueryOptions,
): Promise<BegunQuery> {
  const { environment, settings, now } = given;
  const { extras = NO_EXTRAS, emit, signal, parentQueryId, left, before = null, model = null } = options;
  const started = left?.query.createdAt ?? now();
  const ledger = options.ledger ?? Ledger.open(settings.limits, () => deadline.elapsedMs);
  const calls = new LedgerCalls(given.router, { ledger, model });
  const router = parentQueryId ? calls : new LedgerCalls(given.router, { ledger, model, gate: null });
  const parts = { ...given, router, ...parentQueryId ? { fileChanges: undefined } : {} };
  const { branchId, conversationId } = environment.branch;
  const served = router.current().model;
  const queryId = options.begun ?? await storeQuery(request, parts, { ...options, branchId });
  const emitter = new Emitter(emit, { queryId, now, parentQueryId, seq: left?.seq ?? 0 });
  const output = options.showsOutput ? emitter : new Emitter(options.onOutput ?? (() => {}), { queryId, now });
  if (left) {
    ledger.count(left);
    ledger.countEarlier(left.subcalls);
  }
  if (!left?.seq) emitter.send({ type: "started", conversationId, request, model: served });
  given.steering?.follow(keptWaiting({ store: parts.store, emitter, queryId }));
  const state = new QueryState(settings);
  const keptFiles = pathsText(options.keptFiles ?? []);
  if (keptFiles !== "") state.notes.push(keptForModel(keptFiles));
  const keep = (asked: string): void => state.keepAsked(asked);
  const approvals = options.approvals ?? QueryApprovals.of(given, {
    approve: options.approve && storedWhileAsked(options.approve, { store: parts.store, log: parts.log, queryId }),
    ...{ deadline, keep, onUnasked: options.onUnasked },
  });
  const askedBefore = approvals.askedMs;
  const askedMs = (): number => approvals.askedMs - askedBefore;
  const onChange = (diff: string): void => {
    state.changed.add(diff);
    for (const path of changedPaths(diff)) parts.environment.fileChanged(path);
    options.onChange?.(diff);
  };
  const run: typeof runQuery = async (task, ...rest) => {
    const result = await runQuery(task, ...rest);
    state.keepChild(task, result);
    return result;
  };
  const emitBelow: Emit = (event, ...rest) => {
    if (event.type === "host_call") state.work.take(event);
    emit(event, ...rest);
  };
  const below = { parts: given, queryId, calls, ledger, approvals, emitter, emit: emitBelow, signal, onChange, run };
  return {
    ...{ queryId, request, started, before, extras, signal, deadline, parts },
    ...{ state, ledger, approvals, askedMs, emitter, output, onChange, keptFiles },
    takeUndone: parentQueryId ? async () => {} : undoneTaker({ parts, queryId, started, state, onChange }),
    subcalls: new Subcalls(below),
  };
}

const MOST_PATHS = 8;

function pathsText(paths: readonly string[]): string {
  const shown = paths.slice(0, MOST_PATHS).map((path) => oneLine(path, 200));
  return [...shown, ...paths.length > MOST_PATHS ? [`${paths.length - MOST_PATHS} more`] : []].join(", ");
}

function keptForModel(paths: string): string {
  return `An earlier attempt at this request changed files, and these changes are still there: ${paths}. ` +
    "Read the files before you change them";
}

function undoneTaker(
  { parts: { environment, log }, queryId, started, state, onChange }:
    & Pick<BegunQuery, "queryId" | "started" | "state" | "onChange">
    & { readonly parts: Pick<QueryParts, "environment" | "log"> },
): BegunQuery["takeUndone"] {
  let watcher: FileWatcher | null = null;
  return async () => {
    if (!state.acted) return;
    try {
      watcher ??= environment.watchHook(queryId);
      const changes = await watcher?.undone?.(started) ?? [];
      for (const { diff } of changes) onChange(diff);
      state.notes.push(...undoneNotes(changes));
    } catch (error) {
      log.warn("file_changes_not_listed", { error: messageOf(error) });
    }
  };
}

async function prepare(query: BegunQuery): Promise<Prepared> {
  const { queryId, request, parts, state, signal, emitter, extras } = query;
  const { environment, router, settings, log, now } = parts;
  const keepDiffs = diffKeeper(query);
  const scope: QueryScope = {
    queryId,
    signal,
    onlyReads: readingModeOf(settings) !== null,
    budget: () => state.budget,
    maxDepth: maxDepth(settings),
    root: () => rootOf(router),
    requestMore: (n) => state.requestMore(n),
    answer: (text, facts) => state.offer({ text, ...facts }),
    subcalls: query.subcalls,
    approve: (asked, from) => query.approvals.request(asked, { ...environment.branch, ...from, emitter }),
    onCall: (call, of) => {
      state.work.take(call);
      state.keepCall(call, of);
      if (call.diffs !== undefined && !of.isLate) keepDiffs();
      emitter.send({ type: "host_call", ...call }, of);
    },
    onOutput: (printed, of) => query.output.send({ type: "call_output", ...printed }, of),
    onChange: query.onChange,
  };
  const active = await environment.beginQuery(scope);
  environment.bindSystem("$query", request);
  if (extras.answerSchema?.variable) environment.bindSystem("$schema", extras.answerSchema.variable);
  const frame: IterationFrame = {
    environment,
    router,
    emitter,
    log,
    queryId,
    ...stablePrefix(request, parts, active, query),
    extras,
    deadlines: settings.deadlines,
    signal,
    now,
    askedMs: query.askedMs,
  };
  return { ...query, frame, active, handover: await handoverIn(environment, query.before) };
}

const SHOWN_REQUEST = { limit: 32_000, head: 16_000, tail: 4_000 };

function stablePrefix(
  request: string,
  { environment, settings }: Pick<QueryParts, "environment" | "settings">,
  { blocks, example, off = [] }: Pick<ActiveExtensions, "blocks" | "example" | "off">,
  { started, before }: Pick<BegunQuery, "started" | "before">,
): Pick<CallPrefix, "system" | "request" | "conversation" | "example"> {
  const system = assembleSystemPrompt({
    environment: {
      ...settings.machine,
      cwd: environment.branch.workspace,
      date: new Date(started).toISOString().slice(0, 10),
    },
    instructions: settings.instructions,
    extensions: [...blocks, offLine(off)].map((block) => ({ block })),
  });
  const text = [requestText(request), ...environment.given.shown.map(renderInput)].join("\n\n");
  return { system, request: text, conversation: before ? renderConversation(before.earlier) : "", example };
}

function requestText(request: string): string {
  const { limit, head, tail } = SHOWN_REQUEST;
  if (request.length <= limit) return request;
  const first = request.slice(0, head).replace(/[\ud800-\udbff]$/, "");
  const last = request.slice(-tail).replace(/^[\udc00-\udfff]/, "");
  const left = request.length - first.length - last.length;
  return `${first}\n\n[… ${left} of ${request.length} characters are not shown: the whole request is the string $query; read it in code …]\n\n${last}`;
}

function rootOf(router: Pick<QueryParts["router"], "current">): { readonly provider: string; readonly model: string } {
  const { provider, model } = router.current();
  return { provider: provider.name, model };
}

class QueryEnding {
  readonly #query: BegunQuery;
  #sent = false;

  constructor(query: BegunQuery) {
    this.#query = query;
  }

  async end(why: QueryReason, loop: Pick<QueryLoop, "end"> | null = null): Promise<QueryResult> {
    const { deadline, subcalls } = this.#query;
    const reason = why === "cancelled" && deadline.passed ? "limit_time" : reasonOf(why, this.#query);
    await subcalls.close();
    await this.#query.takeUndone();
    return this.#announce(await this.#stored(await withUndo(compose(reason, this.#query), this.#query), loop));
  }

  async fail(error: StoreError): Promise<void> {
    await this.#query.subcalls.close();
    this.#announce(await this.#unstored(compose("unstored", this.#query), error));
  }

  /** After a takeover, another process ends the query. After another store error, the caller still gets the answer,
   * because the user has paid for it. */
  async #stored(result: QueryResult, loop: Pick<QueryLoop, "end"> | null): Promise<QueryResult> {
    const { parts: { store }, queryId, state } = this.#query;
    const end = storedEnd(result, this.#query);
    try {
      if (loop) await loop.end((last) => store.endQuery(queryId, end, last));
      else await store.endQuery(queryId, end);
      return result;
    } catch (error) {
      if (error instanceof TakenOverError) this.#takenOver(error);
      if (state.final === null || !(error instanceof StoreError)) throw error;
      return await this.#unstored(result, error);
    }
  }

  async #unstored(result: QueryResult, { message }: StoreError): Promise<QueryResult> {
    const { parts: { store }, queryId } = this.#query;
    const reason = "unstored";
    const unstored: QueryResult = { ...result, reason, status: statusOf(reason), notes: [...result.notes, message] };
    // The store may still accept the end alone.
    await store.endQuery(queryId, storedEnd(unstored, this.#query)).catch(() => {});
    return unstored;
  }

  #takenOver({ message }: TakenOverError): void {
    const { parts: { log }, queryId, state } = this.#query;
    state.final = null;
    log.warn("query_taken_over", { queryId });
    this.#send("failed", { ...compose("process_lost", this.#query), answer: message });
  }

  #announce(result: QueryResult): QueryResult {
    const { parts: { log }, queryId } = this.#query;
    const { status, reason, iterations, ms } = result;
    log.info("query_ended", { queryId, status, reason, iterations, ms });
    this.#send(reason === "answered" ? "final" : status === "interrupted" ? "cancelled" : "failed", result);
    return result;
  }

  #send(type: "final" | "failed" | "cancelled", result: QueryResult): void {
    if (this.#sent) return;
    this.#sent = true;
    const { emitter } = this.#query;
    emitter.iteration = null;
    emitter.send({ type, result });
  }
}

const MAX_LOST = 5;

async function withUndo(result: QueryResult, { parts, started, state }: BegunQuery): Promise<QueryResult> {
  const { work } = result;
  const { files = 0, commands = [], others = [] } = work ?? {};
  if (!work || files === 0 || !parts.fileChanges) return result;
  const { recorders = [] } = parts.environment.active ?? {};
  const isRecorded = [...state.work.changers].every((alias) => recorders.includes(alias));
  // Commands, other actions and other extensions can change files that an undo does not know.
  if (isRecorded && commands.length + others.length === 0) return result;
  try {
    const changes = await parts.fileChanges(parts.environment.branch) ?? [];
    const own = changes.filter(({ at, undone }) => at >= started && !undone);
    const canUndo = own.some(({ paths, committed = [], lost = [] }) =>
      new Set([...committed, ...lost]).size < paths.length
    );
    const lost = [...new Set(own.flatMap(({ lost = [] }) => lost))];
    const notes = lost.length === 0
      ? result.notes
      : [...result.notes, `Undo cannot revert the changes of ${someOf(lost, MAX_LOST)}, because Vis kept no copy`];
    return { ...result, notes, work: canUndo ? work : { ...work, noUndo: true } };
  } catch (error) {
    parts.log.warn("file_changes_not_listed", { error: messageOf(error) });
    return result;
  }
}

function reasonOf(why: QueryReason, { state, extras }: BegunQuery): QueryReason {
  return why === "max_iterations" && state.final === null && extras.answerSchema?.refused ? "answer_schema" : why;
}

function storedEnd({ value: _inAnswer, ...end }: QueryResult, query: BegunQuery): QueryEnd {
  const { state, extras, request, before, parts: { environment: { given } } } = query;
  const isIdle = before?.idle !== false && !state.acted && extras.images.length + given.shown.length === 0 &&
    !leavesText(end.answer, request);
  return { ...end, ...isIdle ? { idle: true } : {} };
}

const DID_CHARS = 300;

function compose(
  reason: QueryReason,
  {
    state,
    extras,
    ledger,
    queryId,
    parts: { environment, settings, now },
    started,
    request,
    askedMs,
    keptFiles,
    signal,
  }: BegunQuery,
): QueryResult {
  const { final } = state, only = readingModeOf(settings);
  const ms = Math.max(0, now() - started - askedMs());
  const answer = final?.answer || (reason === "answered" || reason === "forked" ? "" : fallbackAnswer({
    reason,
    iterations: state.position,
    isCutOff: state.isCutOff,
    used: state.used,
    budget: state.budget,
    ceiling: settings.operatorCeiling ?? null,
    ms,
    thinking: state.thinking,
    errors: state.errors,
    refused: extras.answerSchema?.refused ?? null,
    unusable: state.faults.unusable,
    prose: state.texts.at(-1) ?? null,
    unsupported: state.unsupported,
    ...reason === "limit_cost" || reason === "limit_tokens" ? { limit: ledger.limitText(reason) } : {},
  }));
  const isTemporary = reason === "provider"
    ? state.temporary
    : reason === "process_lost" || reason === "cancelled" && signal.reason === SHUTDOWN;
  const did = oneLine(callsText(state.calls.linesWithin(DID_CHARS)), DID_CHARS);
  const work = state.work.facts(state.changed, { claimed: only === null && isAboutWork(answer, request) });
  return {
    status: statusOf(reason),
    reason,
    answer,
    answerType: final?.answerType ?? "text",
    confidence: final?.confidence ?? null,
    queryId,
    conversationId: environment.branch.conversationId,
    iterations: state.position,
    ...ledger.spent,
    ms,
    ...(final?.answer || reason === "answered" ? {} : { noAnswer: true as const }),
    ...(isTemporary ? { temporary: true as const } : {}),
    notes: [
      ...final?.notes ?? [],
      ...work.text === "" ? [] : [work.text],
      ...keptFiles === "" ? [] : [`An earlier attempt changed ${keptFiles}; these changes are kept`],
      ...failedPrograms(environment),
      ...failedExtensions(environment),
      ...environment.unattached,
      ...endedPrograms(environment),
    ],
    work: did === "" ? work : { ...work, did },
    ...only === null ? {} : { only },
    ...(final?.value === undefined ? {} : { value: final.value }),
  };
}

function failedPrograms({ programs: { failed } }: QueryParts["environment"]): readonly string[] {
  return failed.length === 0 ? [] : [`Failed in the background: ${failed.join("; ")}`];
}

const MOST_FAULTS = 5;

function failedExtensions({ extensionFaults }: QueryParts["environment"]): readonly string[] {
  const said = extensionFaults.map(({ namespace, phase, error }) =>
    phase === "warn"
      ? oneLine(messageOf(error), 300)
      : `Extension ${namespace} failed in ${phase}: ${oneLine(messageWithLine(error), 300)}`
  );
  return [...new Set(said)].slice(0, MOST_FAULTS);
}

function endedPrograms({ views, programs: { titles } }: QueryParts["environment"]): readonly string[] {
  if (titles.length === 0 || !views.view().endsWithQuery) return [];
  const shown = titles.map((title) => oneLine(title, 80)).join("; ");
  return [
    `Ended with this run: ${shown} (commands keep running after a request in interactive mode and in servers, such as vis serve)`,
  ];
}

interface Unanswered {
  readonly reason: Exclude<QueryReason, "answered" | "forked">;
  readonly iterations: number;
  readonly isCutOff?: boolean;
  readonly used: number;
  readonly budget: number;
  readonly ceiling?: number | null;
  readonly ms: number;
  readonly thinking: string;
  readonly errors: readonly string[];
  readonly refused?: string | null;
  readonly unusable?: Unusable | null;
  readonly prose?: string | null;
  /** With the value of the limit, such as "its limit of 1000 tokens". */
  readonly limit?: string;
  readonly unsupported?: { readonly answer: string; readonly reason: string } | null;
}

export function fallbackAnswer(query: Unanswered): string {
  const { reason, thinking, errors, prose, unsupported, ceiling = null } = query;
  const lines = [headline(query)];
  if (reason === "unusable_replies" && prose) lines.push(`It wrote: ${clip(prose.trim(), 2000)}`);
  if (reason === "unsupported_answer" && unsupported) {
    lines.push(clip(unsupported.reason, 1000), `The answer that it gave: ${clip(unsupported.answer, 2000)}`);
  }
  if (thinking && !UNTHOUGHT.includes(reason)) {
    lines.push(`Last thinking: ${clip(thinking, 800)}`);
  }
  if (reason === "error_budget") lines.push(...errors.slice(-3).map((error) => `Error: ${clip(error, 300)}`));
  const isLimited = reason === "max_iterations" && ceiling !== null && ceiling < MORE_STEPS;
  const advice = isLimited ? limitedAdvice(ceiling) : reasonAdvice(reason);
  if (advice) lines.push(advice);
  return lines.join("\n");
}

function limitedAdvice(ceiling: number): string {
  return `Raise the maximum (setting budget.ceiling), continue with ${
    counted(ceiling, "more step")
  }, or ask for less ` +
    "at once; the variables are kept.";
}

const UNTHOUGHT: readonly QueryReason[] = ["unusable_replies", "unsupported_answer", "cancelled"];

const INSTEAD: Readonly<Record<Exclude<IterationFault, "broken" | "call">, string>> = {
  empty: "with an empty text",
  thinking: "with reasoning only",
  idle: "with neither code to run nor a final answer",
  tools: "with tool calls, although it has no tools",
  text: "with plain text instead of the required format",
  json: "with JSON that does not have the required format",
  cut: "with an incomplete text",
};

function headline(query: Unanswered): string {
  const { reason, iterations, isCutOff = false, used, budget, ms, refused, unusable, limit } = query;
  const error = query.errors.at(-1) ?? "";
  const done = counted(iterations, "step");
  switch (reason) {
    case "max_iterations": {
      const free = iterations - used - 1; // The budget does not include the last call.
      const more = free === 1 ? " 1 more, without a result, was" : ` ${free} more, without a result, were`;
      return `No answer within the budget of ${counted(budget, "step")}.${free > 0 ? `${more} not counted.` : ""}`;
    }
    case "error_budget":
      return `No answer after ${done}: ${MAX_CONSECUTIVE_ERRORS} steps failed without a successful block between them.`;
    case "answer_schema":
      return `No answer that satisfies the schema after ${done}. ${clip(refused ?? "", 1000)}`;
    case "unusable_replies":
      return unusable ? said(unusable) : "The model gave no usable reply.";
    case "unsupported_answer":
      return "No answer: Vis refused two answers in a row for the same reason.";
    case "limit_cost":
      return `No answer: the request reached ${limit ?? "its cost limit"} after ${done}.`;
    case "limit_tokens":
      return `No answer: the request reached ${limit ?? "its token limit"} after ${done}.`;
    case "limit_time":
      return `Timed out after ${durationText(ms)} in step ${isCutOff ? iterations : iterations + 1}.`;
    case "provider":
      return error || "Vis could not reach the model.";
    case "configuration":
      return error || "A setting prevents this request.";
    case "cancelled":
      return `Cancelled ${isCutOff ? `in step ${iterations}` : `after ${done}`}; completed work is kept.`;
    case "process_lost":
      return `Vis ended or stopped responding after ${done}; completed work is kept.`;
    case "unstored":
      return `No answer: Vis could not use the database after ${done}; the stored work is kept.`;
    case "defect":
      return `Vis failed with an internal error after ${done}; completed work is kept.`;
  }
}

function said({ model, count, fault }: Unusable): string {
  const instead = fault === null || fault === "broken" || fault === "call" ? null : INSTEAD[fault];
  return `The model ${model} replied ${count} times in a row ${instead ?? "without anything usable"}.`;
}

/** The environment must be new, because this function changes its index. */
export async function previewCall(
  request: string,
  { parts, extras }: { readonly parts: Omit<QueryParts, "owner">; readonly extras: RequestExtras },
): Promise<readonly ModelMessage[]> {
  const { environment, registry, router, settings, log, now } = parts;
  const view = callView(environment.view(), {
    onlyReads: readingModeOf(settings) !== null,
    maxDepth: maxDepth(settings),
  });
  const active = await registry.activate(view, environment.views.own);
  environment.index.system("$query", request);
  if (extras.answerSchema?.variable) environment.index.system("$schema", extras.answerSchema.variable);
  const before = await environment.store.previousTurn(environment.branch.branchId, "");
  const context = await buildContext({
    environment,
    active,
    state: new QueryState(settings),
    repetition: new Repetition(),
    caps: settings.caps,
    handover: await handoverIn(environment, before),
    steered: [],
    log,
    last: null,
  });
  const prefix = { ...stablePrefix(request, parts, active, { started: now(), before }), extras };
  return callMessages(prefix, { context, alternatingRoles: router.current().capabilities.alternatingRoles });
}

interface StoreOptions extends KeyedRequest {
  readonly branchId: string;
  readonly label?: string | undefined;
  readonly queryId?: string | undefined;
  readonly extras?: RequestExtras;
  readonly askedAs?: Asked | undefined;
  readonly retryOf?: string | undefined;
  readonly model?: string | null | undefined;
}

export async function storeQuery(
  request: string,
  { store, router, owner, settings }: Pick<QueryParts, "store" | "owner" | "settings"> & {
    readonly router: Pick<QueryParts["router"], "current" | "routes">;
  },
  { branchId, label, extras = NO_EXTRAS, askedAs, retryOf, requestKey, queryId, model: named = null }: StoreOptions,
): Promise<string> {
  const { provider, model } = chosenRoute(router, named);
  return await store.beginQuery({
    ...{ branchId, text: request, model, owner, requestKey, queryId },
    provider: provider.name,
    promptEnrichment: settings.instructions,
    runLabel: label ?? null,
    images: extras.images,
    answerSchema: extras.answerSchema?.text ?? null,
    askedAs: askedAs ?? null,
    only: readingModeOf(settings),
    ...(retryOf === undefined ? {} : { retryOf }),
  });
}

function storedWhileAsked(
  approve: Approve,
  { store, log, queryId }: { readonly store: QueryStore; readonly log: Log; readonly queryId: string },
): Approve {
  const keep = (approval: StoredApproval): Promise<void> =>
    store.setQuestion(queryId, approval)
      .catch((error: unknown) => log.warn("question_not_stored", { queryId, error: messageOf(error) }));
  return async (question, signal) => {
    const kept = keep({ question, answer: null });
    let answer: ApprovalAnswer = { decision: "no", reason: "" };
    try {
      return answer = await approve(question, signal);
    } finally {
      await kept;
      await keep({ question, answer });
    }
  };
}

function keptWaiting(
  { store, emitter, queryId }: {
    readonly store: QueryStore;
    readonly emitter: Emitter;
    readonly queryId: string;
  },
): (texts: readonly string[]) => void {
  let kept = Promise.resolve();
  return (texts) => {
    emitter.send({ type: "steering", texts });
    // A failure only hides these messages from other processes.
    kept = kept.then(() => store.setWaiting(queryId, texts)).catch(() => {});
  };
}

/** Vis stores changes while a block runs, so that another process knows them if this process ends. */
function diffKeeper({ state, parts: { environment } }: Pick<BegunQuery, "state" | "parts">): () => void {
  let kept = Promise.resolve(), isDue = false;
  const keep = async (): Promise<void> => {
    isDue = false;
    const { iterationId, store } = environment;
    if (iterationId !== null) await store.setDiffs(iterationId, [...state.diffs]);
  };
  return () => {
    if (isDue) return; // The next write has all diffs, so many edits cause few writes.
    isDue = true;
    kept = kept.then(keep).catch(() => {});
  };
}

export async function endUnrun(store: Pick<QueryStore, "endQuery">, queryId: string): Promise<void> {
  const facts = { iterations: 0, budget: 0, ms: 0, thinking: "", errors: [] };
  await store.endQuery(queryId, {
    ...{ status: "error", reason: "defect", answer: fallbackAnswer({ ...facts, used: 0, reason: "defect" }) },
    ...{ answerType: "text", confidence: null, iterations: 0, usage: NO_USAGE, costUsd: 0, ms: 0, notes: [] },
  });
}
