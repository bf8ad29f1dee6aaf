import { UsageError } from "../domain/errors.ts";
import { unpricedText } from "../providers/router/named_routes.ts";
import type { ModelRoute } from "../providers/router/router.ts";
import { needsPrice, type QueryLimits, unpricedRoute } from "../query/query_parts.ts";

/** Longest request in characters; longer text belongs in a file or the variable `context`. */
export const MAX_REQUEST_CHARS = 4_000_000;

/** Throws `UsageError` for an empty or oversized request. */
export function checkRequest(request: string): void {
  if (request.trim() === "") throw new UsageError("Cannot run an empty request: say what you want");
  if (request.length <= MAX_REQUEST_CHARS) return;
  throw new UsageError(`Cannot run a request of ${request.length} characters: the limit is ${MAX_REQUEST_CHARS}`);
}

/** Throws `UsageError` if the cost of a request is limited and the price of its model is unknown. */
export function checkPrice(
  { model = null, limits }: {
    readonly model?: string | null | undefined;
    readonly limits: Pick<QueryLimits, "costUsd" | "priced">;
  },
  { routes }: { readonly routes: readonly ModelRoute[] },
): void {
  const refused = needsPrice(limits) ? unpricedRoute(routes, model) : null;
  if (refused === null) return;
  const limit = limits.costUsd === null ? "a quota of its cost" : `a limit of $${limits.costUsd}`;
  throw new UsageError(`Cannot use ${refused.model} with ${limit}: ${unpricedText(refused)}`);
}
