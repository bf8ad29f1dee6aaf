import type { Log } from "../logging/log.ts";
import { callView } from "./call_view.ts";
import { type ExtensionDescription, type LiveParts, PROMPT_PLACE } from "./description.ts";
import type { OwnKeys } from "./own_view.ts";
import type { ActiveExtensions, CallOptions } from "./registry.ts";
import type { EnvironmentView } from "./spec.ts";

/** Whoever can say what is active in a query: the registry itself, or this stand-in for it. */
export interface ExtensionSource {
  activate(env: EnvironmentView, own?: OwnKeys): Promise<ActiveExtensions>;
  /** All there are for an environment, active or not. */
  known?(envId: string): readonly { readonly namespace: string; readonly version: string }[];
  /** The environment is gone. */
  release?(envId: string): void;
}

export interface LazyRegistryOptions {
  /** One for every extension that `load` gives, in install order. */
  readonly described: readonly ExtensionDescription[];
  /** Namespace to what depends on the conversation. */
  readonly live?: Readonly<Record<string, () => Promise<{ readonly default: LiveParts }>>>;
  /** Builds the registry; called at most once, unless it fails. */
  readonly load: () => Promise<ExtensionSource>;
  /** Runs `work` when the start of the query is over, so that the first call finds the registry there. */
  readonly soon: (work: () => void) => void;
  readonly log?: Log;
  /** Vis's own folder. */
  readonly home?: string | null;
}

interface Active {
  readonly description: ExtensionDescription;
  readonly block: string;
}

/** Answers from descriptions and loads extensions, and the libraries that they need, with the first call. */
export class LazyRegistry implements ExtensionSource {
  readonly #options: LazyRegistryOptions;
  #loading: Promise<ExtensionSource> | null = null;
  #loaded: ExtensionSource | null = null;

  constructor(options: LazyRegistryOptions) {
    this.#options = options;
  }

  async activate(env: EnvironmentView, own?: OwnKeys): Promise<ActiveExtensions> {
    if (this.#loaded) return await this.#loaded.activate(env, own);
    this.#options.soon(() => void this.#load().catch(() => {})); // a failure shows in the call that needs it
    const asked = await Promise.all(this.#options.described.map((one) => this.#ask(one, { env, own })));
    const active = asked.filter((one) => one !== null);
    const described = active.map(({ description }) => description);
    let real: Promise<ActiveExtensions> | null = null;
    const registry = (): Promise<ActiveExtensions> => real ??= this.#load().then((source) => source.activate(env, own));
    return {
      list: described.map(({ namespace, version }) => ({ namespace, version })),
      functions: described.flatMap(({ functions }) => functions),
      constants: Object.assign({}, ...described.map(({ constants }) => constants)),
      grants: unionOf(described),
      globals: [...new Set(described.flatMap(({ globals }) => globals))],
      modules: Object.assign({}, ...described.map(({ modules = {} }) => modules)),
      blocks: active.map(({ block }) => block).filter((block) => block !== ""),
      nudges: [],
      call: async (name: string, args: readonly unknown[], options: CallOptions) =>
        await (await registry()).call(name, args, options),
      doc: (name) => docOf(active, name),
    };
  }

  known(envId: string): readonly { readonly namespace: string; readonly version: string }[] {
    if (this.#loaded?.known) return this.#loaded.known(envId);
    return this.#options.described.map(({ namespace, version }) => ({ namespace, version }));
  }

  release(envId: string): void {
    this.#loaded?.release?.(envId);
  }

  /** Null where it is not active, or cannot say. */
  async #ask(
    description: ExtensionDescription,
    { env, own }: { readonly env: EnvironmentView; readonly own: OwnKeys | undefined },
  ): Promise<Active | null> {
    const { home, live = {}, log } = this.#options;
    const load = live[description.namespace];
    if (!load) return { description, block: description.block };
    try {
      const { default: parts } = await load();
      const view = callView(env, { ...own?.(description.namespace), ...(home === undefined ? {} : { home }) });
      if (await parts.activate(view) !== true) return null;
      return { description, block: withPrompt(description, (await parts.prompt(view)).trim()) };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      log?.error("extension.failed", { ext: description.namespace, phase: "prompt", error: message });
      return null;
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

function docOf(active: readonly Active[], name: string): string | null {
  for (const { description: { docs }, block } of active) {
    if (Object.hasOwn(docs, name)) return docs[name]?.replace(PROMPT_PLACE, () => block) ?? null;
  }
  return null;
}

function unionOf(described: readonly ExtensionDescription[]): ActiveExtensions["grants"] {
  const union = (key: "net" | "read" | "write" | "env"): readonly string[] => [
    ...new Set(described.flatMap(({ grants }) => grants[key])),
  ];
  return { net: union("net"), read: union("read"), write: union("write"), env: union("env") };
}
