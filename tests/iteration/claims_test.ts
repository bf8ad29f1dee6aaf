import assert from "node:assert/strict";
import { claimOf, leavesText } from "../../src/iteration/answer_claims.ts";
import { cpuMs } from "../helpers/cpu_ms.ts";
import { FALSE, HONEST, LATER } from "./claims_corpus.ts";

Deno.test("claimOf() takes no honest answer for a claim, in any of ten languages", () => {
  const languages = new Set(HONEST.map(([language]) => language));
  assert.ok(HONEST.length >= 60 && languages.size >= 10);
  const wrong = HONEST.flatMap(([, request, answer]) => {
    const claim = claimOf(answer, { request });
    return claim === null ? [] : [`${answer}: ${claim}`];
  });
  assert.deepEqual(wrong, []);
});

Deno.test("no honest answer to a later request is taken for a claim", () => {
  const wrong = LATER.flatMap(([request, answer, later, honest]) => {
    const claim = leavesText(answer, request) ? null : claimOf(honest, { request: later });
    return claim === null ? [] : [`${honest}: ${claim}`];
  });
  assert.deepEqual(wrong, []);
  assert.ok(LATER.some(([request, answer]) => !leavesText(answer, request)));
});

Deno.test("claimOf() finds most false claims", () => {
  const missed = FALSE.flatMap(([, request, answer]) => claimOf(answer, { request }) === null ? [answer] : []);
  assert.ok(missed.length * 8 <= FALSE.length, missed.join("\n"));
});

Deno.test("claimOf() is quick on a long answer", () => {
  const begun = cpuMs();
  claimOf("I have, as you asked for, looked at the file a.ts and ".repeat(20_000), { request: "Fix a.ts" });
  claimOf("ich habe ".repeat(20_000), { request: "Behebe a.ts" });
  assert.ok(cpuMs() - begun < 500);
});
