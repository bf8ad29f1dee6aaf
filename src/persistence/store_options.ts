import type { IsAlive } from "./queries/leases.ts";
import type { OpenFiles } from "./sqlite/open_files.ts";

/** What a store needs besides its database. */
export interface StoreOptions {
  /** Of the database: a path or ":memory:". */
  readonly location: string;
  /** Its files, where it has any. */
  readonly files?: OpenFiles | null;
  readonly now: () => number;
  /** How long it waits for another process that writes. */
  readonly busyMs: number;
  readonly isAlive: IsAlive;
}
