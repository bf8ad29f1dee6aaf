import assert from "node:assert/strict";
import fs from "../../extensions/fs/mod.ts";
import rlm from "../../extensions/rlm/mod.ts";
import { madeText } from "../helpers/archive_of.ts";
import { UsageError } from "../../src/domain/errors.ts";
import { startEngine } from "../helpers/engine.ts";
import { final, replyJson } from "../helpers/scripted_provider.ts";
import { withFolder } from "../helpers/with_folder.ts";

const OPTIONS = { signal: new AbortController().signal, emit: () => {} };

Deno.test("Conversations.fork() continues from any iteration with the variables of that moment, and the first branch stays", async () => {
  await using engine = await startEngine([
    replyJson("const list = [1]; let n = 1"),
    replyJson("list.push(2); n = 2; function twice(x: number) { return 2 * x * n }", { final: "first: {{n}}" }),
    replyJson("n = 10", { final: "second" }),
    replyJson("`${list.length} ${n} ${twice(1)}`", { final: "forked at the end of the first" }),
    replyJson("list.push(9); const seen = `${list.join()} ${n} ${typeof twice}`", { final: "{{seen}}" }),
    replyJson("const now = `${list.join()} ${n} ${twice(1)}`", { final: "{{now}}" }),
  ]);
  const { conversations, branch } = engine;
  const first = await engine.ask("first");
  await engine.ask("second");
  const end = await conversations.fork({ queryId: first.queryId, position: null });
  const result = await conversations.ask(end, "a", OPTIONS);
  const [iteration] = await conversations.iterations(result.queryId);
  assert.equal(iteration?.blocks[0]?.result.preview, '"2 2 4"');
  const early = await conversations.fork({ queryId: first.queryId, position: 0 });
  assert.equal((await conversations.ask(early, "b", OPTIONS)).answer, "1,9 1 undefined");
  assert.equal((await engine.ask("c")).answer, "1,2 10 20");
  assert.equal((await conversations.branches(branch.conversationId)).length, 3);
  assert.deepEqual((await conversations.queries(early)).map(({ text }) => text), ["first", "b"]);
});

Deno.test("Conversations.more() continues a request that stopped at its step limit, with its options", async () => {
  const schema = { type: "object", required: ["n"] };
  await using engine = await startEngine([
    replyJson("let n = 1"),
    final('{"n":1}'),
    replyJson("n += 10; n"),
    final('{"n":{{n}}}'),
    final("Done"),
  ]);
  const { conversations, branch } = engine;
  await assert.rejects(
    () => conversations.more(branch, OPTIONS),
    /Cannot continue the conversation: it has no request yet; send one first/,
  );
  const asked = { ...OPTIONS, instructions: "Be brief", responseSchema: schema, maxIterations: 1 };
  const stopped = await conversations.ask(branch, "count", asked);
  assert.equal(stopped.reason, "max_iterations");
  const done = await conversations.more(branch, OPTIONS);
  assert.deepEqual([done.reason, done.value], ["answered", { n: 11 }]);
  const first = engine.provider.requests[2];
  assert.match(first?.context ?? "", /^\[iter 1\/10\]/);
  const messages = JSON.stringify(first);
  assert.match(
    messages,
    /Continue this request, which stopped at its step limit; all variables are kept:.{0,8}count/,
  );
  assert.match(messages, /Be brief/);
  await assert.rejects(
    () => conversations.more(branch, OPTIONS),
    /: it did not stop at its step limit \(answered\); send a new request$/,
  );
});

Deno.test("Conversations.more() does not let a plan change anything, and names the first request once", async () => {
  await using engine = await startEngine([
    ...[replyJson("1"), final("half")],
    ...Array.from({ length: 10 }, (_, at) => replyJson(`${at} * 2`)),
    ...[final("more than half"), final("The plan")],
  ]);
  const { conversations, branch, store } = engine;
  await conversations.ask(branch, "plan it", { ...OPTIONS, only: "plan" as const, maxIterations: 1 });
  assert.equal((await conversations.more(branch, OPTIONS)).reason, "max_iterations");
  const last = await conversations.more(branch, OPTIONS);
  assert.equal(last.answer, "The plan");
  assert.match((await store.queryExtras(last.queryId)).instructions ?? "", /change nothing/);
  const [, second, third] = await conversations.queries(branch);
  assert.equal(second?.text, third?.text);
});

Deno.test("Conversations.retry() runs the last query again from the state before it", async () => {
  await using engine = await startEngine([
    replyJson("let n = 1", { final: "one" }),
    replyJson("n += 10; const stray = true", { final: "eleven: {{n}}" }),
    replyJson("n += 100; const before = typeof stray", { final: "{{n}} {{before}}" }),
    replyJson("n += 1", { final: "after: {{n}}" }),
  ]);
  const { conversations, branch } = engine;
  await engine.ask("first");
  const second = await engine.ask("second");
  assert.equal(second.answer, "eleven: 11");
  const again = await conversations.retry(second.queryId, OPTIONS);
  assert.equal(again.answer, "101 undefined");
  assert.equal((await engine.ask("third")).answer, "after: 102");
  const queries = await conversations.queries(branch);
  assert.deepEqual(queries.map(({ text, answer }) => [text, answer]), [
    ["first", "one"],
    ["second", "101 undefined"],
    ["third", "after: 102"],
  ]);
  assert.equal((await conversations.iterations(second.queryId)).length, 1);
  const names = (await conversations.stored.variables(branch.branchId)).map(({ name }) => name);
  assert.ok(names.includes("before") && !names.includes("stray"), names.join());
});

Deno.test("Conversations.retry() of a query that others follow runs it in a fork", async () => {
  await using engine = await startEngine([
    replyJson("let n = 1", { final: "one" }),
    replyJson("n = 2", { final: "two" }),
    replyJson("const fresh = typeof n", { final: "{{fresh}}" }),
  ]);
  const { conversations, branch } = engine;
  const first = await engine.ask("first");
  await engine.ask("second");
  assert.equal((await conversations.retry(first.queryId, OPTIONS)).answer, "undefined");
  assert.deepEqual((await conversations.queries(branch)).map(({ answer }) => answer), ["one", "two"]);
  await assert.rejects(conversations.retry("00000000-unknown", OPTIONS), UsageError);
});

async function* utf8Pieces(text: string): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(new TextEncoder().encode(text));
}

Deno.test("Conversations.retry() passes the input of the previous run, described in the same words", async () => {
  const large = "a line of it\n".repeat(100_000);
  await using engine = await startEngine([
    replyJson("const n = context.length + big.length + table.rows.length", { final: "{{n}}" }),
    replyJson("const n = context.length + big.length + table.rows.length", { final: "again {{n}}" }),
    replyJson("const other = context", { final: "later {{other}}" }),
    replyJson("const n = context.length + big.length + table.rows.length", { final: "forked {{n}}" }),
  ]);
  const { conversations, branch, provider } = engine;
  const first = await conversations.ask(branch, "count", {
    ...OPTIONS,
    context: { label: "stdin", json: false, pieces: utf8Pieces("words") },
    variables: {
      big: { label: "big.txt", json: false, pieces: utf8Pieces(large) },
      table: { label: "table.json", json: true, pieces: utf8Pieces('{"rows":[1,2]}') },
    },
  });
  const total = 5 + large.length + 2;
  const again = await conversations.retry(first.queryId, OPTIONS);
  assert.deepEqual([first.answer, again.answer], [`${total}`, `again ${total}`]);
  const told = (call: number) => provider.requests[call]?.texts[1]?.match(/\[The variable .*\]$/gm);
  assert.equal(told(0)?.length, 3);
  assert.deepEqual(told(1), told(0));
  const versions = await engine.store.variableVersions(branch.branchId, "context");
  assert.deepEqual(versions.map(({ image }) => image.kind), ["data"]);
  await conversations.ask(branch, "later", OPTIONS);
  const forked = await conversations.retry(again.queryId, OPTIONS);
  assert.equal(forked.answer, `forked ${total}`);
});

Deno.test("a fork in the middle of a query shows the usage up to that point, and none that came later", async () => {
  const usage = { input: 100, output: 10 };
  await withFolder(async (workspace) => {
    await using engine = await startEngine([
      { text: replyJson('await fs.writeFile("a.txt", "a\\n"); const one = await rlm.ask("sub")'), usage },
      { text: "sub answer", usage: { input: 7, output: 3 } },
      { text: replyJson('await fs.writeFile("b.txt", "b\\n")'), usage },
      { text: replyJson([], { final: "All is written: {{one}}" }), usage },
    ], { workspace, extensions: [fs, rlm] });
    const { conversations, branch } = engine;
    const whole = await engine.ask("write");
    assert.deepEqual([whole.usage.input, whole.usage.output, whole.usage.calls], [307, 33, 4]);
    const cut = await conversations.fork({ queryId: whole.queryId, position: 0 });
    const [query] = await conversations.queries(cut);
    assert.ok(query);
    const { status, reason, answer, iterations, usage: used, notes, ms, forkedAt = 0 } = query;
    assert.deepEqual([status, reason, answer, iterations], ["interrupted", "forked", "", 1]);
    assert.deepEqual([used.input, used.output, used.calls], [107, 13, 2]);
    assert.deepEqual(notes, ["Forked after step 1", "1 file changed +1 −0 (a.txt)"]);
    assert.ok(ms <= whole.ms, `${ms} of ${whole.ms} ms`);
    const stored = await conversations.iterations(query.queryId);
    assert.equal(forkedAt, stored[1]?.createdAt);
    const page = await madeText(cut, { conversations, format: "md" });
    assert.match(page, /forked here · 1 step · .* · 107 in \+ 13 out tokens/);
    assert.doesNotMatch(page, /b\.txt|All is written/);
    assert.equal((await conversations.queries(branch))[0]?.usage.input, 307);
    // The fork at the end of a conversation loses no part of it.
    const end = await conversations.fork({ queryId: whole.queryId, position: null });
    assert.deepEqual(await conversations.queries(end), await conversations.queries(branch));
  });
});

Deno.test("in a fork in the middle of a query, the model sees the code up to that point", async () => {
  await using engine = await startEngine([
    replyJson("const one = 1"),
    replyJson("const two = 2", { final: "It is {{two}}" }),
    replyJson("const code = (await conversationCode()).map(({ code }) => code).join()", { final: "Code: {{code}}" }),
  ]);
  const { conversations } = engine;
  const { queryId } = await engine.ask("first");
  const fork = await conversations.fork({ queryId, position: 0 });
  assert.equal((await conversations.ask(fork, "which code?", OPTIONS)).answer, "Code: const one = 1");
});
