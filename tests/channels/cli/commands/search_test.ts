import assert from "node:assert/strict";
import { runCli } from "../../../../src/channels/cli/cli.ts";
import { type Engine, startEngine } from "../../../helpers/engine.ts";
import { replyJson } from "../../../helpers/scripted_provider.ts";
import { fakeIo, fakeServices } from "../_fakes.ts";

async function search(engine: Engine, args: readonly string[], shown: Parameters<typeof fakeIo>[0] = {}) {
  const io = fakeIo({ args: ["search", ...args], ...shown });
  const facts = { workspace: "/nowhere", provider: "p", model: "m", database: "" };
  const session = { ...facts, conversations: engine.conversations, close: () => Promise.resolve() };
  const code = await runCli(fakeServices({ open: () => Promise.resolve(session) }), io);
  return { code, out: io.out, err: io.err };
}

Deno.test("vis search shows the places of the words in requests, code and answers", async () => {
  await using engine = await startEngine([
    replyJson(["const marmalade = 1"]),
    replyJson([], { final: "The marmalade is\u001b[2J here" }),
  ]);
  await engine.ask("Where is the marmalade?");
  const { conversationId } = engine.branch;
  const { code, out } = await search(engine, ["MARMALADE", "--conversation", conversationId]);
  assert.equal(code, 0);
  assert.match(
    out,
    new RegExp(`^${conversationId}  [\\d-]{10} [\\d:]{5}  code · step 1  test\n  const \\[marmalade\\]`, "m"),
  );
  assert.match(out, / {2}request {2}test\n {2}Where is the \[marmalade\]\?\n/);
  assert.match(out, / {2}answer {2}test\n {2}The \[marmalade\] is\\u001b\[2J here\n/);
  const json = await search(engine, ["marmalade", "--kind", "request", "--json"]);
  const [hit, ...more] = JSON.parse(json.out);
  assert.deepEqual([hit.kind, hit.conversationId, more.length], ["request", conversationId, 0]);
});

Deno.test("vis search respects conversation, time and limit, and exits with 1 without matches", async () => {
  await using engine = await startEngine([replyJson([], { final: "marmalade" })]);
  await engine.ask("marmalade");
  const id = engine.branch.conversationId;
  assert.equal((await search(engine, ["marmalade", "--conversation", id.slice(0, 13)])).code, 0);
  const named = ["marmalade", "--conversation", id, "--limit", "1"];
  assert.equal((await search(engine, named)).out.split("\n").length, 3);
  assert.deepEqual(await search(engine, ["marmalade", "--until", "2020-01-01"]), {
    code: 1,
    out: "",
    err: "No results\n",
  });
  assert.equal((await search(engine, ["marmalade", "--since", "1h"])).code, 0);
  assert.equal((await search(engine, ["marmalade", "jam"])).code, 1);
  assert.equal((await search(engine, ["--", 'NEAR("', "*"])).code, 1);
  assert.equal((await search(engine, ["marmalade", "--conversation", "00000000"])).code, 2);
});

Deno.test("vis search refuses an invalid kind, time and limit", async () => {
  await using engine = await startEngine([]);
  for (const wrong of [["--kind", "jam"], ["--since", "yesterday"], ["--until", "2026-13-40"], ["--limit", "0"]]) {
    assert.equal((await search(engine, ["x", ...wrong])).code, 2, wrong.join(" "));
  }
});

Deno.test("vis search has each conversation once, with its best match and the number of others", async () => {
  await using engine = await startEngine([
    replyJson(["const marmalade = 1"]),
    replyJson([], { final: "The marmalade is here" }),
    replyJson([], { final: "No jam, but marmalade" }),
  ]);
  const signal = new AbortController().signal;
  await engine.ask("Where is the marmalade?");
  await engine.conversations.ask({ channel: "test", workspace: "/nowhere" }, "Jam?", { signal, emit: () => {} });
  const { out } = await search(engine, ["marmalade"]);
  assert.equal(out.split(engine.branch.conversationId).length, 2);
  assert.match(out, /\n {2}and 2 more matches in this conversation\n/);
  assert.match(out, / {2}answer {2}Jam\?\n {2}No jam, but \[marmalade\]\n/);
  assert.equal(JSON.parse((await search(engine, ["marmalade", "--json"])).out).length, 4);
  const [one = ""] = (await search(engine, ["marmalade", "--limit", "1"])).out.split("\n");
  assert.ok(out.startsWith(one));
});

Deno.test("vis search on a terminal has each conversation once, and the words that were found in bold", async () => {
  await using engine = await startEngine([
    replyJson("const totals = rows[0]"),
    replyJson([], { final: "It is the total" }),
  ]);
  await engine.ask("Sum\u001b[2J of all");
  const terminal = { stdoutIsTerminal: true, stdoutColor: true };
  const id = engine.branch.conversationId.slice(0, 13);
  const { out } = await search(engine, ["Total", "--conversation", id], terminal);
  assert.equal(out.split(id).length, 2);
  assert.match(out, /code · step 1 · now/);
  assert.ok(out.includes("    const \u001b[1mtotals\u001b[22m = rows[0]\n"), out);
  assert.ok(out.includes("    It is the \u001b[1mtotal\u001b[22m\n"), out);
});
