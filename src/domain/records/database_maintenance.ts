export interface BackupReport {
  readonly path: string;
  readonly bytes: number;
  readonly schemaVersion: number;
  readonly ms: number;
}

export interface DatabaseRestoreReport extends BackupReport {
  /** Path to which the previous database was moved; null if there was none. */
  readonly keptAs: string | null;
}

export interface CheckReport {
  /** As text; empty if the database is sound. */
  readonly problems: readonly string[];
  /** How many stored texts and values were read and checked against their hashes. */
  readonly contents: number;
  /** Stored texts and values that nothing refers to. Not a fault; `prune` removes them. */
  readonly unused: number;
  readonly schemaVersion: number;
  readonly ms: number;
}

export interface DatabaseStats {
  readonly path: string;
  readonly fileBytes: number;
  /** Size of the write-ahead log beside it. */
  readonly walBytes: number;
  /** Size of empty pages; `vacuum` returns them. */
  readonly freeBytes: number;
  readonly schemaVersion: number;
  readonly sqliteVersion: string;
  /** Largest first; indices are included in their table. */
  readonly tables: readonly { readonly table: string; readonly rows: number; readonly bytes: number }[];
  /** Long texts and values, by their encoding. */
  readonly content: readonly { readonly encoding: string; readonly rows: number; readonly bytes: number }[];
  /** Most rows first. `bytes`: texts and values that their rows refer to, each counted once. */
  readonly conversations: readonly {
    readonly conversationId: string;
    readonly title: string;
    readonly queries: number;
    readonly iterations: number;
    readonly versions: number;
    readonly bytes: number;
  }[];
}

export interface PruneReport {
  /** True if nothing was changed. */
  readonly dryRun: boolean;
  /** Without activity since the given time, oldest first. */
  readonly conversations: readonly {
    readonly conversationId: string;
    readonly title: string;
    readonly queries: number;
    /** Milliseconds since the epoch. */
    readonly lastActivity: number;
  }[];
  readonly logRows: number;
  /** Texts and values that nothing refers to any more; 0 in a dry run. */
  readonly contents: number;
  readonly contentBytes: number;
  /** False while another process has the database open: then only content that is at least a day old is removed. */
  readonly everything: boolean;
}

export interface VacuumReport {
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  readonly ms: number;
}

/** Database maintenance. Every method rejects with `UsageError` for an unusable path and with `StoreError`; the
 * database is then unchanged. */
export interface DatabaseMaintenance {
  readonly location: string;
  /** Copies it in its current state, even while others write. The target must not exist. */
  backup(target: string): Promise<BackupReport>;
  /** Replaces the database with a backup and keeps the old file beside it. Refused while any process uses the database. */
  restore(source: string): Promise<DatabaseRestoreReport>;
  /** Checks structure, foreign keys, indices, hashes of all content, and dangling references. */
  check(): Promise<CheckReport>;
  stats(): Promise<DatabaseStats>;
  /** Deletes conversations without activity since `before`, and content that nothing refers to any more. A conversation
   * with a running query is kept. */
  prune(options: { readonly before: number; readonly dryRun: boolean }): Promise<PruneReport>;
  /** Returns unused pages to the disk. Refused while any process uses the database. */
  vacuum(): Promise<VacuumReport>;
}
