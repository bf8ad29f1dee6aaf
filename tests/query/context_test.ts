import assert from "node:assert/strict";
import { join } from "node:path";
import rlm from "../../extensions/rlm/mod.ts";
import type { QueryResult } from "../../src/domain/query/query_schemas.ts";
import type { VariableSource } from "../../src/environment/input_variables.ts";
import { type Engine, startEngine } from "../helpers/engine.ts";
import { oracleProvider } from "../helpers/oracle_provider.ts";
import { replyJson } from "../helpers/scripted_provider.ts";

const NEEDLE = "the code is 7319";

function source(text: string | Uint8Array, { json = false } = {}): VariableSource {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  return {
    label: json ? "data.json" : "hay.txt",
    json,
    pieces: async function* () {
      for (let at = 0; at < bytes.length; at += 70_001) yield await Promise.resolve(bytes.subarray(at, at + 70_001));
    }(),
  };
}

function hay(chars: number): string {
  const line = "äh, some hay and — more 😀 of it\n";
  const text = line.repeat(Math.ceil(chars / line.length)).slice(0, chars - 100).toWellFormed();
  const middle = Math.floor(text.length / 2 / line.length) * line.length;
  return `${text.slice(0, middle)}${NEEDLE}\n${text.slice(middle)}`;
}

function send(engine: Engine, request: string, context?: VariableSource): Promise<QueryResult> {
  return engine.conversations.ask(engine.branch, request, {
    signal: new AbortController().signal,
    emit: (event) => engine.events.push(event),
    ...(context ? { context } : {}),
  });
}

const find = replyJson("const code = /the code is (\\d+)/.exec(context)?.[1]", { final: "{{code}}" });

Deno.test("a context of any size is a variable that the model sees by type, size and 300 characters", async () => {
  const sizes: number[] = [];
  for (const chars of [8_192, 3 << 20]) {
    const provider = oracleProvider({ iteration: () => find });
    await using engine = await startEngine([], { provider });
    const result = await send(engine, "Which code?", source(hay(chars)));
    assert.equal(result.answer, "7319");
    const [request] = provider.requests;
    assert.match(request!.texts[1]!, /\[The variable context holds hay\.txt: string of \d+ characters\./);
    assert.ok(request!.texts[1]!.length < 600);
    sizes.push(request!.bytes);
  }
  assert.ok(Math.abs(sizes[0]! - sizes[1]!) <= 200, sizes.join());
});

Deno.test("a small context is in every call, whole and exact, in the prefix; several are as long as they fit", async () => {
  const text = "name\ttotal\r\n<journal> a    b\u001b\n</input>\n".repeat(100);
  const provider = oracleProvider({
    iteration: ({ number }) => number === 1 ? replyJson("1") : replyJson([], { final: "It is over." }),
  });
  await using engine = await startEngine([], { provider });
  await send(engine, "Which?", source(text));
  const shown = text.replaceAll("\r", "\\r").replaceAll("\u001b", "\\u001b");
  const [first = "", second] = provider.requests.map(({ texts }) => texts[1]);
  assert.ok(first.includes(`All of it:]\n<input~1>\n${shown}\n</input~1>`), first);
  assert.match(first, /characters of input that cannot be seen are escaped, such as \\u001b: 200/);
  assert.equal(second, first);
  await send(engine, "Which JSON?", source('{"a":  [1]}', { json: true }));
  assert.ok(provider.requests.at(-1)?.texts[1]?.includes('from JSON. All of it:]\n<input>\n{"a":  [1]}\n</input>'));
});

Deno.test("a large context is restored after a restart, when a block or a function of it names it", async () => {
  const folder = await Deno.makeTempDir({ prefix: "vis-context-" });
  try {
    const path = join(folder, "vis.db");
    const text = hay(1 << 20);
    {
      const provider = oracleProvider({
        iteration: ({ number }) => number === 1 ? replyJson("1") : replyJson("", { final: "later" }),
      });
      await using engine = await startEngine([], { provider, path });
      await send(engine, "keep it", source(text));
    }
    {
      const iteration = (): string => replyJson("function size() { return context.length }\n1", { final: "defined" });
      await using engine = await startEngine([], { provider: oracleProvider({ iteration }), path });
      assert.equal((await send(engine, "define")).answer, "defined");
    }
    {
      const provider = oracleProvider({ iteration: () => find });
      await using engine = await startEngine([], { provider, path });
      assert.equal((await send(engine, "in the first block of a process")).answer, "7319");
    }
    {
      const iteration = (): string => replyJson([], { final: "{{context.length}} characters" });
      await using engine = await startEngine([], { provider: oracleProvider({ iteration }), path });
      assert.equal((await send(engine, "in a template alone")).answer, `${text.length} characters`);
    }
    const iteration = (): string => replyJson("const n = size(); answer(n)");
    const provider = oracleProvider({ iteration });
    await using engine = await startEngine([], { provider, path });
    assert.equal((await send(engine, "size?")).answer, String(text.length));
    assert.match(provider.requests[0]!.context, /const context: string\(\d+\) {2}\/\/ from hay\.txt/);
    const heads = await engine.store.variables(engine.branch.branchId);
    assert.equal(heads.find(({ name }) => name === "context")?.versions, 1, "naming it makes no version");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("JSON is a value, and a block's changes of it are kept", async () => {
  const provider = oracleProvider({
    iteration: ({ number }) =>
      number === 1
        ? replyJson("context.push({ id: 3 }); context.length")
        : replyJson("answer(context.map((c) => c.id).join())"),
  });
  await using engine = await startEngine([], { provider });
  const result = await send(engine, "ids", source(JSON.stringify([{ id: 1 }, { id: 2 }]), { json: true }));
  assert.equal(result.answer, "1,2,3");
  assert.match(provider.requests[0]!.texts[1]!, /Array\(2\) of \{id\}, from JSON/);
  const heads = await engine.store.variables(engine.branch.branchId);
  assert.equal(heads.find(({ name }) => name === "context")?.versions, 2);
});

Deno.test("a sub-query gets a large context without it passing through the parent", async () => {
  const text = hay(3 << 20);
  const provider = oracleProvider({
    iteration: ({ asked }) =>
      asked.startsWith("start")
        ? replyJson("const got = await rlm.run('find', { vars: ['context'] })", { final: "{{got}}" })
        : find,
  });
  await using engine = await startEngine([], { provider, extensions: [rlm] });
  assert.equal((await send(engine, "start", source(text))).answer, "7319");
});

Deno.test("a context that is no text is refused before anything runs", async () => {
  await using engine = await startEngine([]);
  const bytes = new Uint8Array(2 << 20).fill(0xff);
  bytes[0] = 0;
  await assert.rejects(send(engine, "x", source(bytes)), {
    name: "UsageError",
    message: /hay\.txt: it contains binary data/,
  });
  await assert.rejects(send(engine, "x", source(bytes.subarray(0, 10))), /it contains binary data/);
  assert.deepEqual(await engine.store.queries(engine.branch.branchId), []);
});

Deno.test("invalid JSON is text; an overwritten context is an ordinary variable", async () => {
  const provider = oracleProvider({
    iteration: ({ number }) => number === 1 ? replyJson("context = context.slice(0, 4)") : replyJson("answer(context)"),
  });
  await using engine = await startEngine([], { provider });
  assert.equal((await send(engine, "x", source("{not json", { json: true }))).answer, "{not");
});

Deno.test("a context that is too large for the sandbox is an error with that reason, and the query continues", async () => {
  const provider = oracleProvider({
    iteration: ({ context }) =>
      context.includes("Cannot load context") ? replyJson("answer('too large')") : replyJson("context.length"),
  });
  await using engine = await startEngine([], { provider, limits: { memoryBytes: 64 << 20 } });
  const text = "ж".repeat(36 << 20);
  const result = await send(engine, "x", source(text));
  assert.equal(result.answer, "too large");
  const [first] = await engine.store.iterations(result.queryId);
  assert.match(
    first?.blocks[0]?.result.error?.message ?? "",
    /^Cannot load context into the sandbox: it ran out of memory; if it lacks memory, raise sandbox\.memoryMiB$/,
  );
});
