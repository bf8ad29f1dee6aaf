import { type FaultKind, faultOf } from "../../../domain/errors.ts";
import type { QueryResult } from "../../../domain/query/query_schemas.ts";

const OF_FAULTS: Readonly<Record<FaultKind, number>> = {
  provider: 1,
  busy: 1,
  output: 1,
  usage: 2,
  config: 3,
  store: 3,
  cancelled: 130,
};

/** 0 answer; 1 the query failed or reached a limit; 2 usage; 3 configuration, no provider or the database; 130
 * cancelled. */
export function exitCodeOf(result: QueryResult): number {
  if (result.status === "done") return 0;
  if (result.reason === "unstored") return 3;
  return result.reason === "cancelled" ? 130 : 1;
}

/** The exit code and a one-sentence message for an error that reached the channel; null for a defect. */
export function describeError(error: unknown): { readonly code: number; readonly message: string } | null {
  const fault = faultOf(error);
  return fault && { code: OF_FAULTS[fault.kind], message: fault.message };
}
