import { BusyError, Cancelled, messageOf, UsageError } from "../domain/errors.ts";
import { DEFAULT_TENANT, newId } from "../domain/kit/ids.ts";
import { isGone } from "../domain/kit/files.ts";
import { oneLine } from "../domain/kit/text.ts";
import type { ApprovalAnswer, ApprovalQuestion } from "../domain/query/approval.ts";
import type { SentMessage } from "../domain/query/model_call.ts";
import { MORE_STEPS, moreRequest, reasonText, takesMore } from "../domain/query/outcomes.ts";
import type { QueryEvent, QueryResult } from "../domain/query/query_schemas.ts";
import type { BackgroundProgram } from "../domain/admin_reports.ts";
import { type IterationRange, type StoredQuery, titleOfRequest } from "../domain/query/stored_query.ts";
import type { ConversationFilter, NewConversation, NewFork } from "../domain/records/conversations.ts";
import type { NewestQueries } from "../domain/records/history.ts";
import type { PagedRecording, Recording } from "../domain/records/recording.ts";
import { Environment } from "../environment/environment.ts";
import type { InputVariable } from "../environment/input_variables.ts";
import type {
  Branch,
  BranchNode,
  ConversationStore,
  LargeTextStore,
  Store,
  StoredIteration,
} from "../persistence/store.ts";
import type { ModelMessage } from "../providers/provider.ts";
import type { ModelRoute } from "../providers/router/routes.ts";
import { PREFERENCES } from "../query/query_settings.ts";
import { previewCall } from "../query/run_query.ts";
import { Exports } from "./export/exports.ts";
import { OtherProcesses } from "./other_processes.ts";
import { QueryRunner, type RunnerOptions, type RunnerParts } from "./query_runner.ts";
import { checkedReview, withReviewedChanges } from "./reviewed_changes.ts";
import { readSettled, Records } from "./stored_conversations.ts";
import {
  allInputVariables,
  type AskOptions,
  type AskTarget,
  checkedExtras,
  checkPrice,
  checkRequest,
  requestSettings,
} from "./ask_options.ts";

export type Conversation = Branch;

export type BranchOfConversation = BranchNode;

export interface ConversationParts extends RunnerParts {
  /** If absent, a request may continue a conversation of any folder. */
  readonly served?: readonly string[];
  readonly shared?: (runner: QueryRunner) => SharedQueries;
}

export type StoredView = Pick<
  Store,
  | "search"
  | "logs"
  | "turns"
  | "variables"
  | "dependencies"
  | "keyedQuery"
  | "labelUse"
  | "writeFault"
  | "exportConversation"
>;

interface ConversationView {
  readonly tenant: string;
  readonly all: boolean;
}

interface Common {
  readonly runner: QueryRunner;
  readonly shared: SharedQueries | null;
  readonly own: Store;
  readonly exports: Exports;
}

export class Conversations {
  readonly stored: StoredView;
  readonly records: Records;
  readonly shared: SharedQueries | null;
  readonly exports: Exports;
  readonly elsewhere: OtherProcesses;
  readonly #parts: ConversationParts;
  readonly #runner: QueryRunner;
  readonly #own: Store;

  constructor(parts: ConversationParts, common?: Common) {
    this.#parts = parts;
    this.#own = common?.own ?? parts.store;
    this.stored = parts.store;
    this.records = new Records(parts.store, this.#own);
    this.exports = common?.exports ?? new Exports();
    this.#runner = common?.runner ?? new QueryRunner(parts);
    this.elsewhere = new OtherProcesses(parts.store, { storeOf: (branch) => this.#runner.storeOf(branch) });
    this.shared = common ? common.shared : parts.shared?.(this.#runner) ?? null;
  }

  get routes(): readonly ModelRoute[] {
    return this.#parts.router.routes;
  }

  get modelNames(): readonly string[] {
    return [...PREFERENCES, ...this.routes.flatMap(({ provider, model }) => [model, `${provider.name}/${model}`])];
  }

  get #store(): Store {
    return this.#parts.store;
  }

  of({ tenant, all }: ConversationView): Conversations {
    const own = this.#runner.storeOf({ tenant });
    const common = { runner: this.#runner, shared: this.shared, own, exports: this.exports };
    return new Conversations({ ...this.#parts, store: all ? own.of(null) : own }, common);
  }

  async create(facts: Omit<NewConversation, "externalId">): Promise<Branch> {
    return await this.#own.createConversation({ ...facts, title: oneLine(facts.title, 100) });
  }

  async byId(id: string): Promise<Branch> {
    const branch = await this.#store.findConversation(id);
    if (!branch) throw await notFound(id, this.#store);
    return branch;
  }

  async latest(workspace: string): Promise<Branch | null> {
    return await this.#store.latestConversation(workspace);
  }

  async queries(branch: Branch, options?: NewestQueries): Promise<readonly StoredQuery[]> {
    const read = () => this.#store.queries(branch.branchId, options);
    return await readSettled(this.#store, read, (found) => found.some(({ running }) => running));
  }

  async iterations(queryId: string, range?: IterationRange): Promise<readonly StoredIteration[]> {
    return await this.#store.iterations(queryId, range);
  }

  async attempts(queryId: string): Promise<readonly string[]> {
    return await this.#store.attempts(queryId);
  }

  async recording(branch: Branch): Promise<Recording> {
    const { readRecording } = await import("./read_recording.ts");
    return await readRecording(this.#store, branch);
  }

  async paged(branch: Branch): Promise<PagedRecording> {
    const { pagedRecording } = await import("./read_recording.ts");
    return await pagedRecording(this.#store, branch);
  }

  async list(options: ConversationFilter): ReturnType<Store["listConversations"]> {
    const read = () => this.#store.listConversations(options);
    return await readSettled(this.#store, read, (found) => found.some(({ running }) => running));
  }

  async delete({ conversationId }: Branch): Promise<void> {
    const busy = () =>
      new BusyError(
        `Cannot delete conversation ${conversationId}: a request is running in it; cancel the request first`,
      );
    if (await this.shared?.isBusy(conversationId)) throw busy();
    for (const { branchId } of await this.#store.branches(conversationId)) {
      if (this.#runner.isBusy(branchId)) throw busy();
      await this.close(branchId);
    }
    await this.records.running(conversationId);
    await this.#parts.approvalRules?.forget(conversationId);
    await this.#store.deleteConversation(conversationId);
  }

  /** Rejects with `UsageError` for an unusable request or option before a conversation or a fork exists. */
  async ask(
    target: AskTarget,
    typed: string,
    options: AskOptions & Pick<RunnerOptions, "keptFiles">,
  ): Promise<QueryResult> {
    checkRequest(typed);
    await this.#checkServed(target);
    this.#checkPrice(options);
    const extras = await checkedExtras(options, this.#parts.router);
    const checked = { ...options, extras };
    const { only } = options;
    const request = only === "review"
      ? await checkedReview(typed, { ...this.#parts, workspace: (await this.#placeOf(target))?.workspace ?? "" })
      : typed;
    if ("branchId" in target) return await this.#runIn(target, request, checked);
    const given = await allInputVariables(options, this.#store);
    if (options.signal.aborted) throw new Cancelled("Cancelled");
    const branch =
      await ("queryId" in target ? this.fork(target) : this.create({ ...target, title: titleOfRequest(request) }));
    return await this.#runIn(branch, request, { ...checked, read: given });
  }

  async fork(at: NewFork): Promise<Branch> {
    return await this.#store.fork(at);
  }

  async branches(conversationId: string): Promise<readonly BranchNode[]> {
    return await this.#store.branches(conversationId);
  }

  /** Runs the query in a fork if another query follows, or if the branch `seenFrom` inherits the query. */
  async retry(
    queryId: string,
    { seenFrom, ...options }:
      & Pick<AskOptions, "signal" | "emit" | "approve" | "maxIterations" | "model" | "limits">
      & Pick<AskOptions, "requestKey" | "label" | "onBranch" | "showsOutput" | "onUnasked">
      & { readonly seenFrom?: Branch },
  ): Promise<QueryResult> {
    const query = await this.#store.query(queryId);
    if (!query) {
      throw new UsageError(
        `Cannot retry request ${queryId}: no request has this id; choose one from the list of requests`,
      );
    }
    const branch = await this.byId(query.branchId);
    const queries = await this.#store.queries((seenFrom ?? branch).branchId);
    const from = queries.findIndex((one) => one.queryId === queryId);
    const keptFiles = await this.#keptFiles(branch, from < 0 ? [query] : queries.slice(from));
    const again = { ...options, ...await asBefore(queryId, this.#store), keptFiles };
    const last = (await this.#store.queries(branch.branchId, { newest: 1 })).at(-1);
    const inherited = seenFrom !== undefined && seenFrom.branchId !== query.branchId;
    if (inherited || last?.queryId !== queryId) return await this.ask({ queryId, position: -1 }, query.text, again);
    await this.#checkServed(branch);
    this.#checkPrice(again);
    const extras = await checkedExtras(again, this.#parts.router);
    return await this.#runIn(branch, query.text, { ...again, extras, refuseWhenBusy: true, retryOf: queryId });
  }

  async #keptFiles(branch: Branch, queries: readonly Pick<StoredQuery, "queryId">[]): Promise<readonly string[]> {
    const { fileChanges, log } = this.#parts;
    if (!fileChanges) return [];
    try {
      const runs = await Promise.all(queries.map(({ queryId }) => this.attempts(queryId)));
      const replaced = new Set(runs.flat());
      const changes = await fileChanges(branch) ?? [];
      const kept = changes.filter(({ queryId, undone }) => queryId !== null && replaced.has(queryId) && !undone);
      return [...new Set(kept.flatMap(({ paths }) => paths))];
    } catch (error) {
      log.warn("file_changes_not_listed", { error: messageOf(error) });
      return [];
    }
  }

  async more(branch: Branch, options: AskOptions): Promise<QueryResult> {
    const last = (await this.#store.queries(branch.branchId, { newest: 1 })).at(-1);
    if (!last) throw new UsageError("Cannot continue the conversation: it has no request yet; send one first");
    if (last.running || !takesMore(last.reason)) {
      const how = last.running
        ? "it is still running; wait until it ends"
        : `it did not stop at its step limit (${reasonText(last.reason)}); send a new request`;
      throw new UsageError(`Cannot give the last request more steps: ${how}`);
    }
    const { given: _inBranch, ...before } = await asBefore(last.queryId, this.#store);
    return await this.ask(branch, moreRequest(last.text), { ...before, ...options, maxIterations: MORE_STEPS });
  }

  /** Resolves with true once the store has the message for the next model call. Resolves with false if no query takes
   * the message, or the signal aborts. */
  async steer(
    branch: Branch,
    text: string,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<boolean> {
    const { branchId } = branch;
    if (this.#runner.runs(branchId)) return await this.#runner.steer(branchId, text, signal);
    return await this.shared?.steer(branchId, text, signal) || await this.elsewhere.steer(branch, text, signal);
  }

  programs(branch: Branch | null): readonly BackgroundProgram[] {
    return this.#runner.programs(branch?.branchId ?? null);
  }

  async #checkServed(target: AskTarget): Promise<void> {
    const { served } = this.#parts, place = served && await this.#placeOf(target);
    if (!place || served.includes(place.workspace)) return;
    const id = "conversationId" in place ? place.conversationId.slice(0, 13) : "ID";
    throw new UsageError(
      `Cannot continue the conversation: it belongs to ${place.workspace}, and this Vis works in ` +
        `${served.join(", ")}; vis --conversation ${id} continues it there`,
    );
  }

  async #placeOf(target: AskTarget): Promise<Branch | { readonly workspace: string } | null> {
    if (!("queryId" in target)) return target;
    const query = await this.#store.query(target.queryId);
    return query && await this.byId(query.branchId);
  }

  async preview(
    typed: string,
    where: { readonly branch: Branch } | { readonly workspace: string },
    given: Pick<AskOptions, "images" | "responseSchema" | "only" | "context"> = {},
  ): Promise<readonly ModelMessage[]> {
    checkRequest(typed);
    const extras = await checkedExtras(given, this.#parts.router);
    const settings = requestSettings(this.#parts.settings, given);
    const workspace = "branch" in where ? where.branch.workspace : where.workspace;
    const request = given.only === "review" ? await checkedReview(typed, { ...this.#parts, workspace }) : typed;
    const input = await withReviewedChanges(await allInputVariables(given, NOTHING_STORED), {
      ...{ ...this.#parts, ...settings, request, store: NOTHING_STORED, workspace },
    });
    const { now } = this.#parts;
    const tenant = this.#own.tenant ?? DEFAULT_TENANT;
    const nowhere = { conversationId: newId(), branchId: newId(), tenant, title: "", createdAt: now() };
    const branch = "branch" in where ? where.branch : { ...nowhere, workspace };
    const environment = await Environment.open({ ...this.#parts, store: this.#runner.storeOf(branch), branch });
    await environment.begin(request, input);
    return await previewCall(request, { parts: { ...this.#parts, settings, environment }, extras });
  }

  /** `position` counts from 0. */
  async sentMessages(queryId: string, position: number): Promise<readonly SentMessage[] | null> {
    return await this.#store.sentMessages(queryId, position);
  }

  async check(
    { request, ...given }: Pick<AskOptions, "images" | "responseSchema" | "model" | "limits"> & {
      readonly request?: string;
    },
  ): Promise<void> {
    if (request !== undefined) checkRequest(request);
    this.#checkPrice(given);
    await checkedExtras(given, this.#parts.router);
  }

  #checkPrice(given: Pick<AskOptions, "model" | "limits">): void {
    const { router, settings } = this.#parts;
    checkPrice({ model: given.model, limits: requestSettings(settings, given).limits }, router);
  }

  async #runIn(branch: Branch, request: string, options: RunnerOptions): Promise<QueryResult> {
    await options.onBranch?.(branch);
    if (this.shared) {
      const read = options.read ?? await allInputVariables(options, this.#store);
      return await this.shared.ask(branch, request, { ...options, read });
    }
    if (options.refuseWhenBusy && this.#runner.isBusy(branch.branchId)) {
      throw new BusyError(
        `Cannot start the request: conversation ${branch.conversationId} already runs another ` +
          "request; wait until it ends, or cancel it",
      );
    }
    return await this.#runner.run(branch, request, options);
  }

  async close(branchId: string): Promise<void> {
    await this.#runner.close(branchId);
  }

  async closeAll(): Promise<void> {
    await this.#runner.closeAll();
  }
}

const NOTHING_STORED: LargeTextStore = {
  putLarge: async (pieces) => {
    for await (const _piece of pieces); // The source counts the characters while this loop reads its pieces.
    return "";
  },
  largePieces: () => ReadableStream.from([]),
  dropLarge: () => Promise.resolve(),
};

type Before = Pick<AskOptions, "images" | "given" | "instructions" | "responseSchema">;

async function asBefore(queryId: string, store: Store): Promise<Before> {
  const [{ images, answerSchema, instructions }, given] = await Promise.all([
    store.queryExtras(queryId),
    store.givenImages(queryId),
  ]);
  const responseSchema: unknown = answerSchema === null ? undefined : JSON.parse(answerSchema);
  return { images, given, instructions, responseSchema };
}

const NEWEST = 200;

const FEWEST = 8;

/** The first 13 characters of an id are its time in milliseconds. */
const SHOWN = 13;

async function notFound(id: string, store: Pick<ConversationStore, "listConversations">): Promise<UsageError> {
  const start = id.toLowerCase();
  if (start.length < FEWEST) {
    return new UsageError(
      `Cannot find conversation ${id}: the beginning of an id must have at least ${FEWEST} characters; ` +
        "vis conversations list shows the ids",
    );
  }
  const listed = await store.listConversations({ limit: NEWEST });
  const near = [...new Set(listed.map(({ conversationId }) => conversationId))].filter((one) => one.startsWith(start));
  if (near.length === 0) {
    return new UsageError(
      `Cannot find conversation ${id}: no id starts with it, or several older ids do; vis conversations list shows the ids`,
    );
  }
  if (near.length === 1) {
    return new UsageError(`Cannot find conversation ${id}: several ids start with it; write more of the id`);
  }
  const examples = near.slice(0, 3).map((one) => start.length < SHOWN ? one.slice(0, SHOWN) : one).join(", ");
  return new UsageError(
    `Cannot find conversation ${id}: several ids start with it, such as ${examples}; write more of the id`,
  );
}

export interface SharedRun {
  readonly branchId: string;
  /** If no event is kept, `oldest` is larger than `newest`. */
  readonly oldest: number;
  readonly newest: number;
  readonly running: boolean;
  events(after: number): AsyncGenerator<{ readonly number: number; readonly event: QueryEvent }>;
}

interface SharedRequest extends Pick<RunnerOptions, "retryOf" | "keptFiles"> {
  readonly read: readonly InputVariable[];
}

export interface SharedQueries {
  ask(branch: Branch, request: string, options: AskOptions & SharedRequest): Promise<QueryResult>;
  steer(branchId: string, text: string, signal?: AbortSignal): Promise<boolean>;
  cancel(conversationId: string): Promise<number>;
  questions(conversationId: string): Promise<readonly ApprovalQuestion[]>;
  answer(conversationId: string, questionId: string, answer: ApprovalAnswer): Promise<boolean>;
  isBusy(conversationId: string): Promise<boolean>;
  /** Resolves with null for an unknown query, and for an ended query whose last event is gone. */
  follow(queryId: string, signal: AbortSignal): Promise<SharedRun | null>;
  load(): Promise<{ readonly depth: number; readonly oldestMs: number; readonly takeovers: number }>;
  /** Starts no more queries. Gives up running queries for other nodes, at the latest after `graceMs`. */
  drain(graceMs: number): Promise<void>;
}

export async function forkNumbers(
  conversations: Pick<Conversations, "queries">,
  branches: readonly BranchOfConversation[],
): Promise<ReadonlyMap<string, number>> {
  const parents = new Set(branches.map(({ parentBranchId }) => parentBranchId));
  const numbers = new Map<string, number>();
  for (const parent of branches.filter(({ branchId }) => parents.has(branchId))) {
    for (const [at, { queryId }] of (await conversations.queries(parent)).entries()) numbers.set(queryId, at + 1);
  }
  return numbers;
}

const LOOKED_AT = 50;

export async function nothingToContinue(
  { conversations, workspace }: { readonly conversations: Conversations; readonly workspace: string },
): Promise<string> {
  const listed = await conversations.list({ limit: LOOKED_AT });
  const others = listed.filter((one) => one.workspace !== workspace);
  const moved = others.find((one) => isGone(one.workspace));
  const hint = moved
    ? `; the folder ${moved.workspace} is gone; if you moved it, --conversation ${
      moved.conversationId.slice(0, 13)
    } continues its conversation`
    : others.length > 0
    ? "; vis conversations list shows the conversations of other folders, and --conversation ID continues one"
    : "";
  return `Vis found no conversation of ${workspace} to continue, and begins a new one${hint}`;
}
