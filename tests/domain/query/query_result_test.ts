import assert from "node:assert/strict";
import { type QueryReason, statusOf } from "../../../src/domain/query/query_result.ts";

Deno.test("statusOf() an answer is done, what a user or a kill stopped is interrupted, all else is an error", () => {
  const expected: Record<QueryReason, string> = {
    answered: "done",
    cancelled: "interrupted",
    process_lost: "interrupted",
    forked: "interrupted",
    max_iterations: "error",
    error_budget: "error",
    limit_cost: "error",
    limit_tokens: "error",
    limit_time: "error",
    provider: "error",
    configuration: "error",
    answer_schema: "error",
    unstored: "error",
    unusable_replies: "error",
    unsupported_answer: "error",
    defect: "error",
  };
  for (const [reason, status] of Object.entries(expected)) assert.equal(statusOf(reason as QueryReason), status);
});
