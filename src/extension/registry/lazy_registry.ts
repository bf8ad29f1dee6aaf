import { messageOf } from "../../domain/errors.ts";
import { tenantHome } from "../../domain/kit/ids.ts";
import { type Clock, REAL_CLOCK } from "../../domain/kit/time.ts";
import type { Log } from "../../logging/log.ts";
import { answerInTime } from "../answer_in_time.ts";
import type { EnvironmentView } from "../spec.ts";
import { callView } from "./call_view.ts";
import { type ExtensionDescription, type LiveParts, PROMPT_PLACE } from "./description.ts";
import { joinParts, type Part } from "./join_parts.ts";
import { scopeOf } from "./log_scope.ts";
import type { OwnKeys } from "./own_view.ts";
import type { ActiveExtensions } from "./registry.ts";

/** What knows which extensions are active in a query: the registry itself, or this stand-in for it. */
export interface ExtensionSource {
  activate(env: EnvironmentView, own?: OwnKeys): Promise<ActiveExtensions>;
  /** All extensions of an environment, active or not. */
  known?(envId: string): readonly { readonly namespace: string; readonly version: string }[];
  /** Called when the environment is closed. */
  release?(envId: string): void;
}

export interface LazyRegistryOptions {
  /** One for each extension that `load` returns, in install order. */
  readonly described: readonly ExtensionDescription[];
  /** Namespace to the parts that depend on the conversation. */
  readonly live?: Readonly<Record<string, () => Promise<{ readonly default: LiveParts }>>>;
  /** Namespace to a registry of that extension alone, for extensions with settings, which may change what they
   * contribute to a query. */
  readonly real?: Readonly<Record<string, ExtensionSource>>;
  /** Builds the registry. Called once, and again only after a failure. */
  readonly load: () => Promise<ExtensionSource>;
  /** Schedules `work` for after the query has started, so that the first call finds the registry loaded. */
  readonly soon: (work: () => void) => void;
  readonly log?: Log;
  /** For the time limits of what extensions are asked. */
  readonly clock?: Pick<Clock, "sleep">;
  /** Vis's own folder. */
  readonly home?: string | null;
}

/** Answers from descriptions. The first call loads the extensions and the libraries that they need. */
export class LazyRegistry implements ExtensionSource {
  readonly #options: LazyRegistryOptions;
  #loading: Promise<ExtensionSource> | null = null;
  #loaded: ExtensionSource | null = null;

  constructor(options: LazyRegistryOptions) {
    this.#options = options;
  }

  async activate(env: EnvironmentView, own?: OwnKeys): Promise<ActiveExtensions> {
    if (this.#loaded) return await this.#loaded.activate(env, own);
    this.#options.soon(() => void this.#load().catch(() => {})); // a failure surfaces in the call that needs it
    const asked = await Promise.all(this.#options.described.map((one) => this.#ask(one, { env, own })));
    const parts = asked.filter((one) => one !== null);
    let real: Promise<ActiveExtensions> | null = null;
    let called: ActiveExtensions | null = null;
    const registry = (): Promise<ActiveExtensions> => real ??= this.#load().then((source) => source.activate(env, own));
    const joined = joinParts(parts, async (name, args, options) => {
      called = await registry();
      return await called.call(name, args, options);
    });
    return { ...joined, faults: () => [...joined.faults?.() ?? [], ...called?.faults?.() ?? []] };
  }

  known(envId: string): readonly { readonly namespace: string; readonly version: string }[] {
    if (this.#loaded?.known) return this.#loaded.known(envId);
    const { described, real = {} } = this.#options;
    return described.flatMap(({ namespace, version }) => real[namespace]?.known?.(envId) ?? [{ namespace, version }]);
  }

  release(envId: string): void {
    for (const one of Object.values(this.#options.real ?? {})) one.release?.(envId);
    this.#loaded?.release?.(envId);
  }

  /** Null if it is not active or failed to answer in time. */
  async #ask(
    description: ExtensionDescription,
    { env, own }: { readonly env: EnvironmentView; readonly own: OwnKeys | undefined },
  ): Promise<Part | null> {
    const { home, live = {}, real = {}, log, clock = REAL_CLOCK } = this.#options;
    const { namespace, block } = description;
    const source = real[namespace];
    if (source) return await source.activate(env, own);
    const load = live[namespace];
    if (!load) return partOf(description, block);
    let phase = "activate";
    try {
      const { default: parts } = await load();
      const view = callView(env, {
        ...own?.(namespace),
        ...(home === undefined ? {} : { home: tenantHome(home, env.tenant) }),
      });
      if (!(await answerInTime(() => parts.activate(view), { clock }))) return null;
      phase = "prompt";
      const prompt = await answerInTime(() => parts.prompt(view), { clock });
      return partOf(description, withPrompt(description, prompt.trim()));
    } catch (error) {
      log?.error("extension.failed", { ext: namespace, phase, error: messageOf(error), ...scopeOf(env) });
      return phase === "prompt" ? partOf(description, withPrompt(description, "")) : null;
    }
  }

  #load(): Promise<ExtensionSource> {
    this.#loading ??= this.#options.load().then((source) => this.#loaded = source).catch((error: unknown) => {
      this.#loading = null;
      throw error;
    });
    return this.#loading;
  }
}

function withPrompt({ block, quiet }: ExtensionDescription, prompt: string): string {
  if (prompt !== "") return block.replace(PROMPT_PLACE, () => prompt);
  return quiet ? "" : block.replace(`${PROMPT_PLACE}\n`, "").replace(`\n${PROMPT_PLACE}`, "");
}

function partOf(description: ExtensionDescription, block: string): Part {
  const {
    namespace,
    version,
    functions,
    actions = {},
    untimed = [],
    reads = [],
    constants,
    grants,
    globals,
    modules = {},
    example,
    docs,
  } = description;
  return {
    ...{ list: [{ namespace, version }], functions, actions, untimed, reads, constants, grants, globals, modules },
    blocks: block === "" ? [] : [block],
    example,
    nudges: [],
    doc: (name) =>
      Object.hasOwn(docs, name)
        ? docs[name]?.replace(block === "" ? `${PROMPT_PLACE}\n` : PROMPT_PLACE, () => block) ?? null
        : null,
  };
}
