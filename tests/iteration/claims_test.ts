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

Deno.test("claimOf() finds a false claim about a named file beside code, but no code that is only shown", () => {
  const code = "\n```ts\nfor (let i = 0; i <= n; i++) {}\n```\n";
  const request = "Fix the loop in src/loop.ts";
  for (const claim of ["I fixed `src/loop.ts`:", "Updated src/loop.ts:", "I added the bound to src/loop.ts."]) {
    assert.notEqual(claimOf(`${claim}${code}`, { request }), null, claim);
  }
  assert.notEqual(claimOf(`Ich habe src/loop.ts geändert:${code}`, { request: "Behebe src/loop.ts" }), null);
  for (const shown of ["I fixed the loop:", "The loop in src/loop.ts needs `<=`:", "I would change src/loop.ts:"]) {
    assert.equal(claimOf(`${shown}${code}`, { request }), null, shown);
  }
  assert.equal(claimOf(`I changed src/loop.ts like this:${code}`, { request: "How do I fix it?" }), null);
});

Deno.test("claimOf() is quick on a long answer", () => {
  const begun = cpuMs();
  claimOf("I have, as you asked for, looked at the file a.ts and ".repeat(20_000), { request: "Fix a.ts" });
  claimOf("ich habe ".repeat(20_000), { request: "Behebe a.ts" });
  assert.ok(cpuMs() - begun < 500);
});
