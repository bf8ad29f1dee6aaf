import type { z } from "zod";
import type { ActiveExtensions } from "./registry.ts";
import type { EnvironmentView } from "../spec.ts";

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
