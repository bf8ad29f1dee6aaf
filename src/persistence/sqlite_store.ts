import type { DatabaseSync } from "node:sqlite";
import type { LogFilter, LogRow, SearchFilter, SearchHit } from "../domain/records/archive.ts";
import type { Dependency } from "../domain/records/dependency.ts";
import type { IterationRange } from "../domain/query/iteration_range.ts";
import type { LogEntry } from "../domain/records/log_entry.ts";
import type { ConversationArchive } from "../domain/records/conversation_archive.ts";
import type * as records from "../domain/records/conversation_maintenance.ts";
import type { ExternalChat, NewConversation } from "../domain/records/new_conversation.ts";
import type { BranchPoint, NewFork } from "../domain/records/new_fork.ts";
import type { SubCall } from "../domain/query/sub_call.ts";
import type { SentMessage } from "../domain/query/sent_message.ts";
import type { QueryEnd, StoredQuery } from "../domain/query/stored_query.ts";
import type { VariableImage } from "../domain/query/variable.ts";
import { Children } from "./queries/children.ts";
import { MaintenanceRows } from "./conversations/maintenance.ts";
import { ConversationRows } from "./conversations/conversations.ts";
import { Database } from "./sqlite/database.ts";
import { readDependencies } from "./variables/dependencies.ts";
import { ExtensionStates } from "./states/extension_states.ts";
import { readIterations } from "./queries/iteration_reader.ts";
import { Iterations } from "./queries/iterations.ts";
import { largePieces, putLarge } from "./content/large_text.ts";
import type { OpenFiles } from "./sqlite/open_files.ts";
import { writeLogEntries } from "./logs/entry.ts";
import { readLogs } from "./logs/reader.ts";
import type { IsAlive } from "./queries/leases.ts";
import { readExtras } from "./queries/extras.ts";
import { Queries } from "./queries/queries.ts";
import { quickCheck } from "./maintenance/quick_check.ts";
import { findRequestKey } from "./queries/request_keys.ts";
import { searchRows } from "./conversations/search.ts";
import { readSentMessages } from "./queries/sent_messages.ts";
import { SqliteConnection } from "./sqlite/connection.ts";
import { toStoreError } from "./sqlite/store_error.ts";
import type { StoreOptions } from "./store_options.ts";
import { setTitle, suggestTitle } from "./conversations/titles.ts";
import { VariableRows } from "./variables/variables.ts";
import type * as store from "./store/store.ts";

/** The store in one SQLite database. It takes ownership of the database. */
export class SqliteStore implements store.Store {
  readonly location: string;
  readonly states: ExtensionStates;
  readonly #now: () => number;
  readonly #files: OpenFiles | null;
  readonly #db: Database;
  readonly #conversations: ConversationRows;
  readonly #queries: Queries;
  readonly #iterations: Iterations;
  readonly #variables: VariableRows;
  readonly #children: Children;
  readonly #care: MaintenanceRows;

  constructor(db: DatabaseSync, { location, files = null, now, busyMs, isAlive }: StoreOptions) {
    this.location = location;
    this.#now = now;
    this.#files = files;
    this.#db = new Database(new SqliteConnection(db), { busyMs, committed: () => files?.check() });
    this.#conversations = new ConversationRows(this.#db, now);
    this.#queries = new Queries(this.#db, { now, isAlive });
    this.#iterations = new Iterations(this.#db, now);
    this.#variables = new VariableRows(this.#db, now);
    this.#children = new Children(this.#db, now);
    this.#care = new MaintenanceRows(this.#db);
    this.states = new ExtensionStates(this.#db, { now, guard: (work) => this.#guard(work) });
  }

  createConversation(facts: Parameters<store.Store["createConversation"]>[0]): Promise<store.Branch> {
    return this.#guard(() => this.#conversations.create(facts));
  }

  findExternal(chat: ExternalChat): Promise<store.Branch | null> {
    return this.#guard(() => this.#conversations.findExternal(chat));
  }

  ensureConversation(facts: NewConversation & ExternalChat): Promise<store.Branch> {
    return this.#guard(() => this.#conversations.ensure(facts));
  }

  findConversation(conversationId: string): Promise<store.Branch | null> {
    return this.#guard(() => this.#conversations.find(conversationId));
  }

  fork(fork: NewFork): Promise<store.Branch> {
    return this.#guard(() => this.#conversations.fork(fork));
  }

  branches(conversationId: string): Promise<readonly store.BranchNode[]> {
    return this.#guard(() => this.#conversations.branches(conversationId));
  }

  latestConversation(workspace: string): Promise<store.Branch | null> {
    return this.#guard(() => this.#conversations.latest(workspace));
  }

  listConversations(
    options: records.ConversationFilter,
  ): Promise<readonly (store.Branch & records.ConversationSummary)[]> {
    return this.#guard(() => this.#conversations.list(options));
  }

  beginQuery(query: store.NewQuery): Promise<string> {
    return this.#guard(() => this.#queries.begin(query));
  }

  runBefore(queryId: string): Promise<string | null> {
    return this.#guard(() => this.#queries.runBefore(queryId));
  }

  keyedQuery(branchId: string, key: string): ReturnType<store.Store["keyedQuery"]> {
    return this.#guard(() => findRequestKey(this.#db, { branchId, key, now: this.#now() }));
  }

  endQuery(queryId: string, end: QueryEnd): Promise<void> {
    return this.#guard(() => this.#queries.end(queryId, end));
  }

  query(queryId: string): Promise<StoredQuery | null> {
    return this.#guard(() => this.#queries.byId(queryId));
  }

  queryExtras(queryId: string): Promise<store.QueryExtras> {
    return this.#guard(() => readExtras(this.#db, queryId));
  }

  queries(...[branchId, options]: Parameters<store.Store["queries"]>): ReturnType<store.Store["queries"]> {
    return this.#guard(() => this.#queries.ofBranch(branchId, options));
  }

  previousTurn(branchId: string, beforeQueryId: string): Promise<store.PreviousTurn | null> {
    return this.#guard(() => this.#queries.previousTurn(branchId, beforeQueryId));
  }

  sweepLost(isAlive?: IsAlive): Promise<number> {
    return this.#guard(() => this.#queries.sweepLost(isAlive));
  }

  renewLeases(owner: store.ProcessOwner): Promise<readonly string[]> {
    return this.#guard(() => this.#queries.renewLeases(owner));
  }

  beginIteration(iteration: store.NewIteration): Promise<string> {
    return this.#guard(() => this.#iterations.begin(iteration));
  }

  endIteration(iterationId: string, end: store.IterationEnd): Promise<void> {
    return this.#guard(() => this.#iterations.end(iterationId, end));
  }

  failIteration(...[iteration, end]: Parameters<store.Store["failIteration"]>): Promise<string> {
    return this.#guard(() => this.#iterations.fail(iteration, end));
  }

  sentMessages(queryId: string, position: number): Promise<readonly SentMessage[] | null> {
    return this.#guard(() => readSentMessages(this.#db, { queryId, position }));
  }

  iterations(queryId: string, range?: IterationRange): Promise<readonly store.StoredIteration[]> {
    return this.#guard(() => this.#db.read((tx) => readIterations(tx, queryId, range)));
  }

  createChildBranch(child: Parameters<store.Store["createChildBranch"]>[0]): Promise<store.Branch> {
    return this.#guard(async () => {
      const branch = await this.#children.createBranch(child);
      const { workspace = "" } = await this.#conversations.find(branch.conversationId) ?? {};
      return { ...branch, workspace };
    });
  }

  childQueries(iterationId: string): ReturnType<store.Store["childQueries"]> {
    return this.#guard(() => this.#children.queries(iterationId, (queryId) => this.#queries.byId(queryId)));
  }

  recordSubCall(call: SubCall): Promise<void> {
    return this.#guard(() => this.#children.recordCall(call));
  }

  subCalls(iterationId: string): ReturnType<store.Store["subCalls"]> {
    return this.#guard(() => this.#children.calls(iterationId));
  }

  putLarge(pieces: AsyncIterable<Uint8Array>): Promise<string> {
    return this.#guard(() => putLarge(this.#db, pieces));
  }

  async *largePieces(large: string): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    try {
      yield* largePieces(this.#db, large);
    } catch (error) {
      throw toStoreError(error, this.location);
    }
  }

  setTitle(branchId: string, title: string): Promise<void> {
    return this.#guard(() => setTitle(this.#db, { branchId, title }));
  }

  suggestTitle(...[branchId, suggestion]: Parameters<store.Store["suggestTitle"]>): Promise<boolean> {
    return this.#guard(() => suggestTitle(this.#db, { ...suggestion, branchId }));
  }

  deleteConversation(conversationId: string): Promise<void> {
    return this.#guard(() => this.#care.delete(conversationId));
  }

  runningQuery(conversationId: string): Promise<string | null> {
    return this.#guard(() => this.#care.running(conversationId));
  }

  findQuery(prefix: string): Promise<string | null> {
    return this.#guard(() => this.#care.findQuery(prefix));
  }

  labelUse(since: number): Promise<readonly records.LabelUse[]> {
    return this.#guard(() => this.#care.labelUse(since));
  }

  turns(branchId: string): Promise<readonly records.QueryIterations[]> {
    return this.#guard(() => this.#care.turns(branchId));
  }

  exportConversation(conversationId: string): Promise<ConversationArchive> {
    return this.#guard(async () => {
      const { exportConversation } = await import("./archive/export.ts");
      return await this.#db.read((tx) => exportConversation(tx, conversationId));
    });
  }

  importConversation(archive: ConversationArchive, to: { workspace: string }): Promise<records.ImportReport> {
    return this.#guard(async () => {
      const { importConversation } = await import("./archive/import.ts");
      return await importConversation(this.#db, { archive, ...to });
    });
  }

  variables(branchId: string, at?: BranchPoint): Promise<readonly store.VariableHead[]> {
    return this.#guard(() => this.#variables.heads(branchId, at));
  }

  givenImages(queryId: string): Promise<readonly VariableImage[]> {
    return this.#guard(() => this.#variables.given(queryId));
  }

  liveImages(branchId: string, at?: BranchPoint): Promise<readonly VariableImage[]> {
    return this.#guard(() => this.#variables.liveImages(branchId, at));
  }

  variableVersions(
    ...[branchId, name, options]: Parameters<store.Store["variableVersions"]>
  ): ReturnType<store.Store["variableVersions"]> {
    return this.#guard(() => this.#variables.versions(branchId, { name, ...options }));
  }

  unchangedVariables(...given: Parameters<store.Store["unchangedVariables"]>): Promise<readonly string[]> {
    return this.#guard(() => this.#variables.unchanged(...given));
  }

  dependencies(branchId: string): Promise<readonly Dependency[]> {
    return this.#guard(() => readDependencies(this.#db, branchId));
  }

  setScope(...[branchId, change]: Parameters<store.Store["setScope"]>): Promise<void> {
    return this.#guard(() => this.#variables.setScope(branchId, change));
  }

  search(text: string, filter: SearchFilter): Promise<readonly SearchHit[]> {
    return this.#guard(() => searchRows(this.#db, { text, filter }));
  }

  logs(filter: LogFilter): Promise<readonly LogRow[]> {
    return this.#guard(() => readLogs(this.#db, filter));
  }

  check(): Promise<readonly string[]> {
    return quickCheck(this.#db, this.location);
  }

  fileFault(): string {
    return this.#files?.fault() ?? "";
  }

  async log(...entries: readonly LogEntry[]): Promise<void> {
    // Logging must not fail a turn: what cannot be written is dropped.
    await writeLogEntries(this.#db, { entries, now: this.#now() }).catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.#db.close();
  }

  async #guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw toStoreError(error, this.location);
    }
  }
}
