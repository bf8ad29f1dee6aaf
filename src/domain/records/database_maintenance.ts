import type { Frozen } from "../kit/json.ts";
import { z } from "zod";

const count = z.number().int().min(0);
const rows = { rows: count, bytes: count };
const conversation = { conversationId: z.string(), title: z.string(), queries: count };

export const BackupSchema = z.object({ path: z.string(), bytes: count, schemaVersion: count, ms: z.number() });

export type BackupReport = Frozen<z.infer<typeof BackupSchema>>;

export const RestoreSchema = BackupSchema.extend({
  keptAs: z.string().nullable(),
});

export type DatabaseRestoreReport = Frozen<z.infer<typeof RestoreSchema>>;

export const CheckSchema = z.object({
  problems: z.array(z.string()),
  contents: count,
  /** Unreferenced texts and values are not a fault; `prune` removes them. */
  unused: count,
  schemaVersion: count,
  ms: z.number(),
});

export type CheckReport = Frozen<z.infer<typeof CheckSchema>>;

export const StatsSchema = z.object({
  path: z.string(),
  fileBytes: count,
  walBytes: count,
  freeBytes: count,
  schemaVersion: count,
  sqliteVersion: z.string(),
  tables: z.array(z.object({ table: z.string(), ...rows })),
  content: z.array(z.object({ encoding: z.string(), ...rows })),
  /** The conversation with the most iterations and versions comes first. `bytes` counts a text or value once, even if
   * several rows of the conversation refer to it. */
  conversations: z.array(z.object({ ...conversation, iterations: count, versions: count, bytes: count })),
});

export type DatabaseStats = Frozen<z.infer<typeof StatsSchema>>;

export const PruneSchema = z.object({
  dryRun: z.boolean(),
  /** These conversations have no activity since the given time; the oldest comes first. */
  conversations: z.array(
    z.object({ ...conversation, lastActivity: z.number().int().describe("Time in milliseconds since the epoch") }),
  ),
  logRows: count,
  contents: count,
  contentBytes: count,
  /** If another process has the database open, this is false, and content that is less than a day old stays. */
  everything: z.boolean(),
});

export type PruneReport = Frozen<z.infer<typeof PruneSchema>>;

export const VacuumSchema = z.object({ bytesBefore: count, bytesAfter: count, ms: z.number() });

export type VacuumReport = Frozen<z.infer<typeof VacuumSchema>>;

/** Methods reject with `UsageError` for an unusable path, and with `StoreError` if Vis cannot use the database. */
export interface DatabaseMaintenance {
  readonly location: string;
  /** Copies the database in its current state, even while other processes write. Rejects if the target exists. */
  backup(target: string): Promise<BackupReport>;
  /** Replaces the database with a backup, and keeps the old file in the same folder. Rejects while another process uses
   * the database. */
  restore(source: string): Promise<DatabaseRestoreReport>;
  check(): Promise<CheckReport>;
  stats(): Promise<DatabaseStats>;
  /** Deletes conversations without activity since `before`, old log rows, and unreferenced content. Keeps a
   * conversation whose query a live process may still run. With `dryRun`, deletes nothing. */
  prune(options: { readonly before: number; readonly dryRun: boolean }): Promise<PruneReport>;
  /** Returns unused pages to the disk. Rejects while another process uses the database. */
  vacuum(): Promise<VacuumReport>;
}

export interface DatabaseCopyRequest {
  readonly from: string;
  readonly to: string;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: DatabaseCopyProgress) => void;
}

export interface DatabaseCopyProgress {
  readonly step: "copying" | "verifying";
  readonly rows: number;
  readonly of: number;
}

export interface DatabaseCopyReport {
  readonly from: string;
  readonly to: string;
  /** Vis has compared this number of rows with their source. */
  readonly rows: number;
  readonly ms: number;
}
