import assert from "node:assert/strict";
import { describeError, exitCodeOf } from "../../../../src/channels/cli/output.ts";
import { BusyError, ConfigError, HostCallError, StoreError, UsageError } from "../../../../src/domain/errors.ts";
import { NO_USAGE } from "../../../../src/domain/query/model_call.ts";
import { hasAnswer, type QueryReason, statusOf } from "../../../../src/domain/query/outcomes.ts";
import type { QueryResult } from "../../../../src/domain/query/query_schemas.ts";

function result(reason: QueryReason): QueryResult {
  const texts = { answer: "a", answerType: "text", confidence: "high", queryId: "q", conversationId: "c" } as const;
  return {
    ...texts,
    status: statusOf(reason),
    reason,
    iterations: 1,
    usage: NO_USAGE,
    costUsd: null,
    ms: 1,
    notes: [],
  };
}

Deno.test("exitCodeOf() and hasAnswer() for every reason", () => {
  const expected: Record<QueryReason, [number, boolean]> = {
    answered: [0, true],
    max_iterations: [1, true],
    error_budget: [1, true],
    answer_schema: [1, false],
    unusable_replies: [1, false],
    unsupported_answer: [1, false],
    limit_cost: [1, true],
    limit_tokens: [1, true],
    limit_time: [1, true],
    provider: [1, false],
    configuration: [1, false],
    unstored: [3, true],
    defect: [1, false],
    process_lost: [1, false],
    cancelled: [130, false],
    forked: [1, false],
  };
  for (const [reason, [code, answers]] of Object.entries(expected)) {
    const given = result(reason as QueryReason);
    assert.deepEqual([exitCodeOf(given), hasAnswer(given)], [code, answers], reason);
  }
});

Deno.test("describeError() knows the errors that are no defects", () => {
  assert.deepEqual(describeError(new UsageError("u")), { code: 2, message: "u" });
  assert.deepEqual(describeError(new ConfigError("c")), { code: 3, message: "c" });
  assert.deepEqual(describeError(new StoreError("s", "full")), { code: 3, message: "s" });
  assert.deepEqual(describeError(new BusyError("b")), { code: 1, message: "b" });
  for (const defect of [new Error("x"), new HostCallError("h", { namespace: "a", symbol: "b" }), "text", null]) {
    assert.equal(describeError(defect), null);
  }
});
