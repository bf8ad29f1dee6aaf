import { addUsage, NO_USAGE } from "../../src/domain/query/model_call.ts";
import type { Usage } from "../../src/domain/query/query_schemas.ts";
import type { Store } from "../../src/persistence/store.ts";

export interface RowsSum {
  readonly usage: Usage;
  readonly queries: number;
  readonly plainCalls: number;
  readonly largestCall: number;
}

export async function rowsSum(store: Store, queryId: string): Promise<RowsSum> {
  let usage = NO_USAGE, queries = 1, plainCalls = 0, largestCall = 0;
  const add = (one: Usage): void => {
    usage = addUsage(usage, one);
    largestCall = Math.max(largestCall, one.input + one.output);
  };
  for (const { iterationId, traces } of await store.iterations(queryId)) {
    for (const trace of traces) if (trace.usage) add(trace.usage);
    for (const call of await store.subCalls(iterationId)) {
      plainCalls++;
      add(call.usage);
    }
    for (const child of await store.subQueries(iterationId)) {
      const below = await rowsSum(store, child.queryId);
      usage = addUsage(usage, below.usage);
      queries += below.queries;
      plainCalls += below.plainCalls;
      largestCall = Math.max(largestCall, below.largestCall);
    }
  }
  return { usage, queries, plainCalls, largestCall };
}
