import type { Component } from "@earendil-works/pi-tui";
import type { Conversation as Branch } from "../../../conversation/conversations.ts";
import type { BranchPoint } from "../../../domain/records/new_fork.ts";
import type { ConfigAdmin, ProviderAdmin, Session } from "../../channel.ts";
import type { Theme } from "../text/theme.ts";

/** What stands over the messages until it is left. It has the keyboard while it is open, Esc leaves it. */
export interface Panel extends Component {
  /** In its top border. */
  readonly title: string;
  /** In its bottom border: the keys it knows. */
  readonly hint: string;
  /** Most rows it wants, its borders not counted. */
  readonly rows: number;
  /** How many rows there are, borders not counted: told before every `render`, which then gives no more lines. */
  fit(rows: number): void;
  /** It no longer stands on the screen: answers that it waits for are for nobody. */
  left(): void;
  handleInput(data: string): void;
  /** The mouse went down, or was clicked, on the row that stands so far above its last one. False where that is a text
   * which the mouse selects. */
  press?(fromLast: number, clicked: boolean): boolean;
}

/** What a panel may do to the screen that it stands on. Nothing here throws: what cannot be done is told by `tell`. */
export interface PanelActions {
  /** Draws again: what a panel waited for is there. */
  redraw(): void;
  /** Leaves the panel that is open. */
  close(): void;
  /** In place of the one that is open. */
  open(panel: Panel): void;
  /** A line above the input, until the next key. */
  tell(text: string): void;
  /** Shows another conversation, or a new one where null. */
  show(branch: Branch | null): Promise<void>;
  /** A branch that goes on after this point of the one on the screen, and shows it. */
  fork(at: BranchPoint): Promise<void>;
  /** For the queries that follow, kept in the user's own configuration as well. */
  useModel(model: { readonly provider: string; readonly name: string }): Promise<void>;
  copy(text: string): void;
  quit(): void;
}

/** What every panel is given. */
export interface PanelParts {
  /** The open session; another one after `useModel`. */
  session(): Session;
  /** What is on the screen; null while it is a new conversation without a request. */
  branch(): Branch | null;
  providers(): Promise<ProviderAdmin>;
  config(): Promise<ConfigAdmin>;
  readonly act: PanelActions;
  /** Colours; weights alone where it is left out. */
  readonly theme?: () => PanelTheme;
}

export type PanelTheme = Pick<Theme, "accent" | "ok" | "bad">;
