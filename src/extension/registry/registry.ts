import type { CallOutcome } from "../../domain/query/calls.ts";
import { messageOf } from "../../domain/errors.ts";
import { type Clock, REAL_CLOCK } from "../../domain/kit/time.ts";
import type { CallAction } from "../../domain/query/calls.ts";
import type { Log } from "../../logging/log.ts";
import { ANSWER_MS, answerInTime, EXTEND_MS } from "../answer_in_time.ts";
import { scriptsOf } from "../realm_scripts.ts";
import type { EnvironmentView, Extension, NudgeContext, ReplyExample } from "../spec.ts";
import { type NormalExtension, validateExtension } from "../validate_extension.ts";
import { unknownFunction } from "./_unknown_function.ts";
import { grouped } from "./grouped.ts";
import { invokeSymbol } from "./hooks.ts";
import { installOrder } from "./install_order.ts";
import { joinParts, type Part } from "./join_parts.ts";
import { scopeOf } from "./log_scope.ts";
import type { OffPart } from "./off_part.ts";
import { ownNudge } from "./own_nudge.ts";
import { type OwnPart, ownPart } from "./own_part.ts";
import { type OwnCall, type OwnKeys, ownView } from "./own_view.ts";
import { readExtensionConfig, type SettingSources } from "./read_config.ts";

/** A part of an extension that threw in a query, which went on without it. */
export interface ExtensionFault {
  readonly namespace: string;
  /** "warn" for what the extension tells the user itself. */
  readonly phase: string;
  readonly error: unknown;
}

/** What the active extensions contribute to one query. */
export interface ActiveExtensions {
  /** In install order. */
  readonly list: readonly { readonly namespace: string; readonly version: string }[];
  /** "search.find" */
  readonly functions: readonly string[];
  /** What calls do, by the names of functions that say it. */
  readonly actions: Readonly<Record<string, CallAction>>;
  /** The functions with their own time limit. */
  readonly untimed: readonly string[];
  /** The functions that change nothing that lasts. */
  readonly reads: readonly string[];
  /** "alias.name" to its constant. */
  readonly constants: Readonly<Record<string, unknown>>;
  /** The union of their grants, in the shape of the sandbox's `Grants`. */
  readonly grants: Readonly<Record<"net" | "read" | "write" | "env", readonly string[]>>;
  /** Platform globals that they need. */
  readonly globals: readonly string[];
  /** Scripts of their modules, by their names in the realm. */
  readonly modules: Readonly<Record<string, string>>;
  /** One per extension, ordered by group and subgroup, to be joined by blank lines. */
  readonly blocks: readonly string[];
  /** The sample reply for the prompt: from the first extension that has one. */
  readonly example?: ReplyExample | undefined;
  /** Shipped extensions that the settings switch off. */
  readonly off?: readonly OffPart[];
  /** What threw since the query began. */
  readonly faults?: () => readonly ExtensionFault[];
  /** Never throw; null if there is nothing to say now. */
  readonly nudges: readonly { readonly namespace: string; nudge(ctx: NudgeContext): Promise<string | null> }[];
  /** Rejects only with HostCallError. */
  call(name: string, args: readonly unknown[], options: FunctionCallOptions): Promise<unknown>;
  /** Text about "search.find", or about all of "search"; null if it is not active. */
  doc(name: string): string | null;
}

export interface FunctionCallOptions {
  readonly env: EnvironmentView;
  readonly signal: AbortSignal;
  /** Gets how the call turned out, if its function says so. */
  readonly told?: (outcome: CallOutcome) => void;
}

export interface RegistryOptions extends SettingSources {
  readonly log: Log;
  /** Vis's own folder. */
  readonly home?: string | null;
  /** Namespace to its section of the configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** For the time limits of what extensions are asked. */
  readonly clock?: Pick<Clock, "sleep">;
  /** Loads the extension that `env.load` names. */
  readonly load?: (ref: string) => Promise<Extension>;
}

interface ViewOf {
  readonly env: EnvironmentView;
  readonly own: OwnKeys | undefined;
  /** Takes what throws. */
  readonly faults?: ExtensionFault[] | undefined;
  readonly call?: OwnCall;
}

/** All extensions of the process. Which of them a query sees is decided when it starts. */
export class ExtensionRegistry {
  readonly #extensions = new Map<string, NormalExtension>();
  readonly #log: Log;
  readonly #options: RegistryOptions;
  /** Extensions that environments registered for themselves, by environment id. */
  readonly #own = new Map<string, Map<string, NormalExtension>>();
  /** Namespace to its parsed section of the configuration. */
  readonly #configs = new Map<string, unknown>();
  #order: readonly NormalExtension[] | null = null;

  constructor(options: RegistryOptions) {
    this.#log = options.log;
    this.#options = options;
  }

  /** Adds an extension, or replaces the one with its namespace; queries that start later see it. Throws TypeError if
   * the extension or its section of the configuration is invalid, and Error if another extension has the alias. */
  register(extension: Extension): void {
    this.#add(extension, this.#extensions);
    this.#order = null;
  }

  /** Registers for one environment only, where it replaces another one of its namespace. Throws as `register` does, and
   * if a requirement is missing there. */
  registerFor(envId: string, extension: Extension): void {
    const own = new Map(this.#own.get(envId));
    this.#add(extension, own);
    installOrder(this.#allOf(own));
    this.#own.set(envId, own);
  }

  /** An extension's section of the configuration, as parsed by its `config`. */
  configOf(namespace: string): unknown {
    return this.#configs.get(namespace);
  }

  /** Removes what the environment registered. */
  release(envId: string): void {
    this.#own.delete(envId);
  }

  #add(extension: Extension, to: Map<string, NormalExtension>): void {
    const normal = validateExtension(extension);
    const { namespace } = normal;
    scriptsOf(normal);
    refuseTaken(normal, this.#allOf(to).filter((other) => other.namespace !== namespace));
    this.#configs.set(namespace, readExtensionConfig(normal, this.#options.config?.[namespace], this.#options));
    to.set(namespace, normal);
  }

  #allOf(own: ReadonlyMap<string, NormalExtension>): readonly NormalExtension[] {
    return [...new Map([...this.#extensions, ...own]).values()];
  }

  /** All registered extensions, required ones first. Throws Error that names the chain of a missing or circular
   * requirement. */
  installOrder(): readonly Extension[] {
    return this.#installed();
  }

  /** Asks every extension whether it is active and renders its prompt. What throws or takes too long is logged: an
   * extension whose `activate` fails is left out, one whose `prompt` fails has only its symbols. `own` returns the keys
   * that belong to one extension. Throws as `installOrder` does. */
  async activate(env: EnvironmentView, own?: OwnKeys): Promise<ActiveExtensions> {
    const faults: ExtensionFault[] = [];
    await this.#extend({ env, own, faults });
    const asked = await Promise.all(
      this.#installedFor(env.envId).map((extension) => this.#ask(extension, { env, own, faults })),
    );
    return { ...this.#collect(asked.filter((one) => one !== null), { own, faults }), faults: () => faults };
  }

  /** The extensions that `activate` would ask now, if they can be put in order. */
  known(envId: string): readonly { readonly namespace: string; readonly version: string }[] {
    return this.#installedFor(envId).map(({ namespace, version }) => ({ namespace, version }));
  }

  #installedFor(envId: string): readonly NormalExtension[] {
    const own = this.#own.get(envId);
    return own ? installOrder(this.#allOf(own)) : this.#installed();
  }

  /** Adds what `extend` returns for this environment. What cannot be added is logged and left out. */
  async #extend({ env, own, faults = [] }: ViewOf): Promise<void> {
    for (const extension of this.#installed()) {
      try {
        const asked = () => extension.extend?.(this.#view(extension, { env, own }));
        for (const one of await this.#answer(asked, EXTEND_MS) ?? []) {
          this.#addQuietly(one, { env, own, faults });
        }
      } catch (error) {
        this.#failed({ namespace: extension.namespace, phase: "extend", error }, { env, own, faults });
      }
    }
  }

  #addQuietly(extension: Extension, of: ViewOf): void {
    try {
      this.registerFor(of.env.envId, extension);
    } catch (error) {
      this.#failed({ namespace: extension.namespace, phase: "register", error }, of);
    }
  }

  #failed(fault: ExtensionFault, { env, faults = [] }: ViewOf): void {
    const { namespace: ext, phase, error } = fault;
    faults.push(fault);
    this.#log.error("extension.failed", { ext, phase, error: messageOf(error), ...scopeOf(env) });
  }

  #installed(): readonly NormalExtension[] {
    this.#order ??= installOrder([...this.#extensions.values()]);
    return this.#order;
  }

  /** The environment plus the keys that belong to the extension. */
  #view({ namespace }: NormalExtension, { env, own, call, faults }: ViewOf): EnvironmentView {
    const { home, load } = this.#options;
    return ownView(env, {
      namespace,
      own,
      ...(call ? { call } : {}),
      log: this.#log,
      warn: faults && call && ((text) => void faults.push({ namespace, phase: "warn", error: new Error(text) })),
      home,
      config: this.#configs.get(namespace),
      register: (extension) => this.registerFor(env.envId, extension),
      load: load && (async (ref) => this.#loadFor(env.envId, await load(ref))),
    });
  }

  #loadFor(envId: string, extension: Extension): Extension {
    const known = this.#extensions.get(extension.namespace) ?? this.#own.get(envId)?.get(extension.namespace);
    if (known === undefined) this.registerFor(envId, extension);
    return known ?? extension;
  }

  async #ask(extension: NormalExtension, of: ViewOf): Promise<OwnPart | null> {
    const { namespace } = extension;
    const view = this.#view(extension, of);
    try {
      if (!(await this.#answer(() => extension.activate(view)))) return null;
    } catch (error) {
      this.#failed({ namespace, phase: "activate", error }, of);
      return null;
    }
    try {
      return ownPart(extension, await this.#answer(() => extension.prompt(view)));
    } catch (error) {
      this.#failed({ namespace, phase: "prompt", error }, of);
      return ownPart(extension, "");
    }
  }

  async #answer<T>(ask: () => T, ms = ANSWER_MS): Promise<Awaited<T>> {
    return await answerInTime(ask, { ms, clock: this.#options.clock ?? REAL_CLOCK });
  }

  #collect(active: readonly OwnPart[], { own, faults }: Omit<ViewOf, "env">): ActiveExtensions {
    const joined = joinParts(
      active.map((part) => this.#withNudge(part, { own, faults })),
      async (name, args, options) => {
        const part = active.find(({ symbols }) => symbols.has(name));
        const symbol = part?.symbols.get(name);
        if (symbol?.kind !== "function" || !part) throw unknownFunction(name, active.flatMap((one) => one.functions));
        const { env, signal, told } = options;
        const { extension } = part;
        const view = this.#view(extension, { env, own, faults, call: { signal, untimed: symbol.untimed ?? false } });
        return await invokeSymbol({
          extension,
          symbol,
          env: view,
          args,
          log: this.#log,
          now: () => performance.now(),
          told,
        });
      },
    );
    return { ...joined, blocks: grouped(active).flatMap(({ blocks }) => blocks) };
  }

  #withNudge(part: OwnPart, { own, faults = [] }: Omit<ViewOf, "env">): Part {
    const { extension } = part;
    const view = (env: EnvironmentView): EnvironmentView => this.#view(extension, { env, own });
    const { clock = REAL_CLOCK } = this.#options;
    return { ...part, nudges: extension.nudge ? [ownNudge(extension, { log: this.#log, clock, view, faults })] : [] };
  }
}

/** Aliases and modules share one namespace in the realm. */
function refuseTaken(
  { namespace, alias: { alias }, modules = {} }: NormalExtension,
  others: readonly NormalExtension[],
) {
  for (const [kind, name] of [["alias", alias], ...Object.keys(modules).map((name) => ["module", name])] as const) {
    const holder = others.find((other) => other.alias.alias === name || Object.hasOwn(other.modules ?? {}, name));
    if (!holder) continue;
    throw new Error(`Cannot register extension ${namespace}: ${kind} ${name} belongs to ${holder.namespace}`);
  }
}
