import assert from "node:assert/strict";
import { ConversationList } from "../../../../src/channels/tui/panels/conversation_list.ts";
import type { PanelParts } from "../../../../src/channels/tui/panels/panel.ts";
import { final, replyJson } from "../../../helpers/scripted_provider.ts";
import { HOSTILE, KEYS, type PanelRig, selected, shown, startPanels, type, WIDTHS } from "./_rig.ts";

async function create(rig: PanelRig, title: string, workspace = "/work") {
  return await rig.engine.conversations.create({ title, channel: "test", workspace });
}

async function ask(rig: PanelRig, request: string, title = request, workspace = "/work") {
  const branch = await create(rig, title, workspace);
  const signal = new AbortController().signal;
  await rig.engine.conversations.ask(branch, request, { signal, emit: () => {} });
  return branch;
}

Deno.test("ConversationList lists conversations of this workspace, newest first; Tab shows all", async () => {
  await using rig = await startPanels([final("yes"), final("no")]);
  await ask(rig, "Is it here?");
  await ask(rig, "Is it elsewhere?", "Elsewhere", "/other/place");
  for (const width of WIDTHS) {
    const panel = new ConversationList(rig.parts);
    const text = await rig.until(panel, /Is it here/, { width });
    assert.match(text, /❯ Is it here\? .*now +1 request/);
    assert.match(text, /● test/);
    assert.doesNotMatch(text, /Elsewhere/);
    assert.equal(panel.title, "Conversations of this workspace");
    type(panel, KEYS.tab);
    assert.match(shown(panel, { width }), /Elsewhere +now( +place( +1 request)?)?/);
    assert.equal(panel.title, "Conversations, all");
  }
});

Deno.test("ConversationList Enter shows the selected one", async () => {
  await using rig = await startPanels([final("yes")]);
  const branch = await ask(rig, "Is it here?");
  const panel = new ConversationList(rig.parts);
  await rig.until(panel, /Is it here/);
  type(panel, KEYS.enter);
  const { branchId, title } = await rig.does("show") as typeof branch;
  assert.deepEqual([branchId, title], [branch.branchId, "Is it here?"]);
  assert.equal(rig.all("close").length, 1);
});

Deno.test("ConversationList → shows the branches of one, and Enter goes back to an earlier branch; ← hides them", async () => {
  await using rig = await startPanels([
    replyJson("const a = 1"),
    ...[final("It is one"), final("It is two"), final("It is three")],
  ]);
  const first = await ask(rig, "Where to?");
  const [{ queryId } = { queryId: "" }] = await rig.engine.conversations.queries(first);
  const second = await rig.engine.conversations.fork({ queryId, position: 0 });
  rig.branch = second;
  const panel = new ConversationList(rig.parts);
  await rig.until(panel, /❯ ● Where to/);
  type(panel, KEYS.right);
  for (const width of WIDTHS) await rig.until(panel, /❯ ● Where[^]*\n {6}Where[^]*\n {6}● Where/, { width });
  assert.match(shown(panel), /Where to\? {2}first +now {2}1 own request/);
  assert.match(shown(panel), /● Where to\? {2}after step 1 of request 1/);
  type(panel, KEYS.down, KEYS.enter);
  assert.equal((await rig.does("show") as typeof first).branchId, first.branchId);
  const again = new ConversationList(rig.parts);
  await rig.until(again, /❯ ● Where to/);
  type(again, KEYS.right);
  await rig.until(again, /first/);
  type(again, KEYS.down, KEYS.down, KEYS.left);
  assert.doesNotMatch(shown(again), /first/);
  assert.match(selected(again), /❯ ● Where/);
  await rig.engine.conversations.ask(second, "And back?", { signal: new AbortController().signal, emit: () => {} });
  type(again, KEYS.right);
  await rig.until(again, /\n {6}Where to\? {2}first[^]*\n {6}● And back\? {2}after step 1 of request 1/);
});

Deno.test("ConversationList typed words find requests, code and answers, with the surrounding text", async () => {
  await using rig = await startPanels([
    final("Tigers are striped cats"),
    replyJson("const herd = 'elephants'"),
    final("They are grey"),
    final("Tigers abroad"),
  ]);
  const tigers = await ask(rig, "What are tigers?");
  await ask(rig, "And the big ones?");
  await ask(rig, "abroad?", "Far", "/other");
  const panel = new ConversationList(rig.parts);
  await rig.until(panel, /big ones/);
  type(panel, ..."striped");
  const text = await rig.until(panel, /❯ What are tigers\? .*answer\n {4}Tigers are \[striped\] cats/);
  assert.doesNotMatch(text, /big ones/);
  await rig.until(panel, /striped/, { width: 40 });
  type(panel, KEYS.enter);
  assert.equal((await rig.does("show") as typeof tigers).branchId, tigers.branchId);
  const again = new ConversationList(rig.parts);
  type(again, ..."elephants");
  await rig.until(again, /code of step 1\n.*\[elephants\]/);
  type(again, ...Array.from({ length: 9 }, () => KEYS.backspace));
  await rig.until(again, /What are tigers\?\s+now/);
  type(again, ..."abroad");
  await rig.until(again, /nothing contains all of these words/);
  type(again, KEYS.tab);
  await rig.until(again, /❯ Far .*other/);
});

Deno.test("ConversationList a search shows one match of each conversation, and Enter opens the branch used last", async () => {
  let now = 1_000;
  await using rig = await startPanels([final("striped"), final("striped too"), final("striped again")], {
    engine: { now: () => now++ },
  });
  const first = await ask(rig, "Are tigers striped?");
  const [{ queryId } = { queryId: "" }] = await rig.engine.conversations.queries(first);
  const second = await rig.engine.conversations.fork({ queryId, position: 0 });
  const options = { signal: new AbortController().signal, emit: () => {} };
  await rig.engine.conversations.ask(second, "And zebras?", options);
  await rig.engine.conversations.ask(first, "And okapis?", options);
  const panel = new ConversationList(rig.parts);
  type(panel, ..."striped");
  const text = await rig.until(panel, /❯ Are tigers striped\? .*4 matches\n {4}.*\[striped\]/);
  assert.equal(text.match(/\[striped\]/g)?.length, 1);
  type(panel, KEYS.enter);
  assert.equal((await rig.does("show") as typeof first).branchId, first.branchId);
});

Deno.test("ConversationList a title is changed with Ctrl+R, Esc leaves it", async () => {
  await using rig = await startPanels([final("yes")]);
  const branch = await ask(rig, "Old title");
  const panel = new ConversationList(rig.parts);
  await rig.until(panel, /Old title/);
  type(panel, KEYS.ctrl("r"));
  assert.match(shown(panel), /title: Old title/);
  type(panel, ..." x", KEYS.esc);
  assert.match(selected(panel), /Old title /);
  type(panel, KEYS.ctrl("r"), KEYS.ctrl("u"), ..."漢字 new", KEYS.enter);
  await rig.until(panel, /❯ 漢字 new/);
  assert.equal((await rig.engine.conversations.byId(branch.branchId)).title, "漢字 new");
  type(panel, KEYS.ctrl("r"), KEYS.ctrl("u"), KEYS.enter);
  await rig.until(panel, /! Cannot rename the conversation: the new title is empty/);
});

Deno.test("ConversationList deleting asks first; the one on the screen makes room for a new one", async () => {
  await using rig = await startPanels([final("yes")]);
  const branch = await ask(rig, "Doomed");
  const panel = new ConversationList(rig.parts);
  await rig.until(panel, /Doomed/);
  type(panel, KEYS.ctrl("d"));
  assert.match(shown(panel), /Delete “Doomed” with all branches\? y\/n/);
  assert.match(shown(panel, { width: 40 }), /Delete “Doomed”/);
  type(panel, "n");
  assert.match(shown(panel), /❯ Doomed/);
  // Terminals with Kitty's protocol send an Escape and a "y" this way.
  type(panel, KEYS.delete, "\x1b[27u", KEYS.delete, "\x1b[121u");
  await rig.until(panel, /^(?![^]*Doomed)[^]*❯ ● test/);
  await assert.rejects(rig.engine.conversations.byId(branch.branchId));
  assert.deepEqual(rig.all("show"), []);
  type(panel, KEYS.ctrl("d"), "y");
  assert.equal(await rig.does("show"), null);
});

Deno.test("ConversationList does not delete a busy conversation, and reports it", async () => {
  const gate = Promise.withResolvers<void>();
  await using rig = await startPanels([() => ({ text: final("late"), delayMs: 60_000 })]);
  const abort = new AbortController();
  const branch = await create(rig, "Busy");
  const running = rig.engine.conversations.ask(branch, "x", {
    signal: abort.signal,
    emit: () => gate.resolve(),
  });
  await gate.promise;
  const panel = new ConversationList(rig.parts);
  await rig.until(panel, /❯ Busy/);
  type(panel, KEYS.delete, "y");
  await rig.until(panel, /! Cannot delete conversation/);
  assert.match(shown(panel), /❯ Busy/);
  abort.abort();
  await running;
});

Deno.test("ConversationList 1000 conversations: the first page is enough to begin, more come on the way down", async () => {
  await using rig = await startPanels();
  for (let at = 0; at < 1_000; at++) await create(rig, `number ${at}`, at % 2 === 0 ? "/work" : "/other");
  const { conversations } = rig.engine;
  const reads: number[] = [];
  const counting = new Proxy(conversations, {
    get(target, name) {
      if (name === "list") {
        return (options: Parameters<typeof target.list>[0]) => {
          reads.push(options.limit);
          return target.list(options);
        };
      }
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const parts: PanelParts = { ...rig.parts, session: () => ({ ...rig.parts.session(), conversations: counting }) };
  const panel = new ConversationList(parts);
  const text = await rig.until(panel, /number 998/);
  assert.doesNotMatch(text, /number 999/);
  assert.ok(reads.length <= 2, `${reads.length} pages`);
  for (let turn = 0; turn < 100 && !/❯ ● test/.test(shown(panel)); turn++) {
    type(panel, KEYS.end);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  assert.match(shown(panel), /number 0 .*\n❯ ● test/);
  type(panel, KEYS.home);
  assert.match(selected(panel), /number 998/);
  assert.ok(reads.length <= 12, `${reads.length} pages`);
});

Deno.test("ConversationList shows no late answer of an older search over a newer one", async () => {
  await using rig = await startPanels([final("Tigers are striped"), final("Lions are not")]);
  await ask(rig, "What are tigers?");
  await ask(rig, "What are lions?");
  const { conversations } = rig.engine;
  const late = Promise.withResolvers<void>();
  const stored = {
    ...conversations.stored,
    search: async (...given: Parameters<typeof conversations.stored.search>) => {
      const found = await conversations.stored.search(...given);
      if (given[0] === "striped") await late.promise;
      return found;
    },
  };
  const slow = new Proxy(conversations, {
    get(target, name) {
      const value: unknown = name === "stored" ? stored : Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const panel = new ConversationList({
    ...rig.parts,
    session: () => ({ ...rig.parts.session(), conversations: slow }),
  });
  type(panel, "\x1b[200~striped\x1b[201~", KEYS.ctrl("u"), "\x1b[200~lions\x1b[201~");
  await rig.until(panel, /What are lions/);
  late.resolve();
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.match(shown(panel), /What are lions/);
  assert.doesNotMatch(shown(panel), /tigers/);
});

Deno.test("ConversationList hostile titles and excerpts command nothing", async () => {
  await using rig = await startPanels([final(`see ${HOSTILE}`)]);
  await ask(rig, `find ${HOSTILE}`, HOSTILE);
  const panel = new ConversationList(rig.parts);
  for (const width of WIDTHS) await rig.until(panel, /a\\u001b/, { width });
  type(panel, KEYS.ctrl("r"));
  for (const width of WIDTHS) shown(panel, { width });
  type(panel, KEYS.esc, KEYS.delete);
  for (const width of WIDTHS) shown(panel, { width });
  type(panel, "n", ..."find");
  for (const width of WIDTHS) await rig.until(panel, /\[find\]/, { width });
});

Deno.test("ConversationList explains empty states, and reports a store that fails", async () => {
  await using rig = await startPanels();
  await rig.engine.conversations.delete(rig.engine.branch);
  rig.branch = null;
  const panel = new ConversationList(rig.parts);
  await rig.until(panel, /no conversations in this workspace yet; Tab shows all/);
  type(panel, KEYS.tab, KEYS.enter, KEYS.delete, KEYS.ctrl("r"));
  await rig.until(panel, /no conversations yet/);
  await rig.engine.store.close();
  const broken = new ConversationList(rig.parts);
  await rig.until(broken, /^! /m);
  type(broken, ..."words");
  await rig.until(broken, /^! /m, { width: 40 });
  type(broken, KEYS.esc);
  assert.deepEqual(rig.done.map(([name]) => name), ["close"]);
});

Deno.test("ConversationList drops results that arrive after it was closed", async () => {
  await using rig = await startPanels();
  const panel = new ConversationList(rig.parts);
  type(panel, KEYS.esc);
  const { redraws } = rig;
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(rig.redraws, redraws);
});
