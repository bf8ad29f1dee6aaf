/** A chat elsewhere: its id among those of its channel. */
export interface ExternalChat {
  readonly channel: string;
  readonly externalId: string;
}

/** What is known about a conversation when it is made. */
export interface NewConversation {
  readonly title: string;
  /** The title stands until the first request gives one. */
  readonly untitled?: boolean;
  readonly channel: string;
  /** Real path. */
  readonly workspace: string;
  /** Of the chat that it belongs to, where its channel has such. */
  readonly externalId?: string;
}
