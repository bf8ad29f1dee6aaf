import type { IsAlive } from "./queries/leases.ts";
import type { OpenFiles } from "./sqlite/open_files.ts";

/** What a store needs besides its database. */
export interface StoreOptions {
  /** The location of the database: a path or ":memory:". */
  readonly location: string;
  /** The database files, if any. */
  readonly files?: OpenFiles | null;
  readonly now: () => number;
  /** How long to wait for another writing process. */
  readonly busyMs: number;
  readonly isAlive: IsAlive;
}
