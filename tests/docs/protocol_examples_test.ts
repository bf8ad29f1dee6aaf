import assert from "node:assert/strict";
import { join } from "node:path";
import fs from "../../extensions/fs/mod.ts";
import { errorForModel } from "../../src/domain/query/host_call.ts";
import { parseReply } from "../../src/prompt/reply/parse_reply.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { withFolder } from "../helpers/with_folder.ts";

const PAGE = await Deno.readTextFile(new URL("../../docs/internals/protocol.md", import.meta.url));
/** Maps tags to their words in the picture, if the words differ. */
const NAMED: Readonly<Record<string, string>> = { prior_thinking: "prior thinking", var_index: "index of variables" };
const TAGS = ["notes", "prior_thinking", "earlier", "journal", "attempts", "var_index"];

/** Returns the rows of the table whose first column has this name: its code spans, and the text before the second
 * column. */
function tableOf(column: string): { readonly left: string; readonly before: string; readonly right: string }[] {
  const [, body = ""] = PAGE.split(new RegExp(`^\\| ${column} +\\|.*\n\\|.*\n`, "m"));
  const rows = body.split("\n\n")[0]!.split("\n");
  return rows.map((row) => {
    const [, left = "", before = "", right = ""] = /^\| `(.*?)` +\| ([a-z: ]*)`(.*)` +\|$/.exec(row) ?? [];
    assert.notEqual(right, "", `Cannot read this row: ${row}`);
    return { left, before, right };
  });
}

function fenced(language: string): string {
  return new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, "m").exec(PAGE)?.[1] ?? "";
}

Deno.test("docs/internals/protocol.md: Vis accepts the reply, runs it and answers with it", async () => {
  const reply = fenced("json");
  const parsed = parseReply(reply);
  assert.ok(parsed.ok);
  assert.deepEqual(parsed.reply.repairs, []);
  await withFolder(async (workspace) => {
    await Deno.mkdir(join(workspace, "src"));
    await Deno.writeTextFile(join(workspace, "src/a.ts"), "parse_a()\nparse_b()\n");
    await using engine = await startEngine([reply], { extensions: [fs], workspace });
    const { answer, confidence } = await engine.ask("How many?");
    assert.deepEqual([answer, confidence], ["2 call sites", "high"]);
  });
});

Deno.test("docs/internals/protocol.md: the parts of the context are the sent ones, in this order", async () => {
  const example = fenced("text");
  const order = (text: string): string[] =>
    TAGS.filter((tag) => text.includes(`<${tag}>`)).toSorted((a, b) => text.indexOf(`<${a}>`) - text.indexOf(`<${b}>`));
  assert.deepEqual(order(example), TAGS);
  await using engine = await startEngine([
    replyJson(["'large'.repeat(4790)"]),
    replyJson(["const first = [1]"], { thinking: "Begin." }),
    replyJson(["1; vars()[0].name", "const second = 2"], { thinking: "Go on.", final: "{{missing}}" }),
    replyJson([], { final: "It is {{second}}" }),
  ]);
  await engine.ask("x");
  const sent = engine.context(3);
  assert.deepEqual(order(sent), TAGS);
  assert.match(sent, /^\[iter 4\/4\]\n/);
});

Deno.test("docs/internals/protocol.md: the context is the output of these blocks, if it is shown whole", async () => {
  const example = fenced("text");
  await withFolder(async (workspace) => {
    await Deno.mkdir(join(workspace, "src"));
    for (const name of "abcdefg") await Deno.writeTextFile(join(workspace, `src/${name}.ts`), `parse_${name}()\n`);
    const blocks = [...example.matchAll(/^ {2}\[[\d.]+\] (.*?) → /gm)].map(([, code = ""]) => code);
    await using engine = await startEngine([
      replyJson(blocks.slice(0, 1)),
      replyJson(blocks.slice(1)),
      replyJson([], { final: "It is finished." }),
    ], { extensions: [fs], workspace });
    await engine.ask("x");
    const lasting = (text: string): string =>
      text.replace(/^<(notes|prior_thinking|attempts)>.*\n/gm, "").replace(/^\[system_nudge\][^]*/m, "");
    const pattern = lasting(example).split("…").map((part) => RegExp.escape(part)).join("[^]*?")
      .replaceAll("\\n", "(?: {2}\\(.*ms\\))?\\n");
    assert.match(engine.context(2), new RegExp(`^${pattern}`));
  });
});

Deno.test("docs/internals/protocol.md: the picture of a call has its messages and parts in their order", async () => {
  const picture = fenced("txt");
  const messages = picture.split(/^(?=\d )/m).map((part) => part.split("─")[0] ?? "");
  await using engine = await startEngine([
    replyJson(["'large'.repeat(4790)"]),
    replyJson(["const first = [1]"], { thinking: "Begin." }),
    replyJson(["1; vars()[0].name", "const second = 2"], { thinking: "Go on.", final: "{{missing}}" }),
    replyJson([], { final: "It is {{second}}" }),
    replyJson([], { final: "It was 2" }),
  ]);
  await engine.ask("first request");
  await engine.ask("second request");
  const { texts = [], messages: sent = [] } = engine.provider.requests.at(-1) ?? {};
  assert.deepEqual(messages.map((part) => part.slice(0, 8)), ["1 system", "2 user  ", "3 user  ", "4 user  "]);
  assert.deepEqual(sent.map(({ role }) => role), ["system", "user", "user", "user"]);
  assert.deepEqual(sent.map(({ cache = false }) => cache), [false, false, true, false]);
  assert.match(picture, /\n3 user .*\n─+ cache breakpoint ─+\n4 user /);
  const inOrder = (text: string, parts: readonly string[]): void => {
    const places = parts.map((part) => text.indexOf(part));
    assert.deepEqual(places, places.filter((place) => place >= 0).toSorted((one, other) => one - other), parts.join());
  };
  inOrder(messages[0] ?? "", ["instructions", "environment", "caller", "extensions"]);
  inOrder(texts[0] ?? "", ["# Role", "# Environment"]);
  assert.equal(texts[1], "second request");
  inOrder(messages[2] ?? "", ["<conversation>", "form of a reply", "schema"]);
  inOrder(texts[2] ?? "", ["<conversation>", "Reply with exactly one JSON object"]);
  inOrder(messages[3] ?? "", ["[iter", ...TAGS.map((tag) => NAMED[tag] ?? tag)]);
  inOrder(engine.context(3), ["[iter", ...TAGS.map((tag) => `<${tag}>`)]);
});

Deno.test("docs/internals/protocol.md: blocks show the values of the table", async () => {
  const rows = tableOf("block");
  assert.ok(rows.length > 8);
  await using engine = await startEngine([
    replyJson(rows.map(({ left }) => left)),
    replyJson([], { final: "It is finished." }),
  ]);
  await engine.ask("x");
  const shown = engine.events.flatMap((event) => {
    if (event.type !== "block_finished") return [];
    const { error, preview, stdout } = event.result;
    return [stdout.trimEnd() + (error ? `${error.name}: ${errorForModel(error)}` : preview)];
  });
  assert.deepEqual(shown, rows.map(({ right }) => right));
});

Deno.test("docs/internals/protocol.md: answers become the values of the table, or are refused with its reason", async () => {
  const rows = tableOf("answer");
  assert.ok(rows.length > 8);
  const [, declared = ""] = /^```ts\n(const hits = .*)\n```$/m.exec(PAGE) ?? [];
  await using engine = await startEngine([replyJson([declared], { final: "It is declared." })]);
  await engine.ask("x");
  for (const { left, before, right } of rows) {
    const isRefused = before === "refused: ";
    engine.provider.push(replyJson([], { final: left }));
    if (isRefused) engine.provider.push(replyJson([], { final: "It is over." }));
    else assert.equal(before, "");
    const { answer } = await engine.ask("x");
    assert.equal(answer, isRefused ? "It is over." : right, left);
    assert.equal(engine.provider.remaining, 0, left);
    const { context = "" } = engine.provider.requests.at(-1) ?? {};
    if (isRefused) assert.ok(context.includes(right), `${left}\n${context}`);
  }
});
