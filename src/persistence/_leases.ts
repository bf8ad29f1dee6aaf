import { BusyError } from "../domain/errors.ts";
import { compiledRows } from "./_compiled_rows.ts";
import type { Database } from "./_database.ts";
import { insertRow } from "./_insert_row.ts";
import type { Schema } from "./_schema.ts";
import type { ProcessOwner } from "./store.ts";

/** True, false, or null where this machine cannot tell. */
export type IsAlive = (owner: ProcessOwner) => boolean | null;

/** Four heartbeats of a process that nobody here can look at. */
const STALE_MS = 120_000;

type Lease = Schema["lease"];

/** Takes a branch for a process, in the transaction that begins a query. Throws `BusyError` while another living process
 * has it. `endLeft` is called before with the owner of what was left running on it: a process that is gone, or this one,
 * which could not store the end. */
export async function takeLease(
  tx: Database,
  { branchId, owner, isAlive, now, endLeft }: {
    readonly branchId: string;
    readonly owner: ProcessOwner;
    readonly isAlive: IsAlive;
    readonly now: number;
    readonly endLeft: (left: { readonly owner: ProcessOwner; readonly gone: boolean }) => Promise<void>;
  },
): Promise<void> {
  const known = await leaseOf(tx, branchId);
  if (known) {
    const gone = !isSame(known, owner);
    if (gone && holds(known, { isAlive, now })) {
      throw new BusyError(`Conversation is busy: process ${known.pid} on ${known.host} works on it`);
    }
    await endLeft({ owner: known, gone });
    await dropLease(tx, branchId);
  }
  const { host, pid, started } = owner;
  await insertRow(tx, "lease", {
    conversationStateId: branchId,
    host,
    pid,
    started,
    acquiredAt: now,
    heartbeatAt: now,
  });
}

export async function dropLease(tx: Database, branchId: string): Promise<void> {
  await compiledRows(tx, {
    name: "drop a lease",
    build: () => tx.deleteFrom("lease").where("conversationStateId", "=", branchId),
    parameters: [branchId],
  });
}

/** Says that a process still lives to those that cannot look for themselves. */
export async function renewLeases(
  db: Database,
  { owner, now }: { readonly owner: ProcessOwner; readonly now: number },
): Promise<void> {
  await db.updateTable("lease").set({ heartbeatAt: now })
    .where("host", "=", owner.host).where("pid", "=", owner.pid).where("started", "=", owner.started).execute();
}

/** Whether the process that began a query on this branch is gone. */
export async function isLost(
  db: Database,
  { branchId, owner, isAlive, now }: {
    readonly branchId: string;
    readonly owner: ProcessOwner | undefined;
    readonly isAlive: IsAlive;
    readonly now: number;
  },
): Promise<boolean> {
  if (owner === undefined) return true;
  const alive = isAlive(owner);
  if (alive !== null) return !alive;
  const lease = await leaseOf(db, branchId);
  return !lease || !isSame(lease, owner) || !holds(lease, { isAlive, now });
}

async function leaseOf(db: Database, branchId: string): Promise<Lease | undefined> {
  const [row] = await compiledRows(db, {
    name: "lease of a branch",
    build: () => db.selectFrom("lease").selectAll().where("conversationStateId", "=", branchId),
    parameters: [branchId],
  });
  return row;
}

function holds(lease: Lease, { isAlive, now }: { readonly isAlive: IsAlive; readonly now: number }): boolean {
  return isAlive(lease) ?? now - lease.heartbeatAt < STALE_MS;
}

function isSame(lease: ProcessOwner, owner: ProcessOwner): boolean {
  return lease.host === owner.host && lease.pid === owner.pid && lease.started === owner.started;
}
