import { sql } from "kysely";
import { BusyError, TakenOverError } from "../domain/errors.ts";
import { addUsage, type ModelTrace, NO_USAGE } from "../domain/query/model_call.ts";
import type { QueryEnd, Usage } from "../domain/query/query_schemas.ts";
import type { SteeredMessage, StoredApproval } from "../domain/query/stored_query.ts";
import { queriesIn } from "./branches.ts";
import { Content } from "./long_values.ts";
import {
  Damage,
  type Database,
  fromJson,
  type HeldRun,
  insertRow,
  namedChange,
  namedQuery,
  toJson,
  updateRow,
} from "./database.ts";
import type { ProcessOwner } from "./store.ts";
import type { DatabaseSchema } from "./tables.ts";

type Row = HeldRun & Pick<DatabaseSchema["queryState"], "status" | "metadata">;

/** A process that takes a branch over ends the run of the branch as lost, so the row of the run shows whether the
 * former process may still write. */
export async function checkFence(db: Database, { status, metadata, ...run }: Row): Promise<void> {
  db.checkHolder(run);
  if (status === "running") return;
  const content = new Content(db);
  await content.load([metadata]);
  const { reason } = fromJson<QueryMetadata>(metadata === null ? null : content.text(metadata));
  if (reason === "process_lost") throw new TakenOverError(run.id);
}

const runToWrite = namedQuery((db, { queryId }: { readonly queryId: string }) =>
  db.selectFrom("queryState as s").innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .select(["s.id", "s.status", "s.metadata", "q.conversationStateId as branchId"]).where("s.id", "=", queryId)
    .select([db.dialect.holderOf("s.id", false).as("holder"), db.dialect.versionOf("s").as("version")])
);

/** The caller must run this function in `Database.writeRun`. */
export async function runningRun(
  tx: Database,
  queryId: string,
): Promise<{ readonly branchId: string; readonly metadata: string | null }> {
  const [row] = await runToWrite(tx, { queryId });
  if (!row) throw new Error(`Cannot change request ${queryId}: no request has this id`);
  await checkFence(tx, row);
  if (row.status !== "running") throw new Error(`Cannot change request ${queryId}: it has ended`);
  return row;
}

/** Allows a write after the end of the run, but rejects with `TakenOverError` if another process ended the run as
 * lost. */
export async function checkRun(
  tx: Database,
  { queryId, iterationId }: { readonly queryId?: string | null; readonly iterationId?: string | null },
): Promise<void> {
  if (!queryId && !iterationId) return;
  const runs = tx.selectFrom("queryState as s").select(["s.id", "s.status", "s.metadata"])
    .select(tx.dialect.holderOf("s.id").as("holder")).forShare("s");
  const row =
    await (iterationId
      ? runs.innerJoin("iteration as i", "i.queryStateId", "s.id").where("i.id", "=", iterationId)
      : runs.where("s.id", "=", queryId ?? "")).executeTakeFirst();
  if (row) await checkFence(tx, row);
}

export type IsAlive = (owner: ProcessOwner) => boolean | null;

/** The limit is four times the interval of the renewals. */
const STALE_MS = 120_000;

const OWNER = ["host", "space", "pid", "started", "session"] as const;

/** Rejects with `BusyError` while another live process holds the branch. `endLeft` must end the queries of the former
 * holder. */
export async function takeLease(
  tx: Database,
  { branchId, owner, holder, isAlive, now, endLeft }: {
    readonly branchId: string;
    readonly owner: ProcessOwner;
    readonly holder: ProcessOwner | null;
    readonly isAlive: IsAlive;
    readonly now: number;
    readonly endLeft: (left: { readonly owner: ProcessOwner; readonly gone: boolean }) => Promise<void>;
  },
): Promise<boolean> {
  if (holder) {
    const gone = !isSame(holder, owner);
    if (gone && await tx.dialect.hasRunningJob(tx, branchId)) {
      throw new BusyError(
        "Cannot start the request: another request of this conversation runs on one of the nodes; wait until it ends, " +
          "or cancel it",
      );
    }
    if (gone && await isAliveNow(tx, { owner: holder, isAlive, now })) {
      throw heldByOther(holder);
    }
    await endLeft({ owner: holder, gone });
    await dropLease(tx, branchId);
  }
  await putLease(tx, { branchId, owner, now });
  return holder !== null;
}

export function heldByOther({ pid, host }: ProcessOwner): BusyError {
  return new BusyError(
    `Cannot start the request: another process (${pid} on ${host}) runs another request in this ` +
      "conversation; wait until that request ends, or cancel it",
  );
}

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

export async function dropLease(tx: Database, branchId: string): Promise<void> {
  await deleteLease(tx, { branchId });
}

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

/** A heartbeat far in the future does not count, because a clock was wrong. */
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

export interface QueryMetadata extends Omit<QueryEnd, "status"> {
  readonly byModel: Readonly<Record<string, Usage>>;
  readonly steered: readonly SteeredMessage[];
  readonly approval: StoredApproval;
  readonly waiting: readonly string[];
}

export async function changeQueryMetadata(
  db: Database,
  { queryId, change, cell }: {
    readonly queryId: string;
    readonly cell: string | null;
    readonly change: (before: Partial<QueryMetadata>) => Partial<QueryMetadata>;
  },
): Promise<void> {
  const content = new Content(db);
  await content.load([cell]);
  const before = fromJson<QueryMetadata>(cell === null ? null : content.text(cell));
  const metadata = await content.putText(toJson({ ...before, ...change(before) }));
  if (metadata !== cell) {
    await updateRow(db, "queryState", { id: queryId, changes: { metadata } });
  }
}

export function addTraces(
  byModel: Readonly<Record<string, Usage>>,
  traces: readonly ModelTrace[],
): Readonly<Record<string, Usage>> {
  const sums = new Map(Object.entries(byModel));
  for (const { provider, model, usage } of traces) {
    if (usage) sums.set(`${provider}/${model}`, addUsage(sums.get(`${provider}/${model}`) ?? NO_USAGE, usage));
  }
  return Object.fromEntries(sums);
}

export async function newestRun(db: Database, branchId: string): Promise<{ readonly id: string } | null> {
  const number = await queriesIn(db, { branchId, until: null }) - 1;
  if (number < 0) return null;
  const [run] = await runOfQuery(db, { branchId, number });
  if (!run) throw new Damage(`request ${number + 1} of branch ${branchId} is missing`);
  return run;
}

const runOfQuery = namedQuery((db, { branchId, number }: { readonly branchId: string; readonly number: number }) =>
  db.selectFrom("querySoul as q").innerJoin("queryState as s", "s.querySoulId", "q.id").select("s.id")
    .where("q.conversationStateId", "=", branchId).where("q.number", "=", number)
    .where("s.version", "=", sql<number>`q.runs - 1`)
);

type Found = Pick<DatabaseSchema["iteration"], "id" | "status" | "metadata" | "position">;

const newestOf = namedQuery((db, { queryId }: { readonly queryId: string }) =>
  db.selectFrom("iteration as i").select(["i.id", "i.status", "i.metadata", "i.position"])
    .where("i.queryStateId", "=", queryId).orderBy("i.position", "desc").limit(1)
);

export async function lastIteration(db: Database, queryId: string): Promise<Found | null> {
  return (await newestOf(db, { queryId }))[0] ?? null;
}

const THINKINGS = 2;

interface Wanted {
  readonly queryId: string;
  readonly until: number;
}

const thinkingsBefore = namedQuery((db, { queryId, until }: Wanted) =>
  db.selectFrom("iteration as i").select("i.llmThinking").where("i.queryStateId", "=", queryId)
    .where("i.position", "<", until).where("i.llmThinking", "<>", "").orderBy("i.position", "desc").limit(THINKINGS)
);

export async function newestThinkings(content: Content, { queryId, until }: Wanted): Promise<string[]> {
  const rows = await thinkingsBefore(content.db, { queryId, until });
  const cells = rows.map(({ llmThinking }) => llmThinking ?? "").reverse();
  await content.load(cells);
  return cells.map((cell) => content.text(cell));
}
