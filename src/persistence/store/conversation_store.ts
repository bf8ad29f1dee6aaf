import type {
  ConversationFilter,
  ConversationSummary,
  ExternalChat,
  NewConversation,
  NewFork,
} from "../../domain/records/conversations.ts";

/** One branch of a conversation: a row of `conversation_state`. */
export interface Branch {
  readonly conversationId: string;
  readonly branchId: string;
  /** Whose conversation it is. */
  readonly tenant: string;
  readonly title: string;
  /** Real path of the workspace that the conversation belongs to. */
  readonly workspace: string;
  readonly createdAt: number;
}

/** A branch within the tree of its conversation. */
export interface BranchNode extends Branch {
  readonly parentBranchId: string | null;
  /** Null for the first branch. */
  readonly fork: { readonly queryId: string; readonly position: number } | null;
  /** Number of its own queries, without those of its ancestors. */
  readonly queries: number;
}

/** Conversations and their branches. */
export interface ConversationStore {
  createConversation(facts: NewConversation): Promise<Branch>;
  /** The newest branch of the conversation with this id, the branch with this id, or null. A unique prefix of at least
   * 8 characters is enough. */
  findConversation(conversationId: string): Promise<Branch | null>;
  /** The newest branch of a chat's conversation, or null. */
  findExternal(chat: ExternalChat): Promise<Branch | null>;
  /** The same, but creates the conversation if there is none. Concurrent calls get the same one. */
  ensureConversation(facts: NewConversation & ExternalChat): Promise<Branch>;
  /** The conversation of this workspace that has the newest query, or null. */
  latestConversation(workspace: string): Promise<Branch | null>;
  listConversations(options: ConversationFilter): Promise<readonly (Branch & ConversationSummary)[]>;
  /** Creates a branch that continues from a point of another one: it sees the queries up to that point and the
   * variables as they were then. Copies nothing; both branches stay readable and are independent. Throws `UsageError`
   * if the point does not exist or is still running. */
  fork(fork: NewFork): Promise<Branch>;
  /** All branches of a conversation, oldest first, without those of child queries. */
  branches(conversationId: string): Promise<readonly BranchNode[]>;
}
