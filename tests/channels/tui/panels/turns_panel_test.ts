import assert from "node:assert/strict";
import type { PanelParts } from "../../../../src/channels/tui/panels/panel.ts";
import { ForkPicker } from "../../../../src/channels/tui/panels/turns_panel.ts";
import { final, replyJson } from "../../../helpers/scripted_provider.ts";
import { HOSTILE, KEYS, type PanelRig, selected, shown, startPanels, type, WIDTHS } from "./_rig.ts";

async function pointOf(rig: PanelRig, query: number, position: number) {
  const found = (await rig.engine.conversations.queries(rig.engine.branch))[query]!;
  return { queryId: found.queryId, position };
}

async function twoQueries(): Promise<PanelRig> {
  const rig = await startPanels([
    replyJson("const a = 1"),
    replyJson("const b = a + 1"),
    final("{{b}}"),
    replyJson("const c = 'second'"),
    final("It is all there"),
  ]);
  await rig.engine.ask("How many are there?");
  await rig.engine.ask("漢字 and more");
  return rig;
}

Deno.test("ForkPicker shows the queries, the newest unfolded with its last iteration selected", async () => {
  for (const width of WIDTHS) {
    await using rig = await twoQueries();
    const panel = new ForkPicker(rig.parts);
    const text = await rig.until(panel, /❯ {5}2 answered/, { width });
    assert.match(text, /▸ 1 How many/);
    assert.match(text, /▾ 2 漢字 and more/);
    assert.match(text, / {4}1 const c/);
    if (width > 40) assert.match(text, /How many are there\? +now {2}3 steps/);
  }
});

Deno.test("ForkPicker shows the iterations that a fork has, and not the later ones of its query", async () => {
  await using rig = await twoQueries();
  const fork = await rig.engine.conversations.fork(await pointOf(rig, 0, 1));
  rig.branch = fork;
  const text = await rig.until(new ForkPicker(rig.parts), /❯ {5}2 const b/);
  assert.doesNotMatch(text, /answered/);
});

Deno.test("ForkPicker Enter forks after the selected iteration, also of a query that was unfolded", async () => {
  await using rig = await twoQueries();
  const panel = new ForkPicker(rig.parts);
  await rig.until(panel, /❯ {5}2 answered/);
  type(panel, KEYS.home, KEYS.right);
  await rig.until(panel, /2 const b/);
  assert.match(selected(panel), /▾ 1 How many/);
  type(panel, KEYS.down, KEYS.down, KEYS.enter);
  assert.deepEqual(await rig.does("fork"), await pointOf(rig, 0, 1));
  assert.equal(rig.all("close").length, 1);
});

Deno.test("ForkPicker Enter on a query forks after its end; ← folds", async () => {
  await using rig = await twoQueries();
  const panel = new ForkPicker(rig.parts);
  await rig.until(panel, /❯ {5}2 answered/);
  type(panel, KEYS.left);
  assert.match(shown(panel), /❯ ▸ 2 漢字/);
  assert.doesNotMatch(shown(panel), /answered/);
  type(panel, KEYS.up, KEYS.enter);
  assert.deepEqual(await rig.does("fork"), await pointOf(rig, 0, 2));
});

Deno.test("ForkPicker Ctrl+R reads new requests", async () => {
  await using rig = await startPanels([final("It is one"), replyJson("const a = 1"), final("It is two")]);
  await rig.engine.ask("First");
  const panel = new ForkPicker(rig.parts);
  await rig.until(panel, /❯ {5}1 answered/);
  await rig.engine.ask("Second");
  type(panel, KEYS.ctrl("r"));
  await rig.until(panel, /▾ 2 Second[^]*❯ {5}2 answered/);
});

Deno.test("ForkPicker words find a request", async () => {
  await using rig = await twoQueries();
  const panel = new ForkPicker(rig.parts);
  await rig.until(panel, /❯ {5}2 answered/);
  type(panel, ..."MANY how");
  assert.match(shown(panel), /❯ ▸ 1 How many/);
  assert.doesNotMatch(shown(panel), /漢字/);
  type(panel, ..."x");
  assert.match(shown(panel), /no request has these words/);
  type(panel, KEYS.enter, KEYS.right, KEYS.left, KEYS.down);
  assert.deepEqual(rig.done, []);
});

Deno.test("ForkPicker shows the newest iterations of a long query first, and loads earlier ones on demand", async () => {
  await using rig = await startPanels([
    ...Array.from({ length: 150 }, (_, at) => replyJson(`const x${at} = ${at}`)),
    final("end"),
  ], { engine: { settings: { budget: 200 } } });
  await rig.engine.ask("count");
  const { conversations } = rig.engine;
  const ranges: unknown[] = [];
  const watched = new Proxy(conversations, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...given: unknown[]) => {
        if (name === "iterations") ranges.push(given[1]);
        return value.apply(target, given);
      };
    },
  });
  const parts: PanelParts = { ...rig.parts, session: () => ({ ...rig.parts.session(), conversations: watched }) };
  const panel = new ForkPicker(parts);
  await rig.until(panel, /❯ {5}151 answered/);
  assert.equal(ranges.length, 1);
  type(panel, KEYS.home, KEYS.down);
  await rig.until(panel, /90 const/);
  assert.match(selected(panel), /90 const|91 const/);
  type(panel, KEYS.home, KEYS.down);
  await rig.until(panel, /30 const/);
  type(panel, KEYS.home, KEYS.down);
  await rig.until(panel, / 1 const x0/);
  assert.equal(ranges.length, 3);
});

Deno.test("ForkPicker empty states, hostile texts, a store that fails, and answers that come too late", async () => {
  await using rig = await startPanels([replyJson(`"${HOSTILE.replaceAll("\r\n", "")}"`), final(HOSTILE)]);
  await rig.until(new ForkPicker(rig.parts), /nothing to fork yet/);
  rig.branch = null;
  assert.match(shown(new ForkPicker(rig.parts), { width: 40 }), /nothing to fork yet/);
  rig.branch = rig.engine.branch;
  await rig.engine.ask(HOSTILE);
  const panel = new ForkPicker(rig.parts);
  for (const width of WIDTHS) await rig.until(panel, /1 (?:executed|failed) · "a\\u/, { width });
  const left = new ForkPicker(rig.parts);
  left.left();
  const { redraws } = rig;
  await rig.engine.conversations.queries(rig.engine.branch);
  assert.equal(rig.redraws, redraws);
  await rig.engine.store.close();
  const broken = new ForkPicker(rig.parts);
  await rig.until(broken, /^! /m);
  type(broken, KEYS.enter, KEYS.home, KEYS.right, KEYS.esc);
  assert.deepEqual(rig.done.map(([name]) => name), ["close"]);
});
