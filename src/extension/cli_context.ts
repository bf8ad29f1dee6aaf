import type { OwnStore } from "./own_store.ts";
import type { Spawn } from "./spawned.ts";

/** What a command of an extension gets. */
export interface CliContext {
  print(text: string): void;
  /** Asks for a line. Rejects where nobody can be asked, and if the user cancels. */
  ask(question: string): Promise<string>;
  readonly workspace: string;
  readonly home: string | null;
  readonly config: unknown;
  /** The state that the extension keeps for all conversations, or for those of this workspace. */
  readonly store: OwnStore;
  /** Runs a program in the workspace, behind the kernel wall as in a conversation. It ends with the command. Absent in
   * tests. */
  readonly spawn?: Spawn;
}
