import type { QueryEnd } from "../../domain/query/query_schemas.ts";
import { Content } from "../content/content.ts";
import type { Database } from "../database/database.ts";
import { fromJson } from "../database/json.ts";
import { lastIteration } from "../runs/last_iteration.ts";

/** `iteration.metadata` of an iteration whose final was accepted. */
interface FinalMetadata {
  readonly outcome: string;
  readonly last: boolean;
  readonly answerType: QueryEnd["answerType"];
  readonly confidence: QueryEnd["confidence"];
  readonly answerNotes: readonly string[];
}

/** The end of a query that was complete although its process was lost: its last iteration is stored with an accepted
 * final. Null without an accepted final, and for the fallback call, whose reason is unknown. */
export async function acceptedFinal(
  tx: Database,
  queryId: string,
): Promise<Pick<QueryEnd, "status" | "reason" | "answer" | "answerType" | "confidence" | "notes"> | null> {
  const last = await lastIteration(tx, queryId);
  if (last?.status !== "done") return null;
  const content = new Content(tx);
  await content.load([last.metadata]);
  const facts = fromJson<FinalMetadata>(content.text(last.metadata ?? "{}"));
  if (facts.outcome !== "final" || facts.last) return null;
  const rows = await tx.selectFrom("expressionState as e")
    .innerJoin("expressionSoul as s", "s.id", "e.expressionSoulId")
    .select(["e.result", "s.name"]).where("e.iterationId", "=", last.id)
    .execute();
  const stored = rows.find(({ name }) => name === "$answer");
  if (!stored?.result) return null;
  await content.load([stored.result]);
  return {
    status: "done",
    reason: "answered",
    answer: new TextDecoder().decode(content.bytes(stored.result)),
    answerType: facts.answerType ?? "text",
    confidence: facts.confidence ?? "low",
    notes: facts.answerNotes ?? [],
  };
}
