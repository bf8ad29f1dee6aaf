import assert from "node:assert/strict";
import { blockResult, failedBlock } from "../../src/domain/query/host_call.ts";
import type { Environment } from "../../src/environment/environment.ts";
import type { Executed, IterationFrame, OfferedAnswer } from "../../src/iteration/iteration.ts";
import { settleFinal } from "../../src/iteration/settle_final.ts";
import { AnswerSchema } from "../../src/prompt/answer_schema.ts";
import type { ReplyFinal } from "../../src/prompt/reply/reply.ts";
import type { RenderReport } from "../../src/sandbox/sandbox.ts";

const FAILED = { code: "f()", result: failedBlock("error", { name: "TypeError", message: "f is not a function" }) };
const WORKED = { code: "1", result: blockResult({ ok: true, outcome: "value", preview: "1" }) };

function executed(...entries: (typeof FAILED)[]): Executed {
  return { entries, blocks: [], notes: [] };
}

function finalOf(answer: string): ReplyFinal {
  return { answer, answerType: "markdown", confidence: "high" };
}

function offer(text: string, block = 0): OfferedAnswer {
  return { text, type: "text", confidence: "medium", block, value: text };
}

async function settle(
  parts: Partial<Parameters<typeof settleFinal>[1]>,
  told: {
    readonly rendered?: RenderReport;
    readonly schema?: unknown;
    readonly values?: Record<string, unknown>;
  } = {},
) {
  const environment = {
    index: { get: (name: string) => told.values && Object.hasOwn(told.values, name) ? {} : undefined },
    readVariable: (name: string) => Promise.resolve(told.values?.[name]),
    render: (text: string) => Promise.resolve(told.rendered ?? { ok: true, from: "literal", text }),
  } as unknown as Environment;
  const answerSchema = told.schema === undefined ? null : new AnswerSchema(told.schema);
  const frame = { environment, extras: { images: [], answerSchema } } as unknown as IterationFrame;
  return await settleFinal(frame, {
    offered: null,
    final: null,
    executed: executed(),
    refusedBefore: null,
    supported: false,
    doubted: [],
    unsupportedClaim: () => null,
    missingFiles: () => Promise.resolve([]),
    worked: () => false,
    ...parts,
  });
}

function answerOf(settled: Awaited<ReturnType<typeof settle>>): string {
  return settled?.kind === "accepted" ? settled.final.answer : `${settled?.kind}`;
}

function reasonOf(settled: Awaited<ReturnType<typeof settle>>): string {
  assert.equal(settled?.kind, "refused");
  return settled?.kind === "refused" ? settled.reason : "";
}

Deno.test("settleFinal() there is nothing to settle without a final", async () => {
  assert.equal(await settle({ executed: executed(WORKED) }), null);
});

Deno.test("settleFinal() accepts an answer with the reply's remarks about it", async () => {
  assert.deepEqual(await settle({ final: finalOf("Forty-two"), executed: executed(WORKED) }), {
    kind: "accepted",
    final: { answer: "Forty-two", answerType: "markdown", confidence: "high", notes: [] },
  });
});

Deno.test("settleFinal() takes the text that the sandbox rendered", async () => {
  const rendered: RenderReport = { ok: true, from: "template", text: "n is 5" };
  assert.equal(answerOf(await settle({ final: finalOf("n is {{n}}") }, { rendered })), "n is 5");
});

Deno.test("settleFinal() refuses an answer whose template cannot be rendered, with the reason", async () => {
  const rendered: RenderReport = { ok: false, reason: "{{m}} names no variable" };
  assert.equal(reasonOf(await settle({ final: finalOf("{{n}} {{m}}") }, { rendered })), "{{m}} names no variable");
});

Deno.test("settleFinal() refuses an answer next to a failed block", async () => {
  const reason = reasonOf(await settle({ final: finalOf("All good"), executed: executed(WORKED, FAILED) }));
  assert.match(reason, /Block 2 .*failed: TypeError: f is not a function/);
});

Deno.test("settleFinal() an offered answer wins over the reply's own and keeps its facts", async () => {
  assert.deepEqual(await settle({ offered: offer("from a block"), final: finalOf("from the reply") }), {
    kind: "accepted",
    final: { answer: "from a block", answerType: "text", confidence: "medium", notes: [] },
  });
});

Deno.test("settleFinal() an offered answer is undone by a failure before it, not by one after it", async () => {
  assert.equal(answerOf(await settle({ offered: offer("yes", 0), executed: executed(WORKED, FAILED) })), "yes");
  assert.equal(answerOf(await settle({ offered: offer("yes", 0), executed: executed(FAILED) })), "yes");
  assert.match(reasonOf(await settle({ offered: offer("yes", 1), executed: executed(FAILED, WORKED) })), /Block 1/);
});

Deno.test("settleFinal() refuses a placeholder that names nothing, and takes the same word as a value", async () => {
  for (const word of ["done", "Result.", "**Answer**"]) {
    assert.match(reasonOf(await settle({ final: finalOf(word) })), /placeholder/);
  }
  assert.equal(answerOf(await settle({ offered: offer("done") })), "done");
  const rendered: RenderReport = { ok: true, from: "variable", text: "done" };
  assert.equal(answerOf(await settle({ final: finalOf("state") }, { rendered })), "done");
});

Deno.test("settleFinal() takes a report as an answer after work, but no placeholder", async () => {
  for (const word of ["Done.", "OK", "**Gotowe**"]) {
    assert.equal(answerOf(await settle({ final: finalOf(word), worked: () => true })), word);
    assert.match(reasonOf(await settle({ final: finalOf(word) })), /placeholder/, word);
  }
  assert.match(reasonOf(await settle({ final: finalOf("Result."), worked: () => true })), /placeholder/);
});

Deno.test("settleFinal() lets the same refusal through the second time, as an answer of low confidence", async () => {
  const parts = { final: finalOf("All good"), executed: executed(WORKED, FAILED) };
  const refusedBefore = reasonOf(await settle(parts));
  const settled = await settle({ ...parts, refusedBefore });
  assert.ok(settled?.kind === "accepted");
  assert.deepEqual([settled.final.answer, settled.final.confidence, settled.final.notes.length], [
    "All good",
    "low",
    1,
  ]);
  assert.equal((await settle({ final: finalOf("done"), refusedBefore }))?.kind, "refused");
});

Deno.test("settleFinal() names an answer that is given again though nothing supports it", async () => {
  const parts = { final: finalOf("All good"), executed: executed(FAILED) };
  const refusedBefore = reasonOf(await settle(parts));
  const again = await settle({ ...parts, refusedBefore });
  assert.deepEqual(again, { kind: "refused", reason: refusedBefore, unsupported: "All good" });
  assert.equal((await settle({ ...parts, refusedBefore, supported: true }))?.kind, "accepted");
  const rendered: RenderReport = { ok: false, reason: "{{count}} names no variable" };
  const template = { final: finalOf("{{count}} of 7"), refusedBefore: rendered.reason, supported: true };
  assert.deepEqual(await settle(template, { rendered }), {
    kind: "refused",
    reason: rendered.reason,
    unsupported: "{{count}} of 7",
  });
});

Deno.test("settleFinal() never lets an empty answer through", async () => {
  const final = finalOf("  ");
  const refusedBefore = reasonOf(await settle({ final }));
  assert.equal(reasonOf(await settle({ final, refusedBefore })), refusedBefore);
  assert.match(reasonOf(await settle({ offered: offer("") })), /empty/);
});

const ROWS = { type: "array", items: { type: "integer" } };

Deno.test("settleFinal() with a schema the answer is JSON, and its data is next to it", async () => {
  const expected = {
    kind: "accepted",
    final: { answer: "[\n  1,\n  2\n]", answerType: "text", confidence: "high", notes: [], value: [1, 2] },
  };
  const named = { final: finalOf(" rows "), executed: executed(WORKED) };
  assert.deepEqual(await settle(named, { schema: ROWS, values: { rows: [1, 2] } }), expected);
  assert.deepEqual(await settle({ final: finalOf("[1,2]") }, { schema: ROWS }), expected);
  const rendered: RenderReport = { ok: true, from: "template", text: "[1, 2]" };
  assert.deepEqual(await settle({ final: finalOf("[{{a}}, {{b}}]") }, { schema: ROWS, rendered }), expected);
  const offered = { ...offer("1, 2"), value: new Set([1, 2]), confidence: "high" as const };
  assert.deepEqual(await settle({ offered }, { schema: ROWS }), expected);
});

Deno.test("settleFinal() with a schema never lets a wrong answer through, however often it comes", async () => {
  const first = reasonOf(await settle({ final: finalOf('["x"]') }, { schema: ROWS }));
  assert.equal(first, 'The answer does not fit the schema: /0 must be integer, is "x"');
  const again = await settle({ final: finalOf('["x"]'), refusedBefore: first }, { schema: ROWS });
  assert.equal(reasonOf(again), first);
});

Deno.test("settleFinal() with a schema a failed block refuses once, and a right answer then goes through", async () => {
  const final = finalOf("[1]");
  const reason = reasonOf(await settle({ final, executed: executed(WORKED, FAILED) }, { schema: ROWS }));
  assert.match(reason, /Block 2 failed/);
  const again = await settle({ final, executed: executed(WORKED, FAILED), refusedBefore: reason }, { schema: ROWS });
  assert.deepEqual(again?.kind === "accepted" && [again.final.value, again.final.confidence], [[1], "low"]);
});

Deno.test("settleFinal() with a schema a short word is an answer where the schema has it", async () => {
  assert.equal(answerOf(await settle({ final: finalOf("done") }, { schema: { enum: ["done", "open"] } })), '"done"');
});

Deno.test("settleFinal() with a schema a variable without data is refused by name", async () => {
  const told = { schema: ROWS, values: { rows: undefined } };
  assert.match(reasonOf(await settle({ final: finalOf("rows") }, told)), /not JSON \(cannot write undefined/);
});
