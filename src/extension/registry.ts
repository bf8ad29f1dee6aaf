import {
  type ActiveExtensions,
  ANSWER_MS,
  answerInTime,
  callView,
  EXTEND_MS,
  type ExtensionFault,
  joinParts,
  type OwnCall,
  type OwnKeys,
  scopeOf,
  TookTooLong,
} from "./active.ts";
import { HostCallError, messageOf } from "../domain/errors.ts";
import { tenantHome } from "../domain/kit/ids.ts";
import { type Clock, REAL_CLOCK } from "../domain/kit/time.ts";
import type { Log } from "../logging/log.ts";
import { invokeSymbol } from "./hooks.ts";
import { type OwnPart, ownPart } from "./prompt_block.ts";
import { readExtensionConfig, type SettingSources } from "./read_config.ts";
import type { EnvironmentView, Extension } from "./spec.ts";
import { type NormalExtension, scriptsOf, validateExtension } from "./validate.ts";

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

/** Maximum length of one log note, and of the line of a nudge, in characters. */
const MAX_NOTE = 2000, MAX_NUDGE = 200;

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

  /** The environment as one extension sees it: with the keys that belong to it. */
  #view({ namespace }: NormalExtension, { env, own, call, faults }: ViewOf): EnvironmentView {
    const { home, load } = this.#options;
    const config = this.#configs.get(namespace);
    const note = (text: string): void =>
      this.#log.info("extension.note", { ext: namespace, text: String(text).slice(0, MAX_NOTE) });
    const warn = (text: string): void => void faults?.push({ namespace, phase: "warn", error: new Error(text) });
    return callView(env, {
      ...own?.(namespace, call),
      ...(home === undefined ? {} : { home: tenantHome(home, env.tenant) }),
      ...(config === undefined ? {} : { config }),
      ...(call ? { signal: call.signal } : {}),
      log: note,
      register: (extension) => this.registerFor(env.envId, extension),
      ...(call && faults ? { warn } : {}),
      ...(load ? { load: async (ref) => this.#loadFor(env.envId, await load(ref)) } : {}),
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
      active.map((part) => ({
        ...part,
        nudges: part.extension.nudge ? [this.#nudgeOf(part.extension, { own, faults })] : [],
      })),
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

  /** A nudge that is safe to call: only while the extension is active, and its result is one line of bounded length or
   * null. One that took too long is not called again, since every step would wait. */
  #nudgeOf(extension: NormalExtension, { own, faults = [] }: Omit<ViewOf, "env">): ActiveExtensions["nudges"][number] {
    const { namespace } = extension;
    let isSlow = false;
    return {
      namespace,
      nudge: async (ctx) => {
        if (isSlow) return null;
        const scope = scopeOf(ctx.environment);
        try {
          const environment = this.#view(extension, { env: ctx.environment, own });
          const said = await this.#answer(async (): Promise<unknown> =>
            await extension.activate(environment) ? await extension.nudge?.({ ...ctx, environment }) : null
          );
          if (typeof said !== "string" || said.trim() === "") return null;
          const line = said.trim().replace(/\s*[\r\n]+\s*/g, " ");
          if (line.length <= MAX_NUDGE) return line;
          this.#log.warn("extension.nudge_cut", { ext: namespace, phase: "nudge", chars: line.length, ...scope });
          return `${line.slice(0, MAX_NUDGE - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
        } catch (error) {
          isSlow = error instanceof TookTooLong;
          faults.push({ namespace, phase: "nudge", error });
          this.#log.warn("extension.failed", { ext: namespace, phase: "nudge", error: messageOf(error), ...scope });
          return null;
        }
      },
    };
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

/** Sorts required extensions first and otherwise keeps the order. Throws Error that names the chain if a requirement is
 * missing or circular. */
export function installOrder(extensions: readonly NormalExtension[]): readonly NormalExtension[] {
  const known = new Map(extensions.map((extension) => [extension.namespace, extension]));
  const done = new Set<NormalExtension>();
  const visit = (extension: NormalExtension, chain: readonly string[]): void => {
    if (done.has(extension)) return;
    const path = [...chain, extension.namespace];
    if (chain.includes(extension.namespace)) {
      const circle = path.slice(path.indexOf(extension.namespace)).join(" → ");
      throw new Error(`Cannot install extension ${extension.namespace}: circular requires: ${circle}`);
    }
    for (const name of extension.requires) {
      const required = known.get(name);
      if (!required) {
        throw new Error(`Cannot install extension ${path[0]}: missing requirement: ${[...path, name].join(" → ")}`);
      }
      visit(required, path);
    }
    done.add(extension);
  };
  for (const extension of extensions) visit(extension, []);
  return [...done];
}

/** Keeps install order, with members of one group and subgroup moved to the position of its first member. */
function grouped<A extends { readonly extension: NormalExtension }>(active: readonly A[]): readonly A[] {
  const groups = Map.groupBy(active, ({ extension }) => extension.group);
  return [...groups.values()].flatMap((group) =>
    [...Map.groupBy(group, ({ extension }) => extension.subgroup).values()].flat()
  );
}

/** The error for a call of a function that is not active; it lists those of the same alias. */
function unknownFunction(name: string, known: readonly string[]): HostCallError {
  const [alias = "", symbol = name] = name.split(".");
  const there = known.filter((one) => one.startsWith(`${alias}.`));
  const hint = there.length > 0 ? `${alias} has ${there.join(", ")}` : "";
  return new HostCallError(`Cannot call ${name}: no such function is active`, {
    namespace: alias,
    symbol,
    ...(hint ? { hint } : {}),
  });
}
