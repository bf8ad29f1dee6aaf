import {
  type ActiveExtensions,
  answerInTime,
  callView,
  type ExtensionSource,
  joinParts,
  type OwnKeys,
  type Part,
  scopeOf,
} from "./active.ts";
import { messageOf } from "../domain/errors.ts";
import { tenantHome } from "../domain/kit/ids.ts";
import { type Clock, REAL_CLOCK } from "../domain/kit/time.ts";
import type { Log } from "../logging/log.ts";
import type { EnvironmentView } from "./spec.ts";
import type { z } from "zod";

/** What a shipped extension contributes to a query, recorded when the program is built, so that a query can start
 * before any extension is loaded. */
export interface ExtensionDescription
  extends
    Pick<ActiveExtensions, "functions" | "constants" | "grants" | "globals" | "example">,
    Partial<Pick<ActiveExtensions, "actions" | "untimed" | "reads" | "modules">> {
  readonly namespace: string;
  readonly version: string;
  /** None if absent. */
  readonly requires?: readonly string[];
  /** As in its spec. */
  readonly onByDefault?: boolean;
  readonly howToEnable?: string;
  /** Whether it has a part for read-only workspaces. */
  readonly readOnly?: boolean;
  readonly settings?: DescribedSettings;
  /** With live parts, `PROMPT_PLACE` marks where the prompt goes. */
  readonly block: string;
  /** With live parts: there is no block if the prompt is empty. */
  readonly quiet?: boolean;
  /** Name of a symbol, or of the alias, to the text that `doc()` returns for it. */
  readonly docs: Readonly<Record<string, string>>;
}

/** What must be known about an extension's settings before it is loaded. */
export interface DescribedSettings {
  /** Name of its top-level section of the configuration, in addition to `extensions.config`. */
  readonly section?: string;
  /** Defaults of the settings that it reads itself. With these values, a query can start before it is loaded. */
  readonly defaults: Readonly<Record<string, unknown>>;
  /** Keys that the workspace's settings file may set. */
  readonly project: readonly string[];
  /** Settings that apply to every program of a conversation, by the keys that hold them. */
  readonly programs: Readonly<Partial<Record<"network" | "read" | "unwalled", string>>>;
  /** Kind of what clients offer, to the key that takes it. */
  readonly offered: Readonly<Record<string, string>>;
}

export const PROMPT_PLACE = "\u0000";

/** The parts of a described extension that depend on the conversation, in a module that loads quickly. */
export interface LiveParts {
  activate(env: EnvironmentView): unknown;
  prompt(env: EnvironmentView): string | Promise<string>;
}

/** Name of a shipped extension to its description; null if it depends on the conversation in other ways. */
export type DescribedIndex = Readonly<Record<string, ExtensionDescription | null>>;
/** Name of a described extension to the module of its settings. */
export type SettingsIndex = Readonly<Record<string, () => Promise<{ readonly default: z.ZodType }>>>;
/** Name of a described extension to the module of its live parts. */
export type LiveIndex = Readonly<Record<string, () => Promise<{ readonly default: LiveParts }>>>;

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
