import type { Kysely } from "kysely";
import { newId } from "../domain/id.ts";
import { Content } from "./_content.ts";
import type { Schema } from "./_schema.ts";
import type { Store } from "./store.ts";

/** Adds a row to the log. A scope that does not exist (any more) is left out of the columns and kept in the data. */
export async function writeLogEntry(
  db: Kysely<Schema>,
  entry: Parameters<Store["log"]>[0] & { readonly now: number },
): Promise<void> {
  const { level, event, data, now, conversationId, queryId, iterationId } = entry;
  await db.transaction().execute(async (tx) => {
    const query = queryId === undefined ? undefined : await tx.selectFrom("queryState as s")
      .innerJoin("querySoul as q", "q.id", "s.querySoulId")
      .select(["s.id", "q.id as soulId", "q.conversationStateId"]).where("s.id", "=", queryId).executeTakeFirst();
    const conversation = conversationId === undefined
      ? undefined
      : await tx.selectFrom("conversationSoul").select("id").where("id", "=", conversationId).executeTakeFirst();
    const iteration = iterationId === undefined
      ? undefined
      : await tx.selectFrom("iteration").select("id").where("id", "=", iterationId).executeTakeFirst();
    const lost = {
      ...(conversationId === undefined || conversation ? {} : { conversationId }),
      ...(queryId === undefined || query ? {} : { queryId }),
      ...(iterationId === undefined || iteration ? {} : { iterationId }),
    };
    await tx.insertInto("log").values({
      id: newId(),
      level,
      event,
      data: await new Content(tx).putText(printable({ ...data, ...lost })),
      conversationSoulId: conversation?.id ?? null,
      conversationStateId: query?.conversationStateId ?? null,
      querySoulId: query?.soulId ?? null,
      queryStateId: query?.id ?? null,
      iterationId: iteration?.id ?? null,
      expressionSoulId: null,
      expressionStateId: null,
      createdAt: now,
    }).execute();
  });
}

/** JSON of anything: what JSON cannot say becomes text. */
function printable(data: Readonly<Record<string, unknown>>): string {
  const seen = new WeakSet<object>();
  return JSON.stringify(data, (_key, value: unknown) => {
    if (typeof value === "bigint" || typeof value === "function" || typeof value === "symbol") return String(value);
    if (value instanceof Error) return { name: value.name, message: value.message, stack: value.stack };
    if (typeof value !== "object" || value === null) return value;
    if (seen.has(value)) return "[again]";
    seen.add(value);
    return value;
  });
}
