import assert from "node:assert/strict";
import type { QueryReason } from "../../src/domain/query/outcomes.ts";
import { fallbackAnswer } from "../../src/query/run_query.ts";

const REASONS = {
  max_iterations: /budget of 4 steps/,
  error_budget: /after 3 steps: 5 steps failed without[\s\S]*Error: third/,
  answer_schema: /schema/,
  unusable_replies: /Choose another model/,
  unsupported_answer: /No answer/,
  limit_cost: /cost limit[\s\S]*budget\.costUsd/,
  limit_tokens: /token limit[\s\S]*budget\.tokens/,
  limit_time: /^Timed out after 2\.5 s in step 4\.\n[\s\S]*budget\.wallMs/,
  provider: /third/,
  configuration: /third/,
  unstored: /Vis could not use the database after 3 steps/,
  defect: /internal error/,
  cancelled: /Cancelled after 3 steps/,
  process_lost: /Vis ended/,
} satisfies Record<Exclude<QueryReason, "answered" | "forked">, RegExp>;

Deno.test("fallbackAnswer() names the end of the query and a remedy for each reason", () => {
  const facts = {
    iterations: 3,
    used: 3,
    budget: 4,
    ms: 2_500,
    thinking: "Half is done.",
    errors: ["first", "second", "third"],
  };
  for (const [reason, says] of Object.entries(REASONS)) {
    const text = fallbackAnswer({ ...facts, reason: reason as keyof typeof REASONS });
    assert.match(text, says);
    assert.equal(
      text.includes("Last thinking: Half is done."),
      !["unusable_replies", "unsupported_answer", "cancelled"].includes(reason),
    );
  }
});

Deno.test("fallbackAnswer() describes in a sentence a model whose replies cannot be used", () => {
  const faults = {
    empty: /an empty text/,
    thinking: /reasoning only/,
    idle: /neither code to run/,
    tools: /tool calls/,
    text: /plain text/,
    json: /JSON/,
    cut: /an incomplete text/,
  } as const;
  const facts = {
    reason: "unusable_replies",
    iterations: 3,
    used: 3,
    budget: 4,
    ms: 2_500,
    thinking: "",
    errors: [],
  } as const;
  for (const fault of [...Object.keys(faults), null] as (keyof typeof faults | null)[]) {
    const [sentence = "", advice = ""] = fallbackAnswer({ ...facts, unusable: { model: "m-1", count: 3, fault } })
      .split("\n");
    assert.match(sentence, /^The model m-1 replied 3 times in a row .*\.$/);
    assert.match(sentence, fault === null ? /anything usable/ : faults[fault]);
    assert.match(advice, /^Choose another model/);
  }
});

Deno.test("fallbackAnswer() is never empty and never long", () => {
  for (const reason of Object.keys(REASONS)) {
    const of = { reason: reason as keyof typeof REASONS, iterations: 1, used: 1, budget: 1, ms: 1 };
    assert.notEqual(fallbackAnswer({ ...of, thinking: "", errors: [] }).trim(), "");
    const long = "x".repeat(100_000);
    const text = fallbackAnswer({ ...of, thinking: long, errors: [long, long, long] });
    assert.ok(text.length < (reason === "provider" || reason === "configuration" ? 101_000 : 3_000), reason);
  }
});

Deno.test("fallbackAnswer() names the setting that allows fewer than ten more steps", () => {
  const of = { reason: "max_iterations", iterations: 1, used: 1, budget: 1, ms: 1, thinking: "", errors: [] } as const;
  assert.match(
    fallbackAnswer({ ...of, ceiling: 1 }),
    /^Raise the maximum \(setting budget\.ceiling\), continue with 1 more step,/m,
  );
  for (const ceiling of [10, null]) assert.match(fallbackAnswer({ ...of, ceiling }), /^Continue with 10 more steps/m);
});

Deno.test("fallbackAnswer() names the number of steps that the budget did not count", () => {
  const said = (iterations: number, used: number, budget: number): string =>
    fallbackAnswer({ reason: "max_iterations", ...{ iterations, used, budget }, ms: 1, thinking: "", errors: [] })
      .split("\n")[0] ?? "";
  assert.equal(said(5, 4, 4), "No answer within the budget of 4 steps.");
  assert.equal(said(3, 1, 1), "No answer within the budget of 1 step. 1 more, without a result, was not counted.");
  // Eight calls failed, of which four were counted, and the last call.
  assert.equal(said(9, 4, 4), "No answer within the budget of 4 steps. 4 more, without a result, were not counted.");
});
