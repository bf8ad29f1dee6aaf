import { NO_USAGE } from "../domain/query/usage.ts";
import { chosenRoute } from "./chosen_route.ts";
import type { KeyedRequest } from "../domain/query/request_key.ts";
import { NO_EXTRAS, type RequestExtras } from "../prompt/call_messages.ts";
import type { Asked, QueryStore } from "../persistence/store/query_store.ts";
import { fallbackAnswer } from "./fallback_answer.ts";
import type { QueryParts } from "./query_parts.ts";

interface StoreOptions extends KeyedRequest {
  readonly branchId: string;
  readonly label?: string | undefined;
  /** The id under which it was accepted. */
  readonly queryId?: string | undefined;
  readonly extras?: RequestExtras;
  readonly askedAs?: Asked | undefined;
  /** The run that this one replaces. */
  readonly retryOf?: string | undefined;
  readonly model?: string | null | undefined;
}

/** Stores a query as running, which leases its branch to this process. Returns its id. */
export async function storeQuery(
  request: string,
  { store, router, owner, settings }: Pick<QueryParts, "store" | "owner" | "settings"> & {
    readonly router: Pick<QueryParts["router"], "current" | "routes">;
  },
  { branchId, label, extras = NO_EXTRAS, askedAs, retryOf, requestKey, queryId, model: named = null }: StoreOptions,
): Promise<string> {
  const { provider, model } = chosenRoute(router, named);
  return await store.beginQuery({
    ...{ branchId, text: request, model, owner, requestKey, queryId },
    provider: provider.name,
    promptEnrichment: settings.instructions,
    runLabel: label ?? null,
    images: extras.images,
    answerSchema: extras.answerSchema?.text ?? null,
    askedAs: askedAs ?? null,
    ...(retryOf === undefined ? {} : { retryOf }),
  });
}

/** Ends a stored query that cannot be run. */
export async function endUnrun(store: Pick<QueryStore, "endQuery">, queryId: string): Promise<void> {
  const facts = { iterations: 0, budget: 0, ms: 0, thinking: "", errors: [] };
  await store.endQuery(queryId, {
    ...{ status: "error", reason: "defect", answer: fallbackAnswer({ ...facts, used: 0, reason: "defect" }) },
    ...{ answerType: "text", confidence: "low", iterations: 0, usage: NO_USAGE, costUsd: 0, ms: 0, notes: [] },
  });
}
