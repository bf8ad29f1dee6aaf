import type { ConversationArchive } from "../../domain/records/conversation_archive.ts";

/** Converts an archive from before scopes had a history: the scope of its variables becomes changes at the newest
 * moment of their branch. Other archives are returned unchanged. */
export function withScopeChanges(archive: ConversationArchive): ConversationArchive {
  const { tables } = archive;
  const forgotten = tables.expressionSoul.filter(({ metadata }) => metadata.scope === "forgotten");
  const changes = forgotten.map(({ id, conversationStateId, createdAt }) => ({
    expressionSoulId: id,
    ...newestMoment(tables, conversationStateId),
    scope: "forgotten" as const,
    createdAt,
  }));
  const expressionSoul = tables.expressionSoul.map(({ metadata: { scope, ...rest }, ...soul }) => (
    { ...soul, metadata: scope === "system" ? { scope, ...rest } : rest }
  ));
  return { ...archive, tables: { ...tables, expressionSoul, scopeChange: [...changes, ...tables.scopeChange] } };
}

function newestMoment(
  { querySoul, queryState, iteration }: ConversationArchive["tables"],
  branchId: string,
): { readonly queryStateId: string | null; readonly position: number } {
  const asked = querySoul.filter(({ conversationStateId }) => conversationStateId === branchId);
  const query = asked.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)).at(-1);
  const runs = queryState.filter(({ querySoulId }) => querySoulId === query?.id);
  const run = runs.toSorted((a, b) => a.version - b.version).at(-1);
  const positions = iteration.flatMap(({ queryStateId, position }) => queryStateId === run?.id ? [position] : []);
  return { queryStateId: run?.id ?? null, position: positions.reduce((most, one) => Math.max(most, one), -1) };
}
