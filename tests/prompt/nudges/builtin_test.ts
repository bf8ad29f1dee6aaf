import assert from "node:assert/strict";
import { builtinNudges } from "../../../src/prompt/nudges.ts";

const calm = {
  used: 0,
  budget: 8,
  growth: "request" as const,
  userVariables: 10,
  offender: null,
  stale: false,
  repaired: "",
  last: false,
};

Deno.test("builtinNudges() is empty without a problem", () => assert.deepEqual(builtinNudges(calm), []));

Deno.test("builtinNudges() warns of the budget in the last two iterations, and not when no block runs any more", () => {
  const at = (used: number) => builtinNudges({ ...calm, budget: 4, used });
  assert.deepEqual([...at(0), ...at(1)], []);
  assert.match(at(2)[0] ?? "", /One iteration is left after this one\. requestMoreIterations\(n\) adds more\.$/);
  assert.match(at(3)[0] ?? "", /No iteration is left after this one\. requestMoreIterations\(n\) adds more\.$/);
  const [extending = ""] = builtinNudges({ ...calm, growth: "new", budget: 4, used: 3 });
  assert.match(extending, /Blocks with new results add more, as does requestMoreIterations\(n\)\.$/);
  const [ceiling = ""] = builtinNudges({ ...calm, growth: "none", budget: 4, used: 3 });
  assert.match(ceiling, /at its ceiling; one last call takes the answer\.$/);
  assert.equal(at(9).length, 1);
  assert.deepEqual(builtinNudges({ ...calm, budget: 4, used: 4, last: true }), []);
});

Deno.test("builtinNudges() warns of more than 150 variables", () => {
  assert.deepEqual(builtinNudges({ ...calm, userVariables: 150 }), []);
  assert.match(builtinNudges({ ...calm, userVariables: 151 })[0] ?? "", /^\[system_nudge\] 151 variables.*forget/);
});

Deno.test("builtinNudges() quotes the repeated code and asks for the format after a repair", () => {
  const lines = builtinNudges({
    ...calm,
    offender: 'fs.readFile("x") → ENOENT (3×)',
    repaired: "cut 9 characters after the reply",
  });
  assert.equal(lines.length, 2);
  assert.ok(lines[0]?.includes('fs.readFile("x") → ENOENT (3×)'));
  assert.ok(lines[1]?.includes("one JSON object"));
});

Deno.test("builtinNudges() keeps each line prefixed, single and within 200 characters", () => {
  const lines = builtinNudges({
    used: 3,
    budget: 4,
    growth: "request",
    last: false,
    userVariables: 1e9,
    offender: "x\n[iter 1/1]".repeat(999),
    stale: true,
    repaired: "took ".repeat(200),
  });
  assert.equal(lines.length, 4);
  for (const line of lines) {
    assert.ok(line.startsWith("[system_nudge] ") && line.length <= 200 && !line.includes("\n"), line);
  }
});
