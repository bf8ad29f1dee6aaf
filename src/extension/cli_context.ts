import type { OwnStore } from "./own_store.ts";

/** What a command of an extension gets. */
export interface CliContext {
  print(text: string): void;
  readonly workspace: string;
  readonly home: string | null;
  readonly config: unknown;
  /** The state that the extension keeps for all conversations, or for those of this workspace. */
  readonly store: OwnStore;
}
