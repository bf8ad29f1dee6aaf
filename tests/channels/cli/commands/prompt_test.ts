import assert from "node:assert/strict";
import type { Session } from "../../../../src/channels/channel.ts";
import { runCli } from "../../../../src/channels/cli/cli.ts";
import { readContextArgument } from "../../../../src/channels/cli/commands/run.ts";
import { ConfigError } from "../../../../src/domain/errors.ts";
import type { EnvironmentView } from "../../../../src/extension/spec.ts";
import { reviewRequest } from "../../../../src/domain/query/stored_query.ts";
import { type Engine, startEngine } from "../../../helpers/engine.ts";
import { replyJson } from "../../../helpers/scripted_provider.ts";
import { fakeIo, fakeServices } from "../_fakes.ts";

async function prompt(engine: Engine, ...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const session: Session = {
    conversations: engine.conversations,
    workspace: "/nowhere",
    provider: "scripted",
    model: "script",
    database: ":memory:",
    close: () => Promise.resolve(),
  };
  const io = fakeIo({ args: ["prompt", ...args] });
  const prompts = () => Promise.resolve([{ name: "tidy", text: "Tidy $ARGUMENTS, and test it" }]);
  const code = await runCli(fakeServices({ open: () => Promise.resolve(session), prompts }), io);
  return { code, out: io.out, err: io.err };
}

async function textsOf(engine: Engine, ...args: readonly string[]): Promise<readonly string[]> {
  const { code, out, err } = await prompt(engine, ...args, "--json");
  assert.equal(code, 0, err);
  const { messages } = JSON.parse(out) as { messages: readonly { text: string }[] };
  return messages.map(({ text }) => text);
}

const NOTES = {
  namespace: "test.notes",
  alias: { ns: "vis.ext.notes", alias: "notes" },
  doc: "Notes.",
  version: "0.1.0",
  prompt: "Notes of the project.",
  nudge: () => "Look at the notes.",
};

Deno.test("vis prompt shows exactly the messages of a new conversation's first call, and stores no row", async () => {
  await using engine = await startEngine([replyJson([], { final: "It is 1." })], { extensions: [NOTES] });
  const shown = await textsOf(engine, "count", "to one");
  assert.deepEqual(await engine.store.queries(engine.branch.branchId), []);
  assert.equal((await engine.store.listConversations({ limit: 9 })).length, 1);
  assert.equal(engine.provider.requests.length, 0);
  await engine.ask("count to one");
  assert.deepEqual(shown, engine.provider.requests[0]?.texts);
  assert.match(shown.join("\n"), /Notes of the project[\s\S]*Look at the notes/);
});

Deno.test("vis prompt shows a command in a request, and an input file, as vis run sends them", async () => {
  const cases: [string, string, { only?: "plan" | "review"; input?: string }][] = [
    ["/plan split it", "split it", { only: "plan" }],
    ["/review main only security", reviewRequest("main", "only security"), { only: "review" }],
    ["/tidy a.ts", "Tidy a.ts, and test it", {}],
    ["count", "count", { input: "short\n" }],
    ["count", "count", { input: "a line of a long file\n".repeat(100_000) }],
  ];
  for (const [typed, request, { only, input }] of cases) {
    const noted = { ...NOTES, prompt: ({ onlyReads }: EnvironmentView) => `Only reads: ${onlyReads}` };
    await using engine = await startEngine([replyJson([], { final: "It is 1." })], { extensions: [noted] });
    const file = await Deno.makeTempFile({ suffix: ".log" });
    try {
      if (input !== undefined) await Deno.writeTextFile(file, input);
      const shown = await textsOf(engine, typed, ...input === undefined ? [] : ["--context", file]);
      const context = input === undefined ? undefined : (await readContextArgument(file, fakeIo()))(undefined);
      const { signal } = new AbortController();
      await engine.conversations.ask(engine.branch, request, { signal, emit: () => {}, only, context });
      assert.deepEqual(shown, engine.provider.requests[0]?.texts, typed);
      if (input !== undefined) assert.match(shown.join("\n"), /\[The variable context holds .*\.log: string of/);
    } finally {
      await Deno.remove(file);
    }
  }
});

Deno.test("vis prompt shows the messages of a conversation's next request, with its variables and its handover", async () => {
  await using engine = await startEngine([
    replyJson("const rows = [1, 2]", { thinking: "make rows", final: "made" }),
    replyJson([], { final: "again" }),
  ]);
  await engine.ask("make rows");
  const shown = await textsOf(engine, "--conversation", engine.branch.conversationId, "use them");
  await engine.ask("use them");
  assert.deepEqual(shown, engine.provider.requests[1]?.texts);
  assert.match(shown.at(-1) ?? "", /<handover>[\s\S]*make rows[\s\S]*const rows/);
});

Deno.test("vis prompt shows the messages of a stored iteration", async () => {
  for (const alternatingRoles of [false, true]) {
    await using engine = await startEngine([
      replyJson("const rows = [1, 2]"),
      "no object",
      replyJson([], { final: "{{rows.length}}" }),
    ], { scripted: { capabilities: { alternatingRoles } } });
    await engine.ask("count");
    const { conversationId } = engine.branch;
    const id = ["--conversation", conversationId.slice(0, 18)];
    for (const iteration of [1, 2, 3]) {
      const texts = await textsOf(engine, ...id, "--iteration", String(iteration));
      assert.deepEqual(texts, engine.provider.requests[iteration - 1]?.texts);
    }
    assert.deepEqual(await textsOf(engine, ...id), engine.provider.requests[2]?.texts);
    const past = await prompt(engine, ...id, "--iteration", "4");
    assert.deepEqual([past.code, past.err], [
      2,
      "vis: Cannot show step 4 of the latest request: it has 3 steps; choose 1 to 3\n",
    ]);
  }
});

Deno.test("vis prompt needs no provider, but refuses other faults of the settings", async () => {
  await using engine = await startEngine([]);
  const { conversations } = engine;
  const of = { workspace: "/nowhere", provider: "", model: "", database: ":memory:", close: () => Promise.resolve() };
  const run = async (code: ConfigError["code"]) => {
    const open = ({ browse = false }) =>
      browse ? Promise.resolve({ ...of, conversations }) : Promise.reject(new ConfigError("Cannot open", { code }));
    const io = fakeIo({ args: ["prompt", "count"] });
    return { code: await runCli(fakeServices({ open }), io), out: io.out };
  };
  const shown = await run("no_provider");
  assert.equal(shown.code, 0);
  assert.match(shown.out, /=== 2 user: .*\ncount\n/);
  assert.deepEqual(await run("value"), { code: 3, out: "" });
});

Deno.test("vis prompt prints bytes and an estimate of tokens for each message and for all", async () => {
  await using engine = await startEngine([]);
  const { out } = await prompt(engine, "größer");
  const heads = out.split("\n").filter((line) => line.startsWith("=== "));
  assert.equal(heads.length, 5);
  assert.equal(heads[1], "=== 2 user: 8 bytes, about 2 tokens");
  const bytes = heads.slice(0, 4).map((line) => Number(/: (\d+) bytes/.exec(line)?.[1]));
  assert.equal(heads[4]?.split(",")[0], `=== 4 messages: ${bytes.reduce((a, b) => a + b)} bytes`);
  const json = JSON.parse((await prompt(engine, "größer", "--json")).out);
  assert.deepEqual([json.messages[1].role, json.messages[1].bytes, json.messages[1].tokens], ["user", 8, 2]);
});

Deno.test("vis prompt refuses a request that cannot be shown", async () => {
  await using engine = await startEngine([]);
  const { conversationId } = engine.branch;
  const cases: [string[], RegExp][] = [
    [["--iteration", "1", "x"], /add --conversation to --iteration/],
    [["--conversation", conversationId, "--iteration", "1", "x"], /both a request and a stored step/],
    [["--conversation", conversationId], /has no request yet/],
    [["--conversation", "00000000"], /Cannot find conversation/],
    [["x", "--iteration", "0"], /whole number/],
    [
      ["--conversation", conversationId, "--context", "x.log"],
      /Cannot use --context with a stored step: only a request has a context; write a request/,
    ],
    [["/new"], /cannot be this command; use a request without -c/],
    [[], /text is empty|request is empty/],
  ];
  for (const [args, says] of cases) {
    const { code, out, err } = await prompt(engine, ...args);
    assert.deepEqual([code, out], [2, ""], args.join(" "));
    assert.match(err, says);
  }
});
