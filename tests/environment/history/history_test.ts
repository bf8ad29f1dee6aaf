import assert from "node:assert/strict";
import { dataImage } from "../_fakes.ts";
import { findVersion, valueOf } from "../../../src/environment/conversation_history.ts";
import { encode } from "../../../src/sandbox/codec/codec.ts";
import { startEngine } from "../../helpers/engine.ts";
import { replyJson } from "../../helpers/scripted_provider.ts";

Deno.test("valueOf() returns data, the source of functions and classes, and null for lost values", () => {
  const base = dataImage("a", { n: [1, 2n] });
  assert.deepEqual(valueOf(base), { n: [1, 2n] });
  const source = "function f() {}";
  for (const kind of ["function", "class"] as const) {
    assert.equal(valueOf({ ...base, kind, source, bytes: new Uint8Array() }), source);
  }
  for (const kind of ["lost", "pending"] as const) assert.equal(valueOf({ ...base, kind }), null);
  assert.equal(valueOf({ ...base, name: "$answer", source: "text", bytes: new Uint8Array() }), "text");
});

Deno.test("valueOf() finds the part of a table that two variables share, by own data alone", () => {
  const bytes = encode({ a: [1], b: [2] }, { maxBytes: 1 << 20 });
  assert.deepEqual(valueOf({ ...dataImage("x", 0), bytes, root: "b" }), [2]);
  for (const root of ["c", "toString", "__proto__"]) {
    assert.equal(valueOf({ ...dataImage("x", 0), bytes, root }), undefined);
  }
});

Deno.test("findVersion() finds a version, or lists the existing ones", () => {
  const versions = [1, 2].map((version) => ({ version, image: dataImage("a", version), code: "", createdAt: 0 }));
  const find = (name: string, version: number | null): number =>
    findVersion(versions, { name, version, symbol: "restoreVar" }).version;
  assert.deepEqual([find("a", null), find("a", 1)], [2, 1]);
  assert.throws(() => find("a", 3), /Cannot find a v3: it has versions 1 to 2/);
  assert.throws(
    () => findVersion([], { name: "b", version: null, symbol: "varDiff" }),
    /Cannot find b: no earlier step stored a variable with this name/,
  );
  assert.throws(() => find("$reasoning", 1), /Cannot restore \$reasoning: it is a system variable/);
});

Deno.test("varHistory(), varDiff() and conversation functions show the stored data", async () => {
  await using engine = await startEngine([
    replyJson("let rows = ['a', 'b']", { thinking: "first" }),
    replyJson("rows = ['a', 'c']", { thinking: "second" }),
    replyJson([], { thinking: "third", final: "The first answer" }),
    replyJson([
      "const history = (await varHistory('rows')).map(({ version, value, code }) => [version, value, code])",
      "const diff = await varDiff('rows', 1, 2)",
      "const thoughts = (await varHistory('$reasoning')).map(({ value }) => value)",
      "const past = (await conversationHistory()).map(({ request, answer, status }) => [request, answer, status])",
      "const code = (await conversationCode()).map(({ iteration, code, ok }) => [iteration, code, ok])",
      "await answer({ history, diff, thoughts, past, code })",
    ], { thinking: "fourth" }),
  ]);
  await engine.ask("make rows");
  const { answer, status } = await engine.ask("show them");
  assert.equal(status, "done", engine.context(4));
  const shown = JSON.parse(answer);
  assert.deepEqual(shown.history, [[1, ["a", "b"], "let rows = ['a', 'b']"], [2, ["a", "c"], "rows = ['a', 'c']"]]);
  assert.equal(shown.diff, 'rows v1 → v2: 1 change\n~ [1]: "b" → "c"');
  assert.deepEqual(shown.thoughts, ["first", "second", "third"]);
  assert.deepEqual(shown.past, [["make rows", "The first answer", "done"]]);
  assert.deepEqual(shown.code, [[1, "let rows = ['a', 'b']", true], [2, "rows = ['a', 'c']", true]]);
});

Deno.test("conversationCode() refuses a query of another conversation", async () => {
  await using engine = await startEngine([replyJson("1", { final: "Yes it is" })]);
  const { queryId } = await engine.ask("x");
  const other = await engine.conversations.create({ title: "o", channel: "test", workspace: "/other" });
  engine.provider.push(replyJson(`await conversationCode("${queryId}")`), replyJson([], { final: "Yes it is" }));
  await engine.conversations.ask(other, "peek", { signal: new AbortController().signal, emit: () => {} });
  assert.match(
    engine.context(2),
    /Cannot find the blocks: no request of this branch has the id .*; conversationHistory\(\) lists the ids/,
  );
});
