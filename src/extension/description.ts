import type { ActiveExtensions } from "./registry.ts";

/** What a shipped extension that is always active gives a query, written down when the program is built, so that a
 * query can begin before any extension is loaded. */
export interface ExtensionDescription {
  readonly namespace: string;
  readonly version: string;
  /** "fs.readFile" */
  readonly functions: readonly string[];
  readonly constants: Readonly<Record<string, unknown>>;
  readonly grants: ActiveExtensions["grants"];
  /** Platform globals that it asks for. */
  readonly globals: readonly string[];
  readonly block: string;
  /** Name of a symbol, or of the alias, to what `doc()` says of it. */
  readonly docs: Readonly<Record<string, string>>;
}

/** Name of a shipped extension to its description; null for one whose prompt or activity depends on the conversation. */
export type DescribedIndex = Readonly<Record<string, ExtensionDescription | null>>;
