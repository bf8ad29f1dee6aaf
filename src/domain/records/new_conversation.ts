/** A chat outside Vis, identified by its id within its channel. */
export interface ExternalChat {
  readonly channel: string;
  readonly externalId: string;
}

/** What is known about a conversation when it is created. */
export interface NewConversation {
  readonly title: string;
  /** The title is a placeholder until the first request provides one. */
  readonly untitled?: boolean;
  readonly channel: string;
  /** Real path. */
  readonly workspace: string;
  /** The id of its chat, if its channel has chats. */
  readonly externalId?: string;
}
