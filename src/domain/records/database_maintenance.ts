export interface BackupReport {
  readonly path: string;
  readonly bytes: number;
  readonly schemaVersion: number;
  readonly ms: number;
}

export interface DatabaseRestoreReport extends BackupReport {
  /** Where the database that stood there before is now; null where there was none. */
  readonly keptAs: string | null;
}

export interface CheckReport {
  /** In words; empty when everything holds. */
  readonly problems: readonly string[];
  /** How many stored texts and values were read and compared with their hashes. */
  readonly contents: number;
  /** Stored texts and values that nothing refers to: no fault, `prune` removes them. */
  readonly unused: number;
  readonly schemaVersion: number;
  readonly ms: number;
}

export interface DatabaseStats {
  readonly path: string;
  readonly fileBytes: number;
  /** Of the write-ahead log beside it. */
  readonly walBytes: number;
  /** Of pages that hold nothing; `vacuum` gives them back. */
  readonly freeBytes: number;
  readonly schemaVersion: number;
  readonly sqliteVersion: string;
  /** The largest first; indices count to their table. */
  readonly tables: readonly { readonly table: string; readonly rows: number; readonly bytes: number }[];
  /** Long texts and values by how they are stored. */
  readonly content: readonly { readonly encoding: string; readonly rows: number; readonly bytes: number }[];
  /** Those with the most rows first. `bytes`: of texts and values that their rows name, each once. */
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
  /** True where nothing was changed. */
  readonly dryRun: boolean;
  /** Without activity since the time that was named, the oldest first. */
  readonly conversations: readonly {
    readonly conversationId: string;
    readonly title: string;
    readonly queries: number;
    /** Milliseconds since the epoch. */
    readonly lastActivity: number;
  }[];
  readonly logRows: number;
  /** Of texts and values that nothing refers to any more; 0 in a dry run. */
  readonly contents: number;
  readonly contentBytes: number;
  /** What another process may be about to use is kept for a day. */
  readonly everything: boolean;
}

export interface VacuumReport {
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  readonly ms: number;
}

/** What keeps a database well. Every method rejects with `UsageError` for a path that cannot be used so and with
 * `StoreError`; the database is then as it was. */
export interface DatabaseMaintenance {
  readonly location: string;
  /** Copies it as it is at this moment, also while others write. The target must not exist. */
  backup(target: string): Promise<BackupReport>;
  /** Puts a backup in its place and keeps the old file beside it. Refused while any process uses the database. */
  restore(source: string): Promise<DatabaseRestoreReport>;
  /** Structure, foreign keys, indices, hashes of all content, references that lead nowhere. */
  check(): Promise<CheckReport>;
  stats(): Promise<DatabaseStats>;
  /** Deletes conversations without activity since `before` and the content that nothing refers to any more. One in which
   * a query runs stays. */
  prune(options: { readonly before: number; readonly dryRun: boolean }): Promise<PruneReport>;
  /** Gives unused pages back to the disk. Refused while any process uses the database. */
  vacuum(): Promise<VacuumReport>;
}
