import { UsageError } from "../../domain/errors.ts";
import { newId } from "../../domain/kit/ids.ts";
import type { BranchPoint, NewFork } from "../../domain/records/conversations.ts";
import { Content } from "../content/content.ts";
import type { Database } from "../database/database.ts";
import { insertRow } from "../database/insert_row.ts";
import { toJson } from "../database/json.ts";
import type { ForkPoint } from "./lineage.ts";

/** Adds a branch that continues from a point of another one; copies nothing. Returns its id. Throws `UsageError` if the
 * point does not exist or is still running. */
export function createFork(
  db: Database,
  { fork, now }: { readonly fork: NewFork; readonly now: number },
): Promise<string> {
  return db.write(async (tx) => {
    const { parentId, ...point } = await readPoint(tx, { ...fork, action: "fork at" });
    const parent = await tx.selectFrom("conversationState").select(["conversationSoulId", "title"])
      .where("id", "=", parentId).executeTakeFirstOrThrow();
    const newest = await tx.selectFrom("conversationState").select((s) => s.fn.max("version").as("version"))
      .where("conversationSoulId", "=", parent.conversationSoulId).executeTakeFirst();
    const id = newId();
    const title = fork.title === undefined ? parent.title : await new Content(tx).putText(fork.title);
    await insertRow(tx, "conversationState", {
      id,
      conversationSoulId: parent.conversationSoulId,
      parentStateId: parentId,
      title,
      version: (newest?.version ?? 0) + 1,
      metadata: toJson({ fork: point }),
      createdAt: now,
      queries: 0,
    });
    return id;
  });
}

type Point = ForkPoint & { readonly parentId: string };

/** Reads the rows of a moment. Throws `UsageError` if it does not exist or is still running; `action` names what is
 * then impossible. */
export async function readPoint(
  tx: Database,
  { queryId, position, action }: BranchPoint & { readonly action: "fork at" | "show" },
): Promise<Point> {
  const query = await tx.selectFrom("queryState as s").innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .select(["s.status", "q.id as soulId", "q.createdAt as soulCreatedAt", "q.conversationStateId as parentId"])
    .where("s.id", "=", queryId).executeTakeFirst();
  if (!query) throw new UsageError(`Cannot ${action} query ${queryId}: no query has this id`);
  const { status, ...facts } = query;
  const rows = await tx.selectFrom("iteration").select(["position", "status"])
    .where("queryStateId", "=", queryId).orderBy("position").execute();
  const last = rows.at(-1)?.position ?? -1;
  const at = position ?? last;
  if (at === -1) return { ...facts, queryId, position: -1 };
  const row = rows.find((one) => one.position === at);
  if (!row) {
    const known = last < 0 ? "it has none" : `it has 1 to ${last + 1}`;
    throw new UsageError(`Cannot ${action} iteration ${at + 1} of query ${queryId}: ${known}`);
  }
  if (row.status === "running" || (position === null && status === "running")) {
    throw new UsageError(`Cannot ${action} iteration ${at + 1} of query ${queryId}: it is still running`);
  }
  return { ...facts, queryId, position: at };
}
