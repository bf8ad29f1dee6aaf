import { relative } from "node:path";
import { UsageError } from "../domain/errors.ts";
import { newId } from "../domain/kit/ids.ts";
import { isWithin } from "../domain/kit/files.ts";
import { patternsFromTop } from "../domain/kit/names.ts";
import { clip, countedChoice, oneLine, terminalText } from "../domain/kit/text.ts";
import { errorForModel } from "../domain/query/host_call.ts";
import type { SentMessage } from "../domain/query/model_call.ts";
import { type Dependency, SYSTEM_VARIABLES, type VariableImage } from "../domain/query/variable.ts";
import type { LogFilter, LogRow, NewestQueries, SearchFilter, SearchHit } from "../domain/records/history.ts";
import type { BackgroundProgram } from "../domain/admin_reports.ts";
import type { ActiveExtensions, OwnKeys } from "../extension/active_extensions.ts";
import type { Spawn, SpawnCaller, Spawned, SpawnOptions } from "../extension/spawn_types.ts";
import { type CustomBinding, type EnvironmentView, type RouterFacts, TAKEN_NAMES } from "../extension/spec.ts";
import type { Branch, Store } from "../persistence/store.ts";
import type { Router } from "../providers/router/router.ts";
import { namedRoutes } from "../providers/router/routes.ts";
import { LANGUAGE_NAMES } from "../sandbox/child/compiler/analysis.ts";
import { summarize } from "../sandbox/child/view/summary.ts";
import { CodecError, encode } from "../sandbox/codec/codec.ts";
import { initialNames } from "./answer_host_call.ts";
import type { EnvironmentParts, QueryScope } from "./environment_parts.ts";
import { ExtensionStore } from "./extension_store.ts";
import { valueOf } from "./conversation_history.ts";
import type { InputVariables } from "./input_variables.ts";
import type { SandboxSession } from "./sandbox_session.ts";
import { sourceFault } from "./syntax_fault.ts";
import type { ScopeChanges, VariableIndex } from "./variables.ts";
import type * as history from "../domain/records/history.ts";

type Mutable = { -readonly [Key in keyof EnvironmentView]: EnvironmentView[Key] };

interface ViewSource {
  readonly envId: string;
  readonly parts: EnvironmentParts;
  readonly index: VariableIndex;
  readonly programs: ConversationPrograms;
  readonly variables: BoundVariables;
  readonly note: (text: string) => void;
  readonly now: () => {
    readonly scope: QueryScope | null;
    readonly iterationId: string | null;
    readonly active: ActiveExtensions | null;
  };
}

export class EnvironmentViews {
  readonly #source: ViewSource;
  readonly #db: StoredHistory;
  readonly #idle: EnvironmentView;
  readonly #base: EnvironmentView;
  readonly #own = new Map<string, Pick<EnvironmentView, "store" | "bindVar">>();

  constructor(source: ViewSource) {
    this.#source = source;
    this.#db = new StoredHistory(source.parts.store, source.parts.branch);
    Object.freeze(this.#db);
    this.#idle = add(Object.create(null), this.#conversation());
    this.#base = add(Object.create(this.#idle), this.#query());
  }

  readonly own: OwnKeys = (namespace, call) => {
    const kept = this.#kept(namespace);
    const { scope } = this.#source.now();
    const signal = call?.untimed ? call.signal : null;
    const ask: QueryScope["approve"] = scope?.approve && (async (...given) => {
      const ask = async () => await scope.approve?.(...given) ?? { allowed: false, reason: "" };
      const approval = await (call?.asks?.(ask) ?? ask());
      if (approval.byUser) call?.refused?.();
      return approval;
    });
    const approve: EnvironmentView["approve"] = ask && signal !== null
      ? (request, { isQuiet = false } = {}) => ask(request, { extension: namespace, signal, isQuiet })
      : undefined;
    const caller = { extension: namespace, ask: approve ?? null };
    const spawn = this.#spawn(scope, { signal: call?.signal, ended: call?.ended, caller });
    const openRoot = signal === null ? undefined : this.#openRoot(ask, signal);
    return { ...kept, ...(spawn ? { spawn } : {}), ...(approve ? { approve } : {}), ...(openRoot ? { openRoot } : {}) };
  };

  #openRoot(ask: QueryScope["approve"], signal: AbortSignal): EnvironmentView["openRoot"] {
    const { root, isRootOpen = false } = this.#idle;
    if (root === undefined) return undefined;
    if (isRootOpen) return () => Promise.resolve({ allowed: true, reason: "" });
    const scope = `changes in the whole repository ${root}`;
    return ask && ((what, shown) =>
      ask(
        { what: what ?? "", ...shown, why: "", scope, ...what === null ? {} : { option: "--root" } },
        { extension: "vis", signal, isQuiet: what === null },
      ));
  }

  #kept(namespace: string): Pick<EnvironmentView, "store" | "bindVar"> {
    const known = this.#own.get(namespace);
    if (known) return known;
    const { parts: { store, branch: { branchId, workspace } }, variables, now } = this.#source;
    const at = () => {
      const { scope, iterationId } = now();
      return { branchId, iterationId, queryId: scope?.queryId ?? null };
    };
    const made = Object.freeze({
      store: new ExtensionStore(store, { namespace, workspace, now: at }),
      bindVar: (name: string, value: unknown) => variables.bind(name, value, { by: namespace }),
    });
    this.#own.set(namespace, made);
    return made;
  }

  view(signal?: AbortSignal): EnvironmentView {
    const { scope } = this.#source.now();
    const base = scope ? this.#base : this.#idle;
    const keys: Mutable = Object.create(base);
    const spawn = this.#spawn(scope, { signal, caller: NOBODY });
    if (spawn) keys.spawn = spawn;
    if (!scope) return keys;
    keys.signal = signal ?? scope.signal;
    const { subcalls } = scope;
    if (!signal) return keys;
    keys.note = this.#source.note;
    keys.sourceFault = sourceFault;
    if (!subcalls) return keys;
    keys.ask = (prompt, options) => subcalls.ask(prompt, { ...options, signal });
    keys.searchWeb = (query) => subcalls.searchWeb(query, { signal });
    keys.runChild = (task, options) => subcalls.runChild(task, { ...options, signal });
    return keys;
  }

  #conversation(): EnvironmentView {
    const { envId, parts, index, programs, variables, now } = this.#source;
    const {
      branch: { conversationId, branchId, tenant, workspace },
      depth = 0,
      router,
      registry,
      obeyedPaths,
      networkScopes,
      programWalls,
      readFolders,
    } = parts;
    const { path: root = workspace, isOpen = false } = parts.repositoryRoot?.(workspace) ?? {};
    const keys: EnvironmentView = {
      envId,
      conversationId,
      branchId,
      depth,
      tenant,
      workspace,
      ...(root === workspace ? {} : { root, isRootOpen: isOpen }),
      ...(readFolders ? { readFolders: readFolders.filter((folder) => !isWithin(folder, root)) } : {}),
      closed: programs.closed,
      endsWithQuery: (parts.oneRequest ?? false) || depth > 0,
      ...(programWalls ? { programWalls: (paths) => programWalls({ ...paths, workspace, root }) } : {}),
      ...(networkScopes
        ? { networkScopes: (argv, options) => networkScopes(workspace, argv, { ...options, root }) }
        : {}),
      ...(parts.secrets ? { secrets: patternsFromTop(parts.secrets(workspace), relative(root, workspace)) } : {}),
      ...(obeyedPaths ? { obeyedPaths: (paths) => obeyedPaths(workspace, paths, root, readFolders) } : {}),
      db: this.#db,
      get initialNames() {
        return initialNames(now().active);
      },
      get varIndex() {
        return index.facts;
      },
      get extensions() {
        const active = new Set(now().active?.list.map(({ namespace }) => namespace));
        const known = registry.known?.(envId) ?? now().active?.list ?? [];
        return Object.freeze(known.map((one) => Object.freeze({ ...one, active: active.has(one.namespace) })));
      },
      get customBindings() {
        return Object.freeze(variables.list());
      },
      readVar: (name, options) => variables.read(name, options),
      bumpVarIndex: () => index.bump(),
    };
    if (!router) return keys;
    return add(keys, {
      get router() {
        return routerFacts(router, now().scope?.root?.());
      },
    });
  }

  #query(): Partial<EnvironmentView> {
    const { now, parts: { parentIterationId, userQueryId } } = this.#source;
    return {
      ...(parentIterationId === undefined ? {} : { parentIterationId }),
      get onlyReads() {
        return now().scope?.onlyReads ?? false;
      },
      get maxIterations() {
        return now().scope?.budget() ?? 0;
      },
      get maxDepth() {
        return now().scope?.maxDepth ?? 0;
      },
      get currentIterationId() {
        return now().iterationId;
      },
      get userQueryId() {
        return userQueryId ?? now().scope?.queryId ?? "";
      },
    };
  }

  #spawn(
    scope: QueryScope | null,
    { signal, ended, caller }: {
      readonly signal: AbortSignal | undefined;
      readonly ended?: AbortSignal | undefined;
      readonly caller: SpawnCaller;
    },
  ): EnvironmentView["spawn"] {
    const { parts: { spawn, branch: { workspace } }, programs } = this.#source;
    const { root } = this.#idle;
    const ends = signal ?? (scope ? programs.query : programs.closed);
    return spawn && programs.bind(spawn, { workspace, root, signal: ends, ended, caller });
  }
}

const NOBODY: SpawnCaller = { extension: "", ask: null };

export function routerFacts(
  router: Pick<Router, "routes" | "current">,
  root?: RouterFacts["root"],
): RouterFacts {
  const models = Map.groupBy(router.routes, ({ provider }) => provider.name);
  const providers = [...models].map(([name, routes]) =>
    Object.freeze({ name, models: Object.freeze([...new Set(routes.map(({ model }) => model))]) })
  );
  const { provider, model } = router.current();
  const first = { provider: provider.name, model };
  const own = root && (root.provider !== first.provider || root.model !== first.model) ? root : null;
  // For a query with its own model, only routes of this model search the web.
  const serving = own
    ? namedRoutes([router.current(), ...router.routes], `${own.provider}/${own.model}`)
    : router.routes;
  const searching = serving.find((route) => route.provider.capabilities(route.model).search);
  return Object.freeze({
    providers: Object.freeze(providers),
    root: Object.freeze({ ...root ?? first }),
    search: searching ? Object.freeze({ provider: searching.provider.name, model: searching.model }) : null,
  });
}

function add(to: EnvironmentView, keys: Partial<EnvironmentView>): EnvironmentView {
  return Object.defineProperties(to, Object.getOwnPropertyDescriptors(keys));
}

const NAME = /^[$_\p{ID_Start}][$\u200c\u200d\p{ID_Continue}]*$/u;
const MAX_NAME = 200;
const READ_BYTES = 1 << 20, MAX_BYTES = 32 << 20;
const SYSTEM: readonly string[] = SYSTEM_VARIABLES;
/** By this mark in the doc of a variable, a new process knows which extension has bound the variable. */
const MARK = "bound by ";

interface BoundVariablesSource {
  readonly index: VariableIndex;
  readonly session: SandboxSession;
  readonly scopes: ScopeChanges;
  readonly given: InputVariables;
  readonly stored: (name: string) => Promise<VariableImage | null>;
  /** The end of a running block stores variables that an extension has bound during the block. */
  readonly running: () => boolean;
  readonly initialNames: () => ReadonlySet<string>;
}

export class BoundVariables {
  readonly #source: BoundVariablesSource;

  constructor(source: BoundVariablesSource) {
    this.#source = source;
  }

  /** Reads the latest saved version if no child runs. */
  async read(name: string, { maxBytes = READ_BYTES }: { readonly maxBytes?: number } = {}): Promise<unknown> {
    const { index, session } = this.#source;
    checkName(name, "read");
    if (!Number.isSafeInteger(maxBytes) || maxBytes < 1) {
      throw new TypeError(`Cannot read ${name}: maxBytes is ${maxBytes}, but must be a whole number of at least 1`);
    }
    if (this.#isTaken(name) && !SYSTEM.includes(name)) throw absent(name);
    const most = Math.min(maxBytes, MAX_BYTES);
    const { size, type } = index.get(name)?.summary ?? {};
    if (type === "string" && (size ?? 0) > most) throw tooLarge(name, most);
    if (session.living === null) return await this.#readStored(name, most);
    try {
      return await session.use(name, (sandbox) => sandbox.read(name, { maxBytes: most }));
    } catch (error) {
      throw error instanceof RangeError ? tooLarge(name, most) : error;
    }
  }

  async bind(name: string, value: unknown, { by }: { readonly by: string }): Promise<void> {
    checkName(name, "bind");
    if (this.#isTaken(name)) {
      throw new TypeError(`Cannot bind ${name}: the language or the sandbox uses this name; choose another`);
    }
    const image = imageOf(name, { value, doc: `${MARK}${by}` });
    const { index, session, scopes, given, running } = this.#source;
    if (!running()) {
      await session.give([image]);
      given.add({ image, text: "", whole: null });
      index.saved(image, "");
      return;
    }
    const [report] = await session.restore(image);
    if (report?.how === "lost") {
      throw new Error(`Cannot bind ${name}: ${report.reason}`);
    }
    scopes.restore(name, { image, older: true });
    index.bump();
  }

  list(): readonly CustomBinding[] {
    return this.#source.index.all().flatMap(({ name, scope, summary: { doc, inline, shape } }) =>
      scope === "live" && doc.startsWith(MARK)
        ? [Object.freeze({ name, by: doc.slice(MARK.length), preview: inline ?? shape })]
        : []
    );
  }

  async #readStored(name: string, most: number): Promise<unknown> {
    const { index, session, stored } = this.#source;
    const head = index.get(name);
    const image = head && head.scope !== "forgotten" ? session.unsaved(name) ?? await stored(name) : null;
    if (!image) throw absent(name);
    if (image.large !== undefined) {
      throw new Error(
        `Cannot read ${name}: its text is stored in pieces, and no sandbox runs; read it while a block runs`,
      );
    }
    if (image.bytes.length > most) throw tooLarge(name, most);
    if (SYSTEM.includes(name) || image.kind === "data") return valueOf(image);
    if (image.kind === "lost" || image.kind === "pending") {
      throw new Error(`Cannot read ${name}: ${image.reason || "its value is not stored"}`);
    }
    throw new TypeError(
      `Cannot read ${name}: it is ${
        image.kind === "instance" ? "an instance of a class" : `a ${image.kind}`
      }, not data`,
    );
  }

  #isTaken(name: string): boolean {
    return SYSTEM.includes(name) || TAKEN_NAMES.has(name) || LANGUAGE_NAMES.has(name) ||
      this.#source.initialNames().has(name);
  }
}

function checkName(name: unknown, action: "read" | "bind"): void {
  if (typeof name === "string" && name.length <= MAX_NAME && NAME.test(name)) return;
  const shown = typeof name === "string" ? JSON.stringify(name.slice(0, 50)) : String(name);
  throw new TypeError(
    `Cannot ${action} ${shown}: it is not the name of a variable, which has at most ${MAX_NAME} characters`,
  );
}

function absent(name: string): ReferenceError {
  return new ReferenceError(`Cannot read ${name}: no variable in scope has this name`);
}

function tooLarge(name: string, bytes: number): RangeError {
  const advice = bytes < MAX_BYTES ? "; raise maxBytes" : "";
  return new RangeError(`Cannot read ${name}: it is larger than ${bytes} bytes, the limit${advice}`);
}

function imageOf(name: string, { value, doc }: { readonly value: unknown; readonly doc: string }): VariableImage {
  if (value === undefined) throw new TypeError(`Cannot bind ${name}: its value is undefined; pass a value`);
  let bytes: VariableImage["bytes"];
  try {
    bytes = encode(value, { maxBytes: MAX_BYTES });
  } catch (error) {
    if (!(error instanceof CodecError)) throw error;
    if (error.tooLarge) {
      throw new RangeError(`Cannot bind ${name}: its value is larger than ${MAX_BYTES} bytes, the limit; bind less`);
    }
    throw new TypeError(`Cannot bind ${name}: its value${error.path ?? ""} ${error.fact}`, { cause: error });
  }
  const summary = summarize(value, { declaration: "let", doc });
  return { name, kind: "data", bytes, root: null, source: "", requires: [], reason: "", summary };
}

export class StoredHistory implements history.HistoryReader {
  readonly #store: Store;
  readonly #running: Branch;

  constructor(store: Store, running: Branch) {
    this.#store = store;
    this.#running = running;
  }

  async search(text: string, filter: SearchFilter): Promise<readonly SearchHit[]> {
    const { conversationId: asked } = filter;
    if (asked === undefined) return await this.#store.search(text, filter);
    const { conversationId, branchId } = await this.#branch(asked);
    const running = branchId === this.#running.branchId ? { branchId } : {};
    return await this.#store.search(text, { ...filter, conversationId, ...running });
  }

  async conversations({ limit }: { readonly limit: number }): Promise<readonly history.PastConversation[]> {
    const found = await this.#store.listConversations({ limit });
    return found.map(({ conversationId: id, title, workspace, queries, createdAt }) => (
      { id, title, workspace, queries, createdAt }
    ));
  }

  async queries(conversationId: string, options?: NewestQueries): Promise<readonly history.PastQuery[]> {
    const { branchId } = await this.#branch(conversationId);
    const found = await this.#store.queries(branchId, options);
    return found.map(({ queryId: id, text: request, status, answer, iterations, createdAt }) => (
      { id, request, status, answer, iterations, createdAt }
    ));
  }

  async iterations(queryId: string): Promise<readonly history.PastIteration[]> {
    if (await this.#store.query(queryId) === null) {
      throw new UsageError(`Cannot find request ${queryId}: no request has this id`);
    }
    const found = await this.#store.iterations(queryId);
    return found.map(({ iterationId: id, position, status, thinking, traces, blocks }) => ({
      id,
      number: position + 1,
      status,
      thinking,
      modelMs: traces.reduce((total, { ms }) => total + ms, 0),
      blocks: blocks.map(({ code, result: { ok, ms, preview: result, stdout, error } }) => (
        { code, ms, ok, result, stdout, error: error === null ? null : `${error.name}: ${errorForModel(error)}` }
      )),
    }));
  }

  async sent(queryId: string, iteration: number): Promise<readonly SentMessage[] | null> {
    return await this.#store.sentMessages(queryId, iteration - 1);
  }

  async variables(conversationId: string): Promise<readonly history.PastVariable[]> {
    const { branchId } = await this.#branch(conversationId);
    const found = await this.#store.variables(branchId);
    return found.map(({ name, kind, versions, summary, createdAt }) => (
      { name, kind, type: summary.type, versions, summary: summary.shape, createdAt }
    ));
  }

  async versions(conversationId: string, name: string): Promise<readonly history.PastVersion[]> {
    const { branchId } = await this.#branch(conversationId);
    const found = await this.#store.variableVersions(branchId, name);
    return found.map(({ version, image: { summary }, code, createdAt }) => (
      { version, type: summary.type, summary: summary.shape, code, createdAt }
    ));
  }

  async dependencies(conversationId: string): Promise<readonly Dependency[]> {
    return await this.#store.dependencies((await this.#branch(conversationId)).branchId);
  }

  async logs({ conversationId, ...filter }: LogFilter): Promise<readonly LogRow[]> {
    const of = conversationId === undefined
      ? {}
      : { conversationId: (await this.#branch(conversationId)).conversationId };
    return await this.#store.logs({ ...filter, ...of });
  }

  async variable(
    conversationId: string,
    { name, version }: { readonly name: string; readonly version?: number | undefined },
  ): Promise<unknown> {
    const { branchId } = await this.#branch(conversationId);
    const found = await this.#store.variableVersions(branchId, name, version === undefined ? { newest: 1 } : {});
    const one = version === undefined ? found.at(-1) : found.find((each) => each.version === version);
    if (one) return valueOf(one.image);
    const why = version === undefined
      ? `conversation ${conversationId} has no such variable`
      : `it has ${countedChoice(found.length, "version")}`;
    throw new UsageError(`Cannot find ${version === undefined ? name : `version ${version} of ${name}`}: ${why}`);
  }

  async #branch(id: string): Promise<Branch> {
    const branch = await this.#store.findConversation(id);
    if (!branch) {
      throw new UsageError(
        `Cannot find conversation ${
          clip(id, 100)
        }: no conversation or branch has this id, or several ids begin with it; ` +
          "use the whole id",
      );
    }
    const isRunning = branch.conversationId === this.#running.conversationId && branch.conversationId.startsWith(id);
    return isRunning ? this.#running : branch;
  }
}

type WallSpawn = (
  workspace: string,
  argv: readonly string[],
  options: SpawnOptions,
  caller: SpawnCaller | null,
) => Promise<Spawned>;

const MOST_FAILED = 20, TITLE_CHARS = 80;

const WATCHED_CHARS = 64_000;

class WatchedProgram implements BackgroundProgram {
  readonly id = newId();
  readonly title: string;
  readonly startedAt = Date.now();
  #output = "";
  readonly #stopped = new AbortController();

  constructor(title: string) {
    this.title = title;
  }

  get output(): string {
    return terminalText(this.#output);
  }

  stop(): void {
    this.#stopped.abort();
  }

  options(options: SpawnOptions): SpawnOptions {
    const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
    const { stop, onOutput } = options;
    return {
      ...options,
      stop: AbortSignal.any([this.#stopped.signal, ...stop ? [stop] : []]),
      onOutput: (output, bytes) => {
        this.#output = (this.#output + decoders[output].decode(bytes, { stream: true })).slice(-WATCHED_CHARS);
        onOutput?.(output, bytes);
      },
    };
  }
}

/** A program ends with the call or query that started it. Outside a query, and with the lifetime "conversation", the
 * program ends with the conversation. */
export class ConversationPrograms {
  readonly #closed = new AbortController();
  #query = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  readonly #background = new Map<Promise<unknown>, WatchedProgram>();
  #failed: string[] = [];
  #untold: string[] = [];

  get running(): boolean {
    return this.#running.size > 0;
  }

  get titles(): readonly string[] {
    return this.background.map(({ title }) => title);
  }

  get background(): readonly BackgroundProgram[] {
    return [...this.#background.values()];
  }

  get failed(): readonly string[] {
    return this.#failed;
  }

  take(): readonly string[] {
    return this.#untold.splice(0).map((how) => `A background command failed: ${how}`);
  }

  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  get query(): AbortSignal {
    return this.#query.signal;
  }

  endQuery(): void {
    this.#query.abort(new Error("Cannot continue the command: its request has ended"));
    this.#query = new AbortController();
    this.#failed = [];
  }

  bind(
    spawn: WallSpawn,
    { workspace, root, signal, ended: callEnded, caller = null }: {
      readonly workspace: string;
      readonly root?: string | undefined;
      readonly signal: AbortSignal;
      readonly ended?: AbortSignal | undefined;
      readonly caller?: SpawnCaller | null;
    },
  ): Spawn {
    return (argv, options = {}) => {
      const watched = options.title === undefined ? null : new WatchedProgram(options.title);
      const given = watched === null ? options : watched.options(options);
      const ofCall = options.lifetime === "conversation" ? [] : [signal, ...callEnded ? [callEnded] : []];
      const lives = [this.#closed.signal, ...ofCall];
      const all = AbortSignal.any(options.signal ? [...lives, options.signal] : lives);
      const running = spawn(workspace, argv, { ...given, root: root ?? workspace, signal: all }, caller);
      const ended = running.then((how) => this.#ended(how, given), () => {}).finally(() => {
        this.#running.delete(ended);
        this.#background.delete(ended);
      });
      this.#running.add(ended);
      if (watched !== null) this.#background.set(ended, watched);
      if (ofCall.length === 0) return running;
      // After its call has returned, possibly nobody awaits the program, and an unhandled rejection would end Vis.
      return running.catch((error) => callEnded?.aborted ? new Promise<never>(() => {}) : Promise.reject(error));
    };
  }

  #ended({ code, signal, timedOut }: Spawned, { title, stop }: SpawnOptions): void {
    if (title === undefined || code === 0 || stop?.aborted || this.#failed.length >= MOST_FAILED) return;
    const how = timedOut ? "timed out" : signal === null ? `exit code ${code}` : `ended by ${signal}`;
    const text = `${oneLine(title, TITLE_CHARS)} (${how})`;
    this.#failed.push(text);
    this.#untold.push(text);
  }

  async close(): Promise<void> {
    this.#closed.abort(new Error("Cannot continue the command: its conversation was closed"));
    await Promise.all(this.#running);
  }
}
