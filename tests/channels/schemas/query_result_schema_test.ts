import { NO_USAGE } from "../../../src/domain/query/usage.ts";
import type { QueryResult } from "../../../src/domain/query/query_result.ts";
import { QueryResultSchema } from "../../../src/channels/schemas/query_result_schema.ts";
import { UsageSchema } from "../../../src/channels/schemas/usage_schema.ts";

const result: QueryResult = {
  ...{ status: "done", reason: "answered", answer: "42", answerType: "text", confidence: "high" },
  ...{ queryId: "q", conversationId: "c", iterations: 1, usage: NO_USAGE, costUsd: null, ms: 1.5, notes: [] },
};

Deno.test("QueryResultSchema describes what a query came to, with no field beyond", () => {
  const strict = QueryResultSchema.extend({ usage: UsageSchema.strict() }).strict();
  strict.parse(result);
  strict.parse({ ...result, value: { n: 42 }, costUsd: 0.01, usage: { ...NO_USAGE, cacheWrite: 7 } });
});
