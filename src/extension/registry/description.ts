import type { z } from "zod";
import type { ActiveExtensions } from "./registry.ts";
import type { EnvironmentView, ReplyExample } from "../spec.ts";

/** What a shipped extension gives a query, written down when the program is built, so that a query can begin before
 * any extension is loaded. */
export interface ExtensionDescription {
  readonly namespace: string;
  readonly version: string;
  /** "search.find" */
  readonly functions: readonly string[];
  /** Those of them that have a time limit of their own; none where absent. */
  readonly untimed?: readonly string[];
  readonly constants: Readonly<Record<string, unknown>>;
  readonly grants: ActiveExtensions["grants"];
  /** Platform globals that it asks for. */
  readonly globals: readonly string[];
  /** Scripts of its modules by their names. */
  readonly modules?: Readonly<Record<string, string>>;
  /** Nothing where absent. */
  readonly requires?: readonly string[];
  /** As in its spec. */
  readonly optIn?: boolean;
  readonly example?: ReplyExample | undefined;
  /** Whether it has a part for workspaces that may only be read. */
  readonly readOnly?: boolean;
  readonly settings?: DescribedSettings;
  /** Of one with live parts, `PROMPT_PLACE` stands for the prompt. */
  readonly block: string;
  /** Of one with live parts: without a prompt it has no block. */
  readonly quiet?: boolean;
  /** Name of a symbol, or of the alias, to what `doc()` says of it. */
  readonly docs: Readonly<Record<string, string>>;
}

/** What must be known of an extension's settings before it is loaded. */
export interface DescribedSettings {
  /** Name of its section at the top of the configuration, beside its place in `extensions.config`. */
  readonly section?: string;
  /** Of those that it reads itself: with these, a query begins before it is loaded. */
  readonly defaults: Readonly<Record<string, unknown>>;
  /** Keys that the file of a workspace may set. */
  readonly project: readonly string[];
  /** What holds for every program of a conversation, by the keys that say so. */
  readonly programs: Readonly<Partial<Record<"network" | "read", string>>>;
  /** Kind of what clients offer to the key that takes it. */
  readonly offered: Readonly<Record<string, string>>;
}

export const PROMPT_PLACE = "\u0000";

/** What of a described extension depends on the conversation, in a module that is quick to load. */
export interface LiveParts {
  activate(env: EnvironmentView): boolean | Promise<boolean>;
  prompt(env: EnvironmentView): string | Promise<string>;
}

/** Name of a shipped extension to its description; null for one that depends on the conversation in other ways. */
export type DescribedIndex = Readonly<Record<string, ExtensionDescription | null>>;
/** Name of a described extension to the module of its settings. */
export type SettingsIndex = Readonly<Record<string, () => Promise<{ readonly default: z.ZodType }>>>;
/** Name of a described extension to the module of its live parts. */
export type LiveIndex = Readonly<Record<string, () => Promise<{ readonly default: LiveParts }>>>;
