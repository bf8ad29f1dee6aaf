import assert from "node:assert/strict";
import { varsCommand, type VarsFlags } from "../../../../src/channels/cli/commands/vars.ts";
import { UsageError } from "../../../../src/domain/errors.ts";
import { type Engine, startEngine } from "../../../helpers/engine.ts";
import { replyJson } from "../../../helpers/scripted_provider.ts";
import { engineServices } from "../_engine_services.ts";

async function vars(
  engine: Engine,
  { names = [], isTerminal = false, ...flags }: Partial<VarsFlags> & {
    readonly names?: readonly string[];
    readonly isTerminal?: boolean;
  },
): Promise<{ readonly out: string; readonly err: string }> {
  const { io: pipe, services } = engineServices(engine);
  const io = Object.assign(pipe, { stdoutIsTerminal: isTerminal });
  const all = { limit: 20, json: false, conversation: engine.branch.conversationId, ...flags };
  assert.equal(await varsCommand(names, { services, io, flags: all }), 0);
  return { out: io.out, err: io.err };
}

const started = () =>
  startEngine([
    replyJson(["// All of them\nlet rows = [{ n: 1 }]", "function twice(n: number) { return 2 * n }"]),
    replyJson("rows.push({ n: 2 }); const big = 12345678901234567890n", { final: "done here" }),
  ]);

Deno.test("varsCommand() lists the variables, also as they were at an iteration", async () => {
  await using engine = await started();
  await engine.ask("x");
  const { out } = await vars(engine, {});
  assert.match(out, /^big +v1 {2}12345678901234567890n$/m);
  assert.match(out, /^rows +v2 {2}.*\/\/ All of them$/m);
  assert.match(out, /^twice +v1 {2}function · twice\(n\)$/m);
  assert.match(out, /^\$query +v1 {2}system · "x"$/m);
  const early = JSON.parse((await vars(engine, { at: "1", json: true })).out);
  const facts = early.map(({ name, versions }: { name: string; versions: number }) => `${name} v${versions}`);
  assert.ok(facts.includes("rows v1") && !facts.some((one: string) => one.startsWith("big")));
  assert.equal((await vars(engine, { at: "0" })).err, "No variables\n");
  assert.ok((await vars(engine, { conversation: undefined })).out.includes("rows"), "the newest of the workspace");
});

Deno.test("varsCommand() shows values, versions with their code, and differences", async () => {
  await using engine = await started();
  await engine.ask("x");
  assert.deepEqual(JSON.parse((await vars(engine, { names: ["rows"] })).out), [{ n: 1 }, { n: 2 }]);
  assert.deepEqual(JSON.parse((await vars(engine, { names: ["rows"], at: "1.1" })).out), [{ n: 1 }]);
  const [rows, big] = JSON.parse((await vars(engine, { names: ["rows", "big"], json: true })).out);
  assert.deepEqual([rows.value, big.value], [[{ n: 1 }, { n: 2 }], "12345678901234567890"]);
  const history = await vars(engine, { history: "rows" });
  assert.match(history.out, /^rows v1 {2}\d{4}-.*\n {2}│ \/\/ All of them\n {2}│ let rows = .*\n {2}= \[/);
  assert.match((await vars(engine, { history: "rows", limit: 1 })).err, /^1 earlier version: --limit shows more\n$/);
  const diff = 'rows v1 → v2: 1 change\n+ [1]: {"n": 2}\n';
  assert.equal((await vars(engine, { diff: ["rows", "1", "v2"] })).out, diff);
  assert.equal((await vars(engine, { diff: ["rows"] })).out, diff);
  assert.equal(JSON.parse((await vars(engine, { diff: ["rows"], json: true })).out).changes[0].path, "[1]");
});

Deno.test("varsCommand() refuses variables that it cannot show", async () => {
  await using engine = await started();
  await engine.ask("x");
  const cases: readonly [Parameters<typeof vars>[1], RegExp][] = [
    [{ names: ["nope"] }, /Cannot find variable nope/],
    [{ names: ["rows"], history: "rows" }, /Cannot combine names, --history and --diff/],
    [{ at: "9" }, /Cannot find step 9: the branch has 2 steps/],
    [{ diff: ["rows", "1"] }, /write --diff NAME V1 V2/],
    [{ diff: ["rows", "1", "x"] }, /Cannot compare version x/],
    [{ diff: ["rows", "1", "5"] }, /Cannot find rows v5: it has versions 1 to 2/],
    [{ diff: ["big"] }, /it has only one version/],
    [{ conversation: "00000000" }, /Cannot find conversation/],
  ];
  for (const [flags, why] of cases) {
    await assert.rejects(vars(engine, flags), (error: Error) => error instanceof UsageError && why.test(error.message));
  }
});

Deno.test("varsCommand() bounds its output and lets no stored text command a terminal", async () => {
  await using engine = await startEngine([
    replyJson("const bad = '\\x1b]0;owned\\x07\\u202e' + 'x'.repeat(300000); const deep = [[[[bad]]]]", {
      final: "all made",
    }),
  ]);
  await engine.ask("\x1b[2J what?");
  for (const flags of [{}, { names: ["bad"] }, { names: ["deep"] }, { history: "bad" }, { history: "$query" }]) {
    const { out, err } = await vars(engine, { ...flags, isTerminal: true });
    assert.ok(out.length < 25_000, String(out.length));
    assert.equal(
      err,
      flags.names
        ? `Vis shows only the beginning of ${flags.names}; run vis vars with > FILE for all of the value\n`
        : "",
    );
    assert.ok(![..."\x1b\x07\u202e"].some((char) => out.includes(char)));
  }
  for (const name of ["bad", "deep"]) {
    const { out, err } = await vars(engine, { names: [name] });
    assert.ok(out.includes("x".repeat(300_000)), "a pipe gets the whole value");
    assert.equal(err, "");
  }
});
