import assert from "node:assert/strict";
import type { QueryReason } from "../../src/domain/query_result.ts";
import { fallbackAnswer } from "../../src/query/fallback_answer.ts";

const REASONS = {
  max_iterations: /budget of 4 iterations/,
  error_budget: /errors in a row after 3 iterations[\s\S]*Error: third/,
  answer_schema: /schema/,
  limit_cost: /cost limit[\s\S]*budget\.costUsd/,
  limit_tokens: /token limit[\s\S]*budget\.tokens/,
  limit_time: /time limit[\s\S]*budget\.wallMs/,
  provider: /third/,
  configuration: /third/,
  unstored: /database could not be used after 3 iterations/,
  defect: /defect/,
  cancelled: /Cancelled after 3 iterations/,
  process_lost: /process/,
} satisfies Record<Exclude<QueryReason, "answered">, RegExp>;

Deno.test("fallbackAnswer() says for each reason what ended the query and what to do", () => {
  const facts = { iterations: 3, budget: 4, thinking: "Half is done.", errors: ["first", "second", "third"] };
  for (const [reason, says] of Object.entries(REASONS)) {
    const text = fallbackAnswer({ ...facts, reason: reason as keyof typeof REASONS });
    assert.match(text, says);
    assert.match(text, /Last reasoning: Half is done\./);
  }
});

Deno.test("fallbackAnswer() is never empty and never long", () => {
  for (const reason of Object.keys(REASONS)) {
    const of = { reason: reason as keyof typeof REASONS, iterations: 1, budget: 1 };
    assert.notEqual(fallbackAnswer({ ...of, thinking: "", errors: [] }).trim(), "");
    const long = "x".repeat(100_000);
    const text = fallbackAnswer({ ...of, thinking: long, errors: [long, long, long] });
    assert.ok(text.length < (reason === "provider" || reason === "configuration" ? 101_000 : 3_000), reason);
  }
});
