import type { ConversationMaintenance } from "../../domain/records/conversations.ts";
import type { StateStore } from "../../domain/records/extension_state.ts";
import type { Archive, LogEntry } from "../../domain/records/history.ts";
import type { ChildStore } from "./child_store.ts";
import type { ConversationStore } from "./conversation_store.ts";
import type { IterationStore } from "./iteration_store.ts";
import type { LargeTextStore } from "./large_text_store.ts";
import type { NodeStore } from "./node_store.ts";
import type { QueryStore } from "./query_store.ts";
import type { VariableStore } from "./variable_store.ts";

/** All of Vis's memory. Every method may reject with `StoreError`, and then has written nothing. A query's writes are
 * refused with `TakenOverError` once another process has ended that query as lost. `app.ts` owns the store and closes
 * it last. Blocks and variables are read back exactly as written; in other texts a lone surrogate comes back as
 * U+FFFD. */
export interface Store
  extends
    ConversationStore,
    ConversationMaintenance,
    QueryStore,
    IterationStore,
    VariableStore,
    ChildStore,
    LargeTextStore,
    Archive {
  /** The location of the database: a path or ":memory:". */
  readonly location: string;
  /** Whose rows it shows, as if there were no others; null for those of all tenants. What is created is the tenant's,
   * or the default one's. Only the sum of what labels used, leases and the log concern every tenant. */
  readonly tenant: string | null;
  /** The same store as another tenant sees it. */
  of(tenant: string | null): Store;
  /** The state that extensions keep. */
  readonly states: StateStore;
  /** Makes this process one of the nodes that share the database; null for a database that one machine has. */
  readonly asNode: ((id: string) => Promise<NodeStore>) | null;
  /** Quick structural check of the file, or of the rights of the role in PostgreSQL. Returns descriptions of the
   * problems, or an empty list. */
  check(): Promise<readonly string[]>;
  /** What happened to the files since they were opened, and what to do about it; "" while writes still reach them. */
  fileFault(): string;
  /** Why nothing can be stored now; "" if it can. A server is asked to store something, and has some seconds for it. */
  writeFault(): Promise<string>;
  /** Adds entries to the log table in one transaction. Never rejects. */
  log(...entries: readonly LogEntry[]): Promise<void>;
  close(): Promise<void>;
}
