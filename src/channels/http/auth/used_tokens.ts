import type { LabelUse } from "../../../domain/records/conversation_maintenance.ts";

/** Usage of each token, from the labels that `callerLabel` gave to its queries. */
export function usedTokens(
  labels: readonly LabelUse[],
): readonly { readonly name: string; readonly queries: number; readonly costUsd: number }[] {
  return labels.flatMap(({ label, queries, costUsd }) => {
    const name = /^(?:http|openai):(.+)$/.exec(label)?.[1];
    return name === undefined ? [] : [{ name, queries, costUsd }];
  });
}
