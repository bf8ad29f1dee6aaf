import { blockResult, failedBlock } from "../../../src/domain/query/block_result.ts";
import { BlockResultSchema, QueryResultSchema, UsageSchema } from "../../../src/domain/query/query_schemas.ts";
import type { QueryResult } from "../../../src/domain/query/query_result.ts";
import { NO_USAGE } from "../../../src/domain/query/usage.ts";

const result: QueryResult = {
  ...{ status: "done", reason: "answered", answer: "42", answerType: "text", confidence: "high" },
  ...{ queryId: "q", conversationId: "c", iterations: 1, usage: NO_USAGE, costUsd: null, ms: 1.5, notes: [] },
};

Deno.test("QueryResultSchema takes what a query came to, with no field beyond", () => {
  const strict = QueryResultSchema.extend({ usage: UsageSchema.strict() }).strict();
  strict.parse(result);
  strict.parse({ ...result, value: { n: 42 }, costUsd: 0.01, usage: { ...NO_USAGE, cacheWrite: 7 } });
});

Deno.test("BlockResultSchema takes what a block came to, with no field beyond", () => {
  const strict = BlockResultSchema.strict();
  const calls = [{ name: "fs.stat", ms: 1.5, ok: true }];
  strict.parse(blockResult({ ok: true, outcome: "value", size: 3, calls }));
  strict.parse(failedBlock("timeout", { name: "TimeoutError", message: "Too long" }));
});
