import assert from "node:assert/strict";
import { type BlockResult, blockResult, failedBlock } from "../../../src/domain/query/block_result.ts";
import { Cancelled, ProviderError } from "../../../src/domain/errors.ts";
import type { ContextParts } from "../../../src/prompt/context/context_parts.ts";
import { describeReply, replySchema } from "../../helpers/reply_schema.ts";
import { renderContext } from "../../../src/prompt/context/render_context.ts";
import { demoProvider } from "../../../src/providers/demo/demo.ts";
import { POLICIES } from "../../../src/providers/demo/policies/policies.ts";
import { UNKNOWN_MODEL } from "../../../src/providers/provider.ts";
import { NO_CONTEXT } from "../../helpers/no_context.ts";

interface Reply {
  readonly thinking?: string | undefined;
  readonly code: readonly string[];
  readonly final: string | undefined;
}

async function ask(request: string, fields: Partial<ContextParts> = {}): Promise<Reply> {
  const messages = ["system", request, describeReply(), renderContext({ ...NO_CONTEXT, ...fields })];
  let text = "";
  const events = demoProvider().stream({
    messages: messages.map((text, at) => ({ role: at === 0 ? "system" : "user", text })),
    model: "scripted",
    reasoning: "balanced",
    signal: new AbortController().signal,
  });
  for await (const event of events) if (event.type === "text") text += event.delta;
  const { thinking, code, final } = replySchema.parse(JSON.parse(text));
  return { thinking, code: (code ?? []).map(({ expr }) => expr), final: final?.answer };
}

function ran(code: string, preview: string, fields: Partial<BlockResult> = {}) {
  return { code, result: blockResult({ ok: true, outcome: "value", preview, type: "string", ...fields }) };
}

function broke(code: string, message: string) {
  return { code, result: failedBlock("error", { name: "TypeError", message }) };
}

async function stuckOn(request: string, fields: Partial<ContextParts>, says: RegExp): Promise<void> {
  await assert.rejects(ask(request, fields), (error) => {
    assert.ok(error instanceof ProviderError);
    assert.match(error.message, /^Cannot continue the demo: /);
    assert.match(error.message, says);
    assert.equal(error.retryable, false);
    return true;
  });
}

const COUNT = "Which files here mention TODO, and how often?";
const MEAN = "What is the mean of the amounts in data/sales.csv?";
const DEFINE = "Define a function that formats cents as euros, and show 123456 cents with it.";
const REUSE = "Use the function from before: what is 98765 cents in euros?";
const EDIT = "In src/discount.ts the rate must be 0.85 instead of 0.9: edit it and show the diff.";

Deno.test("demoProvider() says what it is and what it can do", async () => {
  const provider = demoProvider();
  assert.equal(provider.name, "demo");
  assert.equal(provider.defaultModel, "scripted");
  assert.deepEqual(await provider.models({ signal: new AbortController().signal }), ["scripted"]);
  assert.deepEqual({ ...provider.capabilities("scripted"), price: null }, UNKNOWN_MODEL);
  const { final } = await ask("Write a poem");
  assert.match(final ?? "", /^This is the demo: it plays scripted replies and is not a model\. [^]*vis auth login/);
  for (const { example } of POLICIES) assert.ok(final?.includes(example));
});

Deno.test("demoProvider() gives each example to the policy that it is of", () => {
  for (const policy of POLICIES) {
    assert.equal(POLICIES.find(({ takes }) => takes.test(policy.example)), policy, policy.example);
  }
});

Deno.test("demoProvider() is cancelled before and during a reply", async () => {
  const abort = new AbortController();
  const request = { model: "scripted", reasoning: "quick", signal: abort.signal } as const;
  const messages = ["s", COUNT, "f", renderContext(NO_CONTEXT)].map((text) => ({ role: "user" as const, text }));
  await assert.rejects(async () => {
    for await (const _event of demoProvider().stream({ ...request, messages })) abort.abort();
  }, Cancelled);
  await assert.rejects(demoProvider().stream({ ...request, messages })[Symbol.asyncIterator]().next(), Cancelled);
  await assert.rejects(demoProvider().models({ signal: abort.signal }), Cancelled);
});

Deno.test("the count policy searches in one block, then answers from the journal and the index", async () => {
  const first = await ask(COUNT);
  assert.equal(first.code.length, 1);
  assert.match(first.code[0] ?? "", /fs\.grep\("TODO"/);
  assert.equal(first.final, undefined);

  const preview = '[{ path: "a.ts", count: 2 }, { path: "b.ts", count: 1 }]';
  const journal = [ran(first.code[0] ?? "", preview, { type: "Array", size: 2 })];
  const index = "const mentions: Array(2) of {path,count}  // v1";
  const second = await ask(COUNT, { iteration: 2, journal, journalIteration: 1, index });
  assert.deepEqual(second.code, []);
  assert.match(second.final ?? "", /\{\{total\}\} times in \{\{mentions\.length\}\} files/);

  await stuckOn(COUNT, { journal, index: "" }, /<var_index> does not show the variable mentions/);
  await stuckOn(COUNT, { journal, index: "const mentions: Array(9) of {path,count}  // v1" }, /2 files.*Array\(9\)/);
  await stuckOn(COUNT, { journal: [ran("x", "ok")], index }, /does not show the files/);
  await stuckOn(COUNT, { journal: [broke("x", "no")], index }, /shows a failed block/);
  assert.match((await ask(COUNT, { journal: [ran("x", "[]")] })).final ?? "", /No file mentions TODO/);
});

Deno.test("the mean policy errs, reads its error and mends it with what it has", async () => {
  const first = await ask(MEAN);
  assert.equal(first.code.length, 2);
  assert.match(first.code[1] ?? "", /row\.amount\.trim/);
  const failed = broke(first.code[1] ?? "", "Cannot read properties of undefined (reading 'trim')");
  const journal = [ran(first.code[0] ?? "", "5"), failed];
  const index = "const rows: Array(5) of Array(2)  // v1\nconst header: Array(2)  // v1";
  const second = await ask(MEAN, { iteration: 2, journal, index });
  assert.match(second.code[0] ?? "", /header\.indexOf\("amount"\)/);
  assert.doesNotMatch(second.code[0] ?? "", /readFile/);
  assert.match(second.final ?? "", /\{\{mean\}\}/);

  await stuckOn(MEAN, { journal: [ran("x", "5")], index }, /does not show the error/);
  await stuckOn(MEAN, { journal: [broke("x", "boom")], index }, /shows another error/);
  await stuckOn(MEAN, { journal, index: "const rows: Array(5)  // v1" }, /lost header/);
});

Deno.test("the function policies define once and find it again in the index", async () => {
  const first = await ask(DEFINE);
  assert.match(first.code[0] ?? "", /^\/\/ Formats cents as euros\nfunction euros/);
  const shown = await ask(DEFINE, { journal: [ran(first.code[0] ?? "", '"€1,234.56"')] });
  assert.match(shown.final ?? "", /\{\{shown\}\}/);
  await stuckOn(DEFINE, { journal: [ran("x", "1")] }, /does not show an amount/);

  const handover = { request: DEFINE, thinkings: ["A function stays"], answer: "€1,234.56" };
  const index = "function euros(cents) …  // v1 Formats cents as euros";
  assert.match((await ask(REUSE, { handover, index })).code[0] ?? "", /euros\(98765\)/);
  const renamed = "function money(cents) …  // v1 Formats cents as euros";
  assert.match((await ask(REUSE, { handover, index: renamed })).code[0] ?? "", /money\(98765\)/);
  await stuckOn(REUSE, { handover, index: "" }, /<var_index> shows no function/);
  await stuckOn(REUSE, { handover: null, index }, /<handover> does not tell/);
  const later = await ask(REUSE, { journal: [ran("euros(98765)", '"€987.65"')], index });
  assert.match(later.final ?? "", /\{\{later\}\}/);
});

Deno.test("the edit policy looks first, replaces what it saw and shows the diff", async () => {
  assert.match((await ask(EDIT)).code[0] ?? "", /fs\.readFile\("src\/discount\.ts"\)/);
  const journal = [ran("look", '"  return Math.floor(total(prices) * 0.9);"')];
  const { code: [edit = ""] } = await ask(EDIT, { journal });
  const change = { old: "Math.floor(total(prices) * 0.9", new: "Math.floor(total(prices) * 0.85" };
  assert.equal(edit, `const change = await fs.edit("src/discount.ts", ${JSON.stringify(change)})\nchange.diff`);
  const diff = "- return Math.floor(total(prices) * 0.9);\n+ return Math.floor(total(prices) * 0.85);";
  assert.match((await ask(EDIT, { journal: [ran(edit, diff)] })).final ?? "", /\{\{change\.diff\}\}/);
  await stuckOn(EDIT, { journal: [ran(edit, "ok")] }, /does not show the new line/);
  await stuckOn(EDIT, { journal: [ran("look", '"nothing"')] }, /does not show 0\.9/);
});
