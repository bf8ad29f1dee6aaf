import type { Terminal } from "@earendil-works/pi-tui";
import type { Conversation as Branch } from "../../conversation/conversations.ts";
import type { ExtensionAdmin } from "../../domain/reports.ts";
import type { ConfigAdmin, OpenRequest, ProviderAdmin, Session } from "../channel.ts";
import type { PrefsKeeper } from "./prefs/prefs.ts";
import type { RunCommand } from "./user_commands.ts";

/** Dependencies of the screen. */
export interface ScreenParts {
  readonly terminal: Terminal;
  /** Options with which the session was opened. */
  readonly request: OpenRequest;
  readonly open: (request: OpenRequest) => Promise<Session>;
  readonly providers: () => Promise<ProviderAdmin>;
  readonly config: () => Promise<ConfigAdmin>;
  readonly extensions: () => Promise<Pick<ExtensionAdmin, "run">>;
  readonly runCommand: RunCommand;
  readonly prefs: PrefsKeeper;
  /** The folder of Vis; null if the machine has no home folder. */
  readonly home: string | null;
  /** The user's home folder, for shortening paths. */
  readonly userHome: string;
  /** Whether to use colours. */
  readonly color: boolean;
}

/** What the screen shows first. */
export interface ScreenStart {
  /** The conversation to continue; null for a new one. */
  readonly branch: Branch | null;
  /** Notes that the user should see first. */
  readonly notes: readonly string[];
}
