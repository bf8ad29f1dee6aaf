/** The choices of a chat. */
export interface ChatSettings {
  /** The current conversation; null for the chat's first one. */
  readonly branchId: string | null;
  /** Overrides the configured model. */
  readonly model: string | null;
}
