import type { ActiveExtensions } from "./registry.ts";
import type { EnvironmentView } from "./spec.ts";

/** What a shipped extension gives a query, written down when the program is built, so that a query can begin before
 * any extension is loaded. */
export interface ExtensionDescription {
  readonly namespace: string;
  readonly version: string;
  /** "fs.readFile" */
  readonly functions: readonly string[];
  readonly constants: Readonly<Record<string, unknown>>;
  readonly grants: ActiveExtensions["grants"];
  /** Platform globals that it asks for. */
  readonly globals: readonly string[];
  /** Scripts of its modules by their names. */
  readonly modules?: Readonly<Record<string, string>>;
  /** Nothing where absent. */
  readonly requires?: readonly string[];
  /** Of one with live parts, `PROMPT_PLACE` stands for the prompt. */
  readonly block: string;
  /** Of one with live parts: without a prompt it has no block. */
  readonly quiet?: boolean;
  /** Name of a symbol, or of the alias, to what `doc()` says of it. */
  readonly docs: Readonly<Record<string, string>>;
}

export const PROMPT_PLACE = "\u0000";

/** What of a described extension depends on the conversation, in a module that is quick to load. */
export interface LiveParts {
  activate(env: EnvironmentView): boolean | Promise<boolean>;
  prompt(env: EnvironmentView): string | Promise<string>;
}

/** Name of a shipped extension to its description; null for one that depends on the conversation in other ways. */
export type DescribedIndex = Readonly<Record<string, ExtensionDescription | null>>;
/** Name of a described extension to the module of its live parts. */
export type LiveIndex = Readonly<Record<string, () => Promise<{ readonly default: LiveParts }>>>;
