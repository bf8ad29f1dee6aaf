import type { ActiveExtensions, OwnKeys } from "../extension/active.ts";
import type { SpawnCaller } from "../extension/spawned.ts";
import type { EnvironmentView, RouterFacts } from "../extension/spec.ts";
import type { Router } from "../providers/router/router.ts";
import type { BoundVariables } from "./bound_variables.ts";
import type { ConversationPrograms } from "./conversation_programs.ts";
import type { EnvironmentParts, QueryScope } from "./environment_parts.ts";
import { ExtensionStore } from "./extension_store.ts";
import { StoredHistory } from "./history/stored_history.ts";
import { initialNames } from "./realm.ts";
import { sourceFault } from "./source_fault.ts";
import type { VariableIndex } from "./variable_index.ts";

/** What extensions see of the router; `root` overrides it if the query has its own. */
function routerFacts(
  router: Pick<Router, "routes" | "current">,
  root?: RouterFacts["root"],
): RouterFacts {
  const models = Map.groupBy(router.routes, ({ provider }) => provider.name);
  const providers = [...models].map(([name, routes]) =>
    Object.freeze({ name, models: Object.freeze([...new Set(routes.map(({ model }) => model))]) })
  );
  const { provider, model } = router.current();
  return Object.freeze({
    providers: Object.freeze(providers),
    root: Object.freeze({ ...root ?? { provider: provider.name, model } }),
  });
}

/** Until it is known which extension sees the environment. */
const NOBODY: SpawnCaller = { extension: "", ask: null };

type Mutable = { -readonly [Key in keyof EnvironmentView]: EnvironmentView[Key] };

export interface ViewSource {
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

/** An environment as extensions see it. Values that change are read on access. */
export class EnvironmentViews {
  readonly #source: ViewSource;
  readonly #db: StoredHistory;
  /** Without a query, and with one. */
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

  /** The keys that belong to one extension. */
  readonly own: OwnKeys = (namespace, call) => {
    const kept = this.#kept(namespace);
    const { scope } = this.#source.now();
    const signal = call?.untimed ? call.signal : null;
    const ask = scope?.approve;
    const approve: EnvironmentView["approve"] = ask && signal !== null
      ? (request) => ask(request, { extension: namespace, signal })
      : undefined;
    const spawn = this.#spawn(scope, { signal: call?.signal, caller: { extension: namespace, ask: approve ?? null } });
    return { ...kept, ...(spawn ? { spawn } : {}), ...(approve ? { approve } : {}) };
  };

  /** Those that exist for the whole life of the environment. */
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

  /** Includes the keys of the running query. With a signal, it also has those of a call, which can be abandoned.
   * Created for every call, so what all calls share is inherited. */
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
    keys.runChild = (task, options) => subcalls.runChild(task, { ...options, signal });
    return keys;
  }

  #conversation(): EnvironmentView {
    const { envId, parts, index, programs, variables, now } = this.#source;
    const { branch: { conversationId, branchId, tenant, workspace }, depth = 0, router, registry, obeyedPaths } = parts;
    const keys: EnvironmentView = {
      envId,
      conversationId,
      branchId,
      depth,
      tenant,
      workspace,
      closed: programs.closed,
      endsWithQuery: (parts.oneRequest ?? false) || depth > 0,
      ...(parts.programWalls ? { programWalls: parts.programWalls } : {}),
      ...(parts.secrets ? { secrets: parts.secrets } : {}),
      ...(obeyedPaths ? { obeyedPaths: (paths) => obeyedPaths(workspace, paths) } : {}),
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

  /** Keys while a query runs. */
  #query(): Partial<EnvironmentView> {
    const { now, parts: { parentIterationId, userQueryId } } = this.#source;
    return {
      ...(parentIterationId === undefined ? {} : { parentIterationId }),
      get maxIterations() {
        return now().scope?.budget() ?? 0;
      },
      get currentIterationId() {
        return now().iterationId;
      },
      get userQueryId() {
        return userQueryId ?? now().scope?.queryId ?? "";
      },
    };
  }

  /** Programs end with the call, or else with the query, or else with the conversation. */
  #spawn(
    scope: QueryScope | null,
    { signal, caller }: { readonly signal: AbortSignal | undefined; readonly caller: SpawnCaller },
  ): EnvironmentView["spawn"] {
    const { parts: { spawn, branch: { workspace } }, programs } = this.#source;
    const ends = signal ?? (scope ? programs.query : programs.closed);
    return spawn && programs.bind(spawn, { workspace, signal: ends, caller });
  }
}

/** Copies property descriptors, so that getters remain getters. */
function add(to: EnvironmentView, keys: Partial<EnvironmentView>): EnvironmentView {
  return Object.defineProperties(to, Object.getOwnPropertyDescriptors(keys));
}
