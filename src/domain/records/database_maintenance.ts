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
  /** Unreferenced texts and values are not a fault: `prune` removes them. */
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
  conversations: z.array(z.object({ ...conversation, iterations: count, versions: count, bytes: count })),
});

export type DatabaseStats = Frozen<z.infer<typeof StatsSchema>>;

export const PruneSchema = z.object({
  dryRun: z.boolean(),
  conversations: z.array(
    z.object({ ...conversation, lastActivity: z.number().int().describe("Time in milliseconds since the epoch") }),
  ),
  logRows: count,
  contents: count,
  contentBytes: count,
  /** If another process has the database open, `everything` is false, and content that is less than a day old stays. */
  everything: z.boolean(),
});

export type PruneReport = Frozen<z.infer<typeof PruneSchema>>;

export const VacuumSchema = z.object({ bytesBefore: count, bytesAfter: count, ms: z.number() });

export type VacuumReport = Frozen<z.infer<typeof VacuumSchema>>;

export interface DatabaseMaintenance {
  readonly location: string;
  /** Rejects if the target exists. */
  backup(target: string): Promise<BackupReport>;
  /** Rejects while another process uses the database. */
  restore(source: string): Promise<DatabaseRestoreReport>;
  check(): Promise<CheckReport>;
  stats(): Promise<DatabaseStats>;
  /** A conversation stays while a live process may run one of its queries. */
  prune(options: { readonly before: number; readonly dryRun: boolean }): Promise<PruneReport>;
  /** Rejects while another process uses the database. */
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
  readonly rows: number;
  readonly ms: number;
}
