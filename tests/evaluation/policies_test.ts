import assert from "node:assert/strict";
import { ProviderError } from "../../src/domain/errors.ts";
import { blockResult } from "../../src/domain/query/host_call.ts";
import { type ContextParts, renderContext } from "../../src/prompt/context_message.ts";
import { evalReply } from "../helpers/evaluation/eval_reply.ts";
import { NO_CONTEXT } from "../helpers/no_context.ts";
import { replySchema } from "../helpers/reply_schema.ts";

const READ = "Read 12 files named files/#.txt, one per iteration.";
const AT_ONCE = "Read 12 files named files/#.txt, all in one block.";
const GROW = "Make 30 texts of 4096 bytes, one per iteration, and keep a list of their numbers.";

function played(
  request: string,
  fields: Partial<ContextParts> = {},
): { readonly code: string[]; readonly final: string } {
  const reply = evalReply(["system", request, "format", renderContext({ ...NO_CONTEXT, ...fields })]);
  const { code, final } = replySchema.parse(JSON.parse(reply));
  return { code: (code ?? []).map(({ expr }) => expr), final: final?.answer ?? "" };
}

function ran(code: string, preview: string) {
  return { code, result: blockResult({ ok: true, outcome: "value", preview, type: "string" }) };
}

function assertStuck(request: string, fields: Partial<ContextParts>, says: RegExp): void {
  assert.throws(() => played(request, fields), (error) => error instanceof ProviderError && says.test(error.message));
}

Deno.test("the reading policy takes the next file and asks for iterations when they run short", () => {
  assert.match(played(READ).code.at(-1) ?? "", /const file1 = await fs\.readFile\("files\/1\.txt"\)\nfile1$/);
  const journal = [ran('const file9 = await fs.readFile("files/9.txt")\nfile9', "text")];
  const index = "const file1 … file9: string(4096) ×9  // v1";
  const plenty = played(READ, { iteration: 10, budget: 40, journal, index });
  assert.deepEqual(plenty.code, ['const file10 = await fs.readFile("files/10.txt")\nfile10']);
  const nudges = ["[system_nudge] Iterations left after this one: 2. Finish now, or call requestMoreIterations(n)."];
  const short = played(READ, { iteration: 10, budget: 12, journal, index, nudges });
  assert.deepEqual(short.code[0], "await requestMoreIterations(2)");
  const done = played(READ, {
    journal: [ran("const file12 = 1", "text")],
    index: "const file1 … file12: string(4096) ×12  // v1",
  });
  assert.match(done.final, /Read 12 files/);
  assertStuck(READ, { journal, index: "const file9: string(4096)  // v1" }, /shows 1 of 9 files/);
  assertStuck(READ, { journal: [ran("const file8 = 1", "text")], index }, /does not show file9/);
});

Deno.test("the other benchmark policies follow the journal", () => {
  assert.match(played(AT_ONCE).code[0] ?? "", /length: 12/);
  assert.match(played(AT_ONCE, { journal: [ran("x", "49152")] }).final, /Read 12 files/);
  assertStuck(AT_ONCE, { journal: [ran("x", "ok")] }, /number of characters/);

  assert.match(played(GROW).code.at(-1) ?? "", /const made: number\[\] = \[\]\nconst text1 = .*4096/);
  const index = "const made: Array(7) of number  // v7";
  assert.match(played(GROW, { budget: 40, journal: [ran("x", "7")], index }).code[0] ?? "", /^const text8/);
  assert.match(played(GROW, { journal: [ran("x", "30")], index }).final, /made\.length/);
  assertStuck(GROW, { journal: [ran("x", "7")], index: "" }, /does not show the list/);
  assertStuck(GROW, { journal: [ran("x", "text")], index }, /length of the list/);
});
