import type { ExtensionDescription } from "./description.ts";
import type { ActiveExtensions, CallOptions } from "./registry.ts";
import type { EnvironmentView } from "./spec.ts";

/** Whoever can say what is active in a query: the registry itself, or this stand-in for it. */
export interface ExtensionSource {
  activate(env: EnvironmentView): Promise<ActiveExtensions>;
}

export interface LazyRegistryOptions {
  /** One for every extension that `load` gives, in install order. */
  readonly described: readonly ExtensionDescription[];
  /** Builds the registry; called at most once, unless it fails. */
  readonly load: () => Promise<ExtensionSource>;
  /** Runs `work` when the start of the query is over, so that the first call finds the registry there. */
  readonly soon: (work: () => void) => void;
}

/** Answers from descriptions and loads extensions, and the libraries that they need, with the first call. */
export class LazyRegistry implements ExtensionSource {
  readonly #options: LazyRegistryOptions;
  #loading: Promise<ExtensionSource> | null = null;

  constructor(options: LazyRegistryOptions) {
    this.#options = options;
  }

  activate(env: EnvironmentView): Promise<ActiveExtensions> {
    const { described, soon } = this.#options;
    let real: Promise<ActiveExtensions> | null = null;
    const active = (): Promise<ActiveExtensions> => real ??= this.#load().then((source) => source.activate(env));
    soon(() => void this.#load().catch(() => {})); // a failure shows in the call that needs it
    return Promise.resolve({
      list: described.map(({ namespace, version }) => ({ namespace, version })),
      functions: described.flatMap(({ functions }) => functions),
      constants: Object.assign({}, ...described.map(({ constants }) => constants)),
      grants: unionOf(described),
      globals: [...new Set(described.flatMap(({ globals }) => globals))],
      blocks: described.map(({ block }) => block),
      nudges: [],
      call: async (name: string, args: readonly unknown[], options: CallOptions) =>
        await (await active()).call(name, args, options),
      doc: (name) => docOf(described, name),
    });
  }

  #load(): Promise<ExtensionSource> {
    this.#loading ??= this.#options.load().catch((error: unknown) => {
      this.#loading = null;
      throw error;
    });
    return this.#loading;
  }
}

function docOf(described: readonly ExtensionDescription[], name: string): string | null {
  for (const { docs } of described) if (Object.hasOwn(docs, name)) return docs[name] ?? null;
  return null;
}

function unionOf(described: readonly ExtensionDescription[]): ActiveExtensions["grants"] {
  const union = (key: "net" | "read" | "write" | "env"): readonly string[] => [
    ...new Set(described.flatMap(({ grants }) => grants[key])),
  ];
  return { net: union("net"), read: union("read"), write: union("write"), env: union("env") };
}
