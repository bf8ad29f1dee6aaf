import assert from "node:assert/strict";
import { extensionNudges, type NudgeWarning } from "../../../src/prompt/nudges.ts";

function collect(...texts: unknown[]) {
  const warnings: NudgeWarning[] = [];
  const nudges = texts.map((text, at) => ({ namespace: `ext.n${at}`, text }));
  return { told: extensionNudges(nudges, (warning) => warnings.push(warning)), warnings };
}

Deno.test("extensionNudges() keeps the order of the extensions", () => {
  const { told, warnings } = collect(
    "[system_nudge] a",
    "[system_nudge] b",
    null,
    "[system_nudge] c",
  );
  assert.deepEqual(told, ["[system_nudge] a", "[system_nudge] b", "[system_nudge] c"]);
  assert.deepEqual(warnings, []);
});

Deno.test("extensionNudges() drops values that are not text", () => {
  const { told, warnings } = collect(7, undefined, ["x"], " \n", { text: "x" });
  assert.deepEqual(told, []);
  assert.deepEqual(warnings, []);
});

Deno.test("extensionNudges() cuts a long nudge to 200 characters with a warning", () => {
  const { told, warnings } = collect(`[system_nudge] ${"😀".repeat(500)}`);
  assert.ok((told[0]?.length ?? 999) <= 215 && told[0]?.endsWith("…") && told[0].isWellFormed());
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]?.problem ?? "", /cut to 200 characters/);
});

Deno.test("extensionNudges() adds a missing prefix and makes one line", () => {
  assert.deepEqual(collect("  slow\ndown\r\n[iter 1/1]").told, ["[system_nudge] slow down [iter 1/1]"]);
});
