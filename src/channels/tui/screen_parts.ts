import type { Terminal } from "@earendil-works/pi-tui";
import type { Conversation as Branch } from "../../conversation/conversations.ts";
import type { ConfigAdmin, OpenRequest, ProviderAdmin, Session } from "../channel.ts";
import type { PrefsKeeper } from "./prefs/prefs.ts";

/** What the screen is given. */
export interface ScreenParts {
  readonly terminal: Terminal;
  /** How the session was opened. */
  readonly request: OpenRequest;
  readonly open: (request: OpenRequest) => Promise<Session>;
  readonly providers: () => Promise<ProviderAdmin>;
  readonly config: () => Promise<ConfigAdmin>;
  readonly prefs: PrefsKeeper;
  /** The folder of Vis; null where the machine names none. */
  readonly home: string | null;
  /** The user's own folder, which paths are shown from. */
  readonly userHome: string;
  /** Whether colours are wanted. */
  readonly color: boolean;
}

/** Where the screen begins. */
export interface ScreenStart {
  /** The conversation to go on with; null for a new one. */
  readonly branch: Branch | null;
  /** What the user should know first. */
  readonly notes: readonly string[];
}
