import assert from "node:assert/strict";
import {
  QUERY_REASONS,
  reasonAdvice,
  reasonText,
  shownAnswer,
  stoppedText,
} from "../../../src/domain/query/outcomes.ts";

Deno.test("reasonText() describes every reason in words", () => {
  const texts = QUERY_REASONS.map(reasonText);
  assert.equal(new Set(texts).size, QUERY_REASONS.length);
  for (const text of texts) assert.match(text, /^(?:[a-z]|Vis )[A-Za-z :]+$/);
});

Deno.test("reasonAdvice() names no command and no option, because the page and servers show it, too", () => {
  const advice = QUERY_REASONS.map(reasonAdvice).filter((text) => text !== "");
  assert.ok(advice.length > 5);
  for (const text of advice) assert.doesNotMatch(text, /\bvis [a-z]|--[a-z]/);
});

Deno.test("stoppedText() is for an answer of a query that was stopped, and for no other", () => {
  const stopped = "Stopped at the step limit; this is the best answer so far. Continue with 10 more steps, " +
    "or ask for less at once; the variables are kept.";
  assert.equal(stoppedText({ reason: "max_iterations" }), stopped);
  assert.equal(stoppedText({ reason: "max_iterations", noAnswer: true }), "");
  assert.equal(stoppedText({ reason: "answered" }), "");
  assert.equal(stoppedText({ reason: "provider" }), "");
  assert.equal(shownAnswer({ reason: "max_iterations", answer: "42", notes: [] }), `42\n\n${stopped}`);
});
