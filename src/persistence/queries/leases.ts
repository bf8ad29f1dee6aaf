import { sql } from "kysely";
import { BusyError } from "../../domain/errors.ts";
import { namedChange, namedQuery } from "../database/named_query.ts";
import type { Database } from "../database/database.ts";
import { insertRow } from "../database/insert_row.ts";
import type { ProcessOwner } from "../store/query_store.ts";

/** True, false, or null if this process cannot tell. */
export type IsAlive = (owner: ProcessOwner) => boolean | null;

/** Four heartbeats of a process that cannot be checked from here. */
const STALE_MS = 120_000;

const OWNER = ["host", "space", "pid", "started", "session"] as const;

/** Leases a branch to a process, in the transaction that begins a query. Throws `BusyError` while another live process
 * holds it. First calls `endLeft` with the owner of what was left running on the branch: a process that no longer
 * exists, or this one if it could not store the end. Returns whether there was one. */
export async function takeLease(
  tx: Database,
  { branchId, owner, holder, isAlive, now, endLeft }: {
    readonly branchId: string;
    readonly owner: ProcessOwner;
    /** The process that holds it now. */
    readonly holder: ProcessOwner | null;
    readonly isAlive: IsAlive;
    readonly now: number;
    readonly endLeft: (left: { readonly owner: ProcessOwner; readonly gone: boolean }) => Promise<void>;
  },
): Promise<boolean> {
  if (holder) {
    const gone = !isSame(holder, owner);
    const isBusy = gone && (await hasJob(tx, branchId) || await isAliveNow(tx, { owner: holder, isAlive, now }));
    if (isBusy) {
      const { pid, host } = holder;
      throw new BusyError(`Conversation is busy: a query runs in it in another process (${pid} on ${host})`);
    }
    await endLeft({ owner: holder, gone });
    await dropLease(tx, branchId);
  }
  await putLease(tx, { branchId, owner, now });
  return holder !== null;
}

/** Whether a run of this branch is one that another node will continue if its own is lost. */
async function hasJob(tx: Database, branchId: string): Promise<boolean> {
  if (tx.kind !== "postgres") return false;
  const { rows } = await sql`
    SELECT FROM job j JOIN query_state s ON s.id = j.query_id
    WHERE j.conversation_state_id = ${branchId} AND s.status = 'running'`.execute(tx);
  return rows.length > 0;
}

/** Leases a branch that nobody holds any more. */
export async function putLease(
  tx: Database,
  { branchId, owner, now }: { readonly branchId: string; readonly owner: ProcessOwner; readonly now: number },
): Promise<void> {
  const { host, space, pid, started, session } = owner;
  const held = { conversationStateId: branchId, host, space, pid, started, session };
  await insertRow(tx, "lease", { ...held, acquiredAt: now, heartbeatAt: now });
}

const deleteLease = namedChange((db, { branchId }: { readonly branchId: string }) =>
  db.deleteFrom("lease").where("conversationStateId", "=", branchId)
);

/** Nobody holds the branch from now on. */
export async function dropLease(tx: Database, branchId: string): Promise<void> {
  await deleteLease(tx, { branchId });
}

/** Reports that a process is alive, for those that cannot check. Returns the branches that it holds. */
export async function renewLeases(
  db: Database,
  { owner, now }: { readonly owner: ProcessOwner; readonly now: number },
): Promise<readonly string[]> {
  const { host, space, pid, started, session } = owner;
  const held = await db.updateTable("lease").set({ heartbeatAt: now })
    .where("host", "=", host).where("space", "=", space).where("pid", "=", pid).where("started", "=", started)
    .where("session", "=", session).returning("conversationStateId as branchId").execute();
  return held.map(({ branchId }) => branchId);
}

/** Whether a process that holds leases is alive. A process that cannot be checked from here counts as alive while it
 * reports: its newest heartbeat applies to all of its leases. A heartbeat far in the future does not count either,
 * because the clock was set back after it. */
export async function isAliveNow(
  db: Database,
  { owner, isAlive, now }: { readonly owner: ProcessOwner; readonly isAlive: IsAlive; readonly now: number },
): Promise<boolean> {
  const seen = isAlive(owner);
  if (seen !== null) return seen;
  const { host, space, pid, started } = owner;
  const { newest } = await db.selectFrom("lease").select((lease) => lease.fn.max("heartbeatAt").as("newest"))
    .where("host", "=", host).where("space", "=", space).where("pid", "=", pid).where("started", "=", started)
    .executeTakeFirstOrThrow();
  return newest !== null && Math.abs(now - newest) < STALE_MS;
}

export function isSame(one: ProcessOwner, other: ProcessOwner): boolean {
  return OWNER.every((key) => one[key] === other[key]);
}

/** The process that holds a branch. */
export const holderOf = namedQuery((db, { branchId }: { readonly branchId: string }) =>
  db.selectFrom("lease").select(OWNER).where("conversationStateId", "=", branchId)
);
