import assert from "node:assert/strict";
import { join } from "node:path";
import { runCli } from "../../../../src/channels/cli/cli.ts";
import { startEngine } from "../../../helpers/engine.ts";
import { final, replyJson, type ScriptedReply } from "../../../helpers/scripted_provider.ts";
import { withFolder } from "../../../helpers/with_folder.ts";
import { engineServices } from "../_engine_services.ts";
import { fakeIo, NO_EXTENSIONS } from "../_fakes.ts";

async function run(args: readonly string[], { stdin, prompts = {}, reply = final("ok: done"), replies = [reply] }: {
  readonly reply?: ScriptedReply;
  readonly replies?: readonly ScriptedReply[];
  readonly stdin?: string;
  readonly prompts?: Readonly<Record<string, string>>;
} = {}) {
  await using engine = await startEngine([...replies]);
  const { services } = engineServices(engine);
  const io = fakeIo({ args, ...stdin === undefined ? {} : { stdin } });
  const code = await runCli({
    ...services,
    prompts: () => Promise.resolve(Object.entries(prompts).map(([name, text]) => ({ name, text }))),
    extensionAdmin: () =>
      Promise.resolve({
        ...NO_EXTENSIONS,
        commands: () => Promise.resolve([{ name: "mcp-check", doc: "" }] as never),
      }),
  }, io);
  const latest = (await engine.conversations.list({ limit: 1 }))[0];
  const queries = latest
    ? await engine.conversations.queries(await engine.conversations.byId(latest.conversationId))
    : [];
  return { code, out: io.out, err: io.err, only: queries[0]?.only, text: queries[0]?.text };
}

Deno.test("vis run reads /plan, /review and prompts as interactive mode reads them", async () => {
  const prompts = { tidy: "Tidy $ARGUMENTS carefully." };
  const cases:
    readonly (readonly [Parameters<typeof run>[0], Parameters<typeof run>[1], string | undefined, RegExp])[] = [
      [["run", "/plan rename x"], {}, "plan", /^rename x$/],
      [["run", "/plan", "rename", "x"], {}, "plan", /^rename x$/],
      [["run", "--plan", "/plan rename x"], {}, "plan", /^rename x$/],
      [["-p", "/plan rename x"], {}, "plan", /^rename x$/],
      [["/plan", "rename x"], {}, "plan", /^rename x$/],
      [["run"], { stdin: "/plan rename x\n" }, "plan", /^rename x$/],
      [["run", "/plan rename it"], { stdin: "of x" }, "plan", /^rename it\n\nof x$/],
      [["run", "/review"], {}, "review", /^Review the uncommitted changes[^\n]*$/],
      [["run", "/review"], { stdin: "diff --git a b" }, "review", /^Review the uncommitted [^\n]*\n\ndiff --git a b$/],
      [["run", "/review main"], {}, "review", /^Review all changes since this branch left main [^\n]*$/],
      [["run", "/review a.ts"], { prompts: { review: "Look at $1" } }, undefined, /^Look at a\.ts$/],
      [["run", "/tidy lib/a.js"], { prompts }, undefined, /^Tidy lib\/a\.js carefully\.$/],
      [["run", "--plan", "/tidy lib/a.js"], { prompts }, "plan", /^Tidy lib\/a\.js carefully\.$/],
      [["run", "/etc/hosts is odd"], {}, undefined, /^\/etc\/hosts is odd$/],
      [["run", "/tmp is full"], { prompts: { tmpp: "Look" } }, undefined, /^\/tmp is full$/],
      [["run", "/somewhere else"], { prompts }, undefined, /^\/somewhere else$/],
      [["run", "explain /plan"], {}, undefined, /^explain \/plan$/],
    ];
  for (const [args, more, only, text] of cases) {
    const told = await run(args, more);
    assert.equal(told.code, 0, told.err);
    assert.equal(told.only, only, args.join(" "));
    assert.match(told.text ?? "", text);
    assert.equal(told.err.includes("This is a plan"), only === "plan");
  }
});

Deno.test("vis run refuses the other commands of interactive mode without a call", async () => {
  const cases = [
    [
      "/diff",
      "Cannot run /diff: a request of the command line cannot be this command; use vis undo --list",
    ],
    [
      "/model x/y",
      "Cannot run /model: a request of the command line cannot be this command; use --model NAME",
    ],
    [
      "/theme",
      "Cannot run /theme: a request of the command line cannot be this command; start interactive mode with vis, and run it there",
    ],
    [
      "/mcp-check",
      "Cannot run /mcp-check: a request of the command line cannot be this command; use vis mcp-check",
    ],
    [
      "/compact",
      "Cannot run /compact: Vis has no command, prompt or skill of this name; Vis has /new in interactive mode, which starts a new conversation; a long conversation needs no compaction",
    ],
    ["/resum", "Cannot run /resum: Vis has no command, prompt or skill of this name; did you mean /resume?"],
    ["/doctor", "Cannot run /doctor: Vis has no command, prompt or skill of this name; Vis has vis doctor"],
    ["/login", "Cannot run /login: Vis has no command, prompt or skill of this name; Vis has vis auth login"],
    ["/tidyy a.js", "Cannot run /tidyy: Vis has no command, prompt or skill of this name; did you mean /tidy?"],
    ["/reviw HEAD~1", "Cannot run /reviw: Vis has no command, prompt or skill of this name; did you mean /review?"],
    ["/bogus", "Cannot run /bogus: Vis has no command, prompt or skill of this name; vis help lists the commands"],
    ["/plan", 'Cannot send /plan: it has no words; write a request, such as "/plan Split this module"'],
  ] as const;
  for (const [request, error] of cases) {
    const { code, err, text } = await run(["run", request], { prompts: { tidy: "Tidy $ARGUMENTS" } });
    assert.deepEqual([code, err, text], [2, `vis: ${error}\n`, undefined]);
  }
});

Deno.test("vis review accepts a target, a range and instructions, in each order that it can tell apart", async () => {
  const cases: readonly (readonly [args: readonly string[], text: RegExp])[] = [
    [[], /^Review the uncommitted changes[^\n]*$/],
    [["main"], /left main [^\n]*$/],
    [["main", "security only"], /left main [^\n]*\n\nsecurity only$/],
    [["HEAD~1", "security", "only"], /^Review the commit HEAD~1\.\n\nsecurity only$/],
    [["main..HEAD"], /^Review the changes main\.\.HEAD\.$/],
    [["security only"], /^Review the uncommitted changes[^\n]*\n\nsecurity only$/],
  ];
  for (const [args, text] of cases) {
    const told = await run(["review", ...args]);
    assert.deepEqual([told.code, told.only], [0, "review"], told.err);
    assert.match(told.text ?? "", text);
  }
});

Deno.test("vis review --schema prints findings that match the schema", async () => {
  await withFolder(async (folder) => {
    const path = join(folder, "findings.json");
    await Deno.writeTextFile(path, '{"type":"object","required":["findings"]}');
    const told = await run(["review", "--schema", path], { reply: replyJson("await answer({findings: []})") });
    assert.deepEqual([told.code, told.only, JSON.parse(told.out)], [0, "review", { findings: [] }]);
  });
});

Deno.test("JSON output of a review has the findings as data", async () => {
  const finding = { file: "a.ts", line: 3, severity: "high", title: "Loses the last line", detail: "An empty file" };
  const value = { findings: [finding], summary: "One fault" };
  const reply = replyJson(`await answer(${JSON.stringify(value)})`);
  for (const args of [["review", "--json"], ["run", "/review", "--output", "json"]]) {
    const { code, out } = await run(args, { reply });
    assert.deepEqual([code, JSON.parse(out).value], [0, value]);
  }
  const refused = replyJson("await answer({ findings: [{ file: 'a.ts' }], summary: '' })");
  const { code, out } = await run(["review", "--json"], { replies: [refused, reply] });
  assert.deepEqual([code, JSON.parse(out).value], [0, value]);
});

Deno.test("vis names its equivalents of the flags of similar programs", async () => {
  const cases: readonly (readonly [args: readonly string[], hint: RegExp])[] = [
    [["resume", "--last"], /-c for the latest conversation/],
    [["run", "--yolo", "x"], /unless they need more; --set shell\.network=true/],
    [["run", "--dangerously-skip-permissions", "x"], /--shell run/],
    [["run", "--full-auto", "x"], /--shell run/],
    [["run", "--open", "x"], /vis serve --open, which opens the page/],
  ];
  for (const [args, hint] of cases) {
    const { code, err, text } = await run(args);
    assert.deepEqual([code, text], [2, undefined]);
    assert.match(err, hint);
  }
});
