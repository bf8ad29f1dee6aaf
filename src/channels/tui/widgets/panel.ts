import type { Component } from "@earendil-works/pi-tui";
import type { Conversation as Branch } from "../../../conversation/conversations.ts";
import type { BranchPoint } from "../../../domain/records/conversations.ts";
import type { ConfigAdmin, ProviderAdmin, Session } from "../../channel.ts";
import type { Theme } from "../text/theme.ts";

/** A view over the messages until it is closed. It has the keyboard while it is open; Esc closes it. */
export interface Panel extends Component {
  /** Shown in its top border. */
  readonly title: string;
  /** Shown in its bottom border: the keys it handles. */
  readonly hint: string;
  /** Most rows it needs, without its borders. */
  readonly rows: number;
  /** Sets the number of rows, without borders. Called before every `render`, which then returns no more lines. */
  fit(rows: number): void;
  /** The panel was closed: pending results are dropped. */
  left(): void;
  handleInput(data: string): void;
  /** The mouse was pressed, or clicked, on the row this far above its last one. False if that row is text for the mouse
   * to select. */
  press?(fromLast: number, clicked: boolean): boolean;
}

/** What a panel may do to its screen. None of these throws: errors are reported by `tell`. */
export interface PanelActions {
  /** Redraws: a pending result has arrived. */
  redraw(): void;
  /** Closes the open panel. */
  close(): void;
  /** Replaces the open panel. */
  open(panel: Panel): void;
  /** Shows a line above the input until the next key. */
  tell(text: string): void;
  /** Shows another conversation; with null a new one. */
  show(branch: Branch | null): Promise<void>;
  /** Makes and shows a branch that continues after this point of the current one. */
  fork(at: BranchPoint): Promise<void>;
  /** Applies to the following queries and is saved in the user's configuration. */
  useModel(model: { readonly provider: string; readonly name: string }): Promise<void>;
  copy(text: string): void;
  /** Undoes what the last request changed in files. */
  undo(): Promise<void>;
  /** Writes the conversation to a file; "" chooses a name. */
  export(name: string): Promise<void>;
  quit(): void;
}

/** Dependencies of every panel. */
export interface PanelParts {
  /** The open session; replaced after `useModel`. */
  session(): Session;
  /** The branch on the screen; null for a new conversation without a request. */
  branch(): Branch | null;
  providers(): Promise<ProviderAdmin>;
  config(): Promise<ConfigAdmin>;
  readonly act: PanelActions;
  /** Colours; only weights if omitted. */
  readonly theme?: () => PanelTheme;
}

export type PanelTheme = Pick<Theme, "accent" | "ok" | "bad">;
