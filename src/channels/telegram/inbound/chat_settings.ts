/** What a chat has chosen. */
export interface ChatSettings {
  /** Of the conversation that goes on, null for the first one of the chat. */
  readonly branchId: string | null;
  /** In place of the configured one. */
  readonly model: string | null;
}
