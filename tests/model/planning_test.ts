import assert from "node:assert/strict";
import { join } from "node:path";
import { UsageError } from "../../src/domain/errors.ts";
import { BlockTally } from "../../src/domain/query/host_call.ts";
import type { QueryEvent } from "../../src/domain/query/query_schemas.ts";
import { reviewRequest } from "../../src/domain/query/stored_query.ts";
import { fn, z } from "../../src/extension/mod.ts";
import { sample } from "../extension/_sample.ts";
import fs from "../../extensions/fs/mod.ts";
import rlm from "../../extensions/rlm/mod.ts";
import { startEngine } from "../helpers/engine.ts";
import { final, replyJson } from "../helpers/scripted_provider.ts";
import { withFolder } from "../helpers/with_folder.ts";

const CHANGES = [
  'await fs.writeFile("b.md", "x")',
  'await fs.edit("a.ts", { old: "one", new: "1" })',
  'await fs.remove("a.ts")',
];

Deno.test("a request for a plan reads, changes nothing, and the next request carries it out", async () => {
  await withFolder(async (workspace) => {
    await Deno.writeTextFile(join(workspace, "a.ts"), "one\n");
    await using engine = await startEngine([
      ...CHANGES.map((code) => replyJson(code)),
      replyJson('await fs.readFile("a.ts")'),
      final("1. Rename one"),
      replyJson('await fs.edit("a.ts", { old: "one", new: "1" })'),
      final("It is renamed"),
    ], { extensions: [fs], workspace, settings: { budget: 10 } });
    const ask = (only?: "plan" | "review") =>
      engine.conversations.ask(engine.branch, "Rename it", {
        signal: new AbortController().signal,
        emit: () => {},
        only,
      });
    assert.equal((await ask("plan")).answer, "1. Rename one");
    for (const at of CHANGES.keys()) {
      assert.match(engine.context(at + 1), /Cannot call fs\.\w+: this request only reads/);
    }
    assert.match(engine.context(4), /one/);
    assert.equal(await Deno.readTextFile(join(workspace, "a.ts")), "one\n");
    assert.match(engine.provider.requests[0]?.texts[0] ?? "", /Make a plan, and change nothing/);
    assert.equal((await ask()).answer, "It is renamed");
    assert.equal(await Deno.readTextFile(join(workspace, "a.ts")), "1\n");
    assert.doesNotMatch(engine.provider.requests.at(-1)?.texts[0] ?? "", /Make a plan/);
  });
});

Deno.test("a function that decides by its arguments may be called for a plan with the arguments that only read", async () => {
  const tags = sample({
    namespace: "test.tags",
    symbols: [
      fn("tag", (_env, name?: string) => name ?? "all tags", {
        doc: "Lists tags; with a name makes one.",
        reads: (name?: string) => name === undefined,
        action: (name?: string) =>
          name === undefined
            ? { doing: "listing tags", done: "listed tags", things: "times", named: 0 }
            : { doing: "making", done: "made", things: "tags" },
        args: z.tuple([z.string().optional().describe("name")]),
        returns: "string",
      }),
    ],
  });
  await using engine = await startEngine([
    replyJson("await tags.tag()"),
    replyJson('await tags.tag("v1")'),
    final("Tag v1"),
    replyJson("await tags.tag()"),
    final("There is one tag"),
  ], { extensions: [tags], settings: { budget: 10 } });
  const told: string[] = [];
  const signal = new AbortController().signal;
  const emit = (event: QueryEvent) =>
    event.type === "host_call" && event.phase === "end" && told.push(BlockTally.of([event]).text);
  await engine.conversations.ask(engine.branch, "Tag it", { signal, emit, only: "plan" });
  assert.match(engine.context(1), /all tags/);
  assert.match(engine.context(2), /Cannot call tags\.tag: this request only reads/);
  assert.match(told[0] ?? "", /^listed tags/);
  const { work } = await engine.conversations.ask(engine.branch, "List them", { signal, emit });
  assert.equal(work?.text, "");
});

Deno.test("a request for a review changes nothing and asks for findings", async () => {
  await withFolder(async (workspace) => {
    await using engine = await startEngine([
      replyJson('await fs.writeFile("b.md", "x")'),
      final("b.ts:3 loses the last line"),
    ], { extensions: [fs], workspace });
    const options = { signal: new AbortController().signal, emit: () => {}, only: "review" as const };
    const { answer } = await engine.conversations.ask(engine.branch, "Review the commit HEAD.", options);
    assert.equal(answer, "b.ts:3 loses the last line");
    assert.match(engine.provider.requests[0]?.texts[0] ?? "", /Review, and change nothing/);
    assert.match(engine.context(1), /Cannot call fs\.writeFile: this request only reads/);
    await assert.rejects(Deno.stat(join(workspace, "b.md")));
  });
});

Deno.test("the first call of a review has the changes, a retry reads them again, and a long diff has a limit", async () => {
  const lines = (count: number) => Array.from({ length: count }, (_, n) => `+line ${n}\n`).join("");
  const read: string[] = [];
  let diff = "a.ts | 1 +\n+one\n";
  await using engine = await startEngine([
    final("a.ts:1 high"),
    final("a.ts:1 low"),
    replyJson("context.endsWith('+line 9999\\n')"),
    final("long"),
    final("own"),
    final("other"),
  ], {
    readChanges: (workspace, { kind, name }) => {
      read.push(`${workspace} ${kind} ${name}`);
      return Promise.resolve(diff);
    },
  });
  const options = { signal: new AbortController().signal, emit: () => {}, only: "review" as const };
  const text = "Review the commit HEAD.\n\nsecurity only";
  const first = await engine.conversations.ask(engine.branch, text, options);
  const shown = (call: number): string => engine.provider.requests[call]?.texts[1] ?? "";
  assert.match(shown(0), /^Review the commit HEAD\.\n\nsecurity only\n\n\[The variable context holds the changes/);
  assert.match(shown(0), /: string of 16 characters\. All of it:\]\n<input>\na\.ts \| 1 \+\n\+one\n\n<\/input>/);
  assert.deepEqual(read, [`${engine.branch.workspace} commit HEAD`]);
  diff = "a.ts | 1 +\n+two\n";
  await engine.conversations.retry(first.queryId, options);
  assert.match(shown(1), /\n\+two\n/);
  diff = lines(10_000);
  await engine.conversations.ask(engine.branch, text, options);
  assert.match(
    shown(2),
    /Its first (\d+) characters; read the rest of the variable in code with context\.slice\(\1\):\]/,
  );
  assert.ok(shown(2).length < 17_000 && shown(2).includes("+line 1000\n"));
  assert.equal(shown(3), shown(2));
  assert.match(engine.context(3), /true/);
  const context = { label: "a.log", json: false, pieces: ReadableStream.from([new TextEncoder().encode("x")]) };
  await engine.conversations.ask(engine.branch, text, { ...options, context });
  assert.ok(!shown(4).includes("+line 1\n") && shown(4).includes("a.log"));
  await engine.conversations.ask(engine.branch, "Review a.ts", options);
  assert.equal(shown(5), "Review a.ts");
});

Deno.test("a review of an unknown target fails before anything is sent or stored, and a target gets the name of git", async () => {
  await using engine = await startEngine([final("a.ts:1 high")], {
    targetOf: (_, name) =>
      name === "nosuch"
        ? Promise.reject(new UsageError("Cannot review nosuch: unknown"))
        : Promise.resolve(`heads/${name}`),
  });
  const options = { signal: new AbortController().signal, emit: () => {}, only: "review" as const };
  const target = { channel: "test", workspace: engine.branch.workspace };
  for (const at of [target, engine.branch]) {
    await assert.rejects(engine.conversations.ask(at, reviewRequest("nosuch"), options), UsageError);
  }
  await assert.rejects(engine.conversations.preview(reviewRequest("nosuch"), target, { only: "review" }), UsageError);
  assert.equal(engine.provider.requests.length, 0);
  assert.equal((await engine.conversations.list({ limit: 9 })).length, 1);
  assert.equal((await engine.conversations.queries(engine.branch)).length, 0);
  await engine.conversations.ask(engine.branch, reviewRequest("20261130", "security only"), options);
  const [{ text } = { text: "" }] = await engine.conversations.queries(engine.branch);
  assert.equal(text, reviewRequest("heads/20261130", "security only"));
});

Deno.test("child queries and repetitions of a request for a plan change nothing either", async () => {
  await withFolder(async (workspace) => {
    const change = replyJson('await fs.writeFile("b.md", "x")');
    await using engine = await startEngine([
      replyJson('(await rlm.run("Write b.md")).answer'),
      change,
      final("I could not"),
      final("The plan"),
      change,
      final("The plan again"),
    ], { extensions: [fs, rlm], workspace, settings: { budget: 10 } });
    const options = { signal: new AbortController().signal, emit: () => {} };
    const first = await engine.conversations.ask(engine.branch, "Write it", { ...options, only: "plan" as const });
    assert.equal(first.answer, "The plan");
    assert.match(engine.context(2), /Cannot call fs\.writeFile: this request only reads/);
    assert.equal((await engine.conversations.retry(first.queryId, options)).answer, "The plan again");
    assert.match(engine.context(5), /Cannot call fs\.writeFile: this request only reads/);
    await assert.rejects(Deno.stat(join(workspace, "b.md")));
  });
});
