import assert from "node:assert/strict";
import { Inspector } from "../../../../src/channels/tui/panels/inspector.ts";
import { ProviderError } from "../../../../src/domain/errors.ts";
import { replyJson } from "../../../helpers/scripted_provider.ts";
import { HOSTILE, KEYS, type PanelRig, selected, shown, startPanels, type, WIDTHS } from "./_rig.ts";
import { cpuMs } from "../../../helpers/cpu_ms.ts";

async function asked(): Promise<PanelRig> {
  const rig = await startPanels([
    {
      text: replyJson("const needle = 'pin 漢字'", { thinking: "First I look" }),
      usage: { input: 1234, output: 56, cached: 1000 },
    },
    replyJson("const second = needle.length"),
    replyJson([], { final: "It was {{needle}}" }),
  ]);
  await rig.engine.ask("Find the needle");
  return rig;
}

Deno.test("Inspector lists iterations with tokens and time; Enter shows exactly the sent messages", async () => {
  for (const width of WIDTHS) {
    await using rig = await asked();
    const panel = new Inspector(rig.parts);
    const list = await rig.until(panel, /❯ {5}3 answered/, { width });
    assert.match(list, /▾ 1 Find the needle/);
    if (width > 40) assert.match(list, /1 const needle.*1,234 in 56 out/);
    type(panel, KEYS.up, KEYS.up, KEYS.enter);
    const text = await rig.until(panel, /^Facts/m, { width, rows: 200 });
    assert.match(text, /tokens +1,234 in \(1,000 from the/);
    assert.match(text, /walls +realm ✓/);
    assert.match(text, /grants +nothing/);
    assert.match(text, /request +\d/);
    assert.equal(panel.title, "Request 1 · step 1 of 3");
  }
});

Deno.test("Inspector shows and copies the provider's messages word for word", async () => {
  await using rig = await asked();
  const panel = new Inspector(rig.parts);
  await rig.until(panel, /❯ {5}3 answered/);
  type(panel, KEYS.up, KEYS.enter);
  await rig.until(panel, /^Facts/m);
  const sent = rig.engine.provider.requests[1]!.texts;
  for (const [at, text] of sent.entries()) {
    type(panel, KEYS.tab);
    assert.match(shown(panel), new RegExp(`^Message ${at + 1} of ${sent.length}: `));
    type(panel, "c");
    assert.equal(rig.all("copy").at(-1), text);
  }
  type(panel, "C");
  const all = String(rig.all("copy").at(-1));
  for (const text of sent) assert.ok(all.includes(text));
  assert.match(all, /=== Facts\n/);
});

Deno.test("Inspector arrows go from iteration to iteration, Tab and Shift+Tab from part to part", async () => {
  await using rig = await asked();
  const panel = new Inspector(rig.parts);
  await rig.until(panel, /❯ {5}3 answered/);
  type(panel, KEYS.home, KEYS.down, KEYS.enter);
  await rig.until(panel, /^Facts/m);
  type(panel, KEYS.shiftTab);
  assert.match(shown(panel), /^Thinking\nFirst I look/m);
  type(panel, KEYS.home, KEYS.left, KEYS.right);
  await rig.until(panel, /block 1 +value|block 1 +ok|const second|second/);
  while (panel.title !== "Request 1 · step 2 of 3") await rig.until(panel, /Facts/);
  type(panel, KEYS.right);
  await rig.until(panel, /outcome +final/);
  type(panel, KEYS.right, KEYS.right);
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(panel.title, "Request 1 · step 3 of 3");
  type(panel, KEYS.esc);
  assert.match(shown(panel), /❯ {5}1 const/);
  type(panel, KEYS.esc);
  assert.equal(rig.all("close").length, 1);
});

Deno.test("Inspector / finds words, n and N find the next ones, Esc forgets them", async () => {
  await using rig = await asked();
  const panel = new Inspector(rig.parts);
  await rig.until(panel, /❯ {5}3 answered/);
  type(panel, KEYS.enter);
  await rig.until(panel, /^Facts/m);
  type(panel, "/");
  assert.match(shown(panel), /find in this text/);
  type(panel, ..."NEEDLE", KEYS.enter);
  const first = shown(panel);
  assert.match(first, /“NEEDLE” in \d+ lines/);
  assert.match(first.split("\n")[0]!, /needle/i);
  type(panel, "n");
  assert.notEqual(shown(panel), first);
  type(panel, "N");
  assert.equal(shown(panel), first);
  type(panel, "/", ..."nothing like it", KEYS.enter);
  assert.match(shown(panel), /no “nothing like it”/);
  type(panel, KEYS.esc);
  assert.match(shown(panel), /^line|line \d+ of/m);
  assert.match(panel.title, /step 3/);
});

Deno.test("Inspector scrolls by lines, pages and to the ends", async () => {
  await using rig = await asked();
  const panel = new Inspector(rig.parts);
  await rig.until(panel, /❯ {5}3 answered/);
  type(panel, KEYS.enter);
  const top = await rig.until(panel, /^Facts/m);
  type(panel, KEYS.down);
  assert.equal(shown(panel).split("\n")[0], top.split("\n")[1]);
  type(panel, KEYS.end);
  const end = shown(panel);
  type(panel, KEYS.pageDown, KEYS.down);
  assert.equal(shown(panel), end);
  type(panel, KEYS.home);
  assert.equal(shown(panel), top);
  type(panel, KEYS.end);
  for (const width of [200, 40, 80]) {
    assert.match(shown(panel, { width }), /final|answer|needle/);
  }
  assert.equal(shown(panel), end);
});

Deno.test("Inspector a failed call shows every attempt and the error", async () => {
  await using rig = await startPanels([
    new ProviderError("broken pipe", { code: "refused", retryable: false }),
    replyJson([], { final: "It is mended" }),
  ]);
  await rig.engine.ask("Try");
  const panel = new Inspector(rig.parts);
  await rig.until(panel, /❯ {5}2 answered/);
  type(panel, KEYS.home, KEYS.down, KEYS.enter);
  await rig.until(panel, /broken pipe/, { rows: 100 });
});

Deno.test("Inspector hostile messages and replies command nothing", async () => {
  await using rig = await startPanels([HOSTILE, replyJson([], { final: HOSTILE, thinking: HOSTILE })]);
  await rig.engine.ask(HOSTILE);
  const panel = new Inspector(rig.parts);
  await rig.until(panel, /❯ {5}2 answered/);
  type(panel, KEYS.home, KEYS.down, KEYS.enter);
  for (const width of WIDTHS) await rig.until(panel, /^Facts[^]*u001b/, { width, rows: 300 });
  type(panel, "/", `\x1b[200~${HOSTILE}\x1b[201~`);
  for (const width of WIDTHS) shown(panel, { width });
  type(panel, KEYS.enter);
  for (const width of WIDTHS) shown(panel, { width });
});

Deno.test("Inspector a message of a megabyte on one line is shown and moved in at once", async () => {
  await using rig = await startPanels([replyJson([], { final: "It is long" })]);
  await rig.engine.ask(`${"漢字 ab ".repeat(15_000)}the end`);
  const panel = new Inspector(rig.parts);
  await rig.until(panel, /❯ {5}1 answered/);
  type(panel, KEYS.end, KEYS.enter);
  await rig.until(panel, /^Facts/m);
  const before = cpuMs();
  type(panel, KEYS.end, KEYS.pageUp, "/", ..."the end", KEYS.enter);
  assert.match(shown(panel), /the end/);
  assert.ok(cpuMs() - before < 1_000);
});

Deno.test("Inspector nothing sent yet, a store that fails, answers that come too late", async () => {
  await using rig = await startPanels([replyJson([], { final: "It is well" })]);
  await rig.until(new Inspector(rig.parts), /nothing has been sent yet/);
  await rig.engine.ask("x");
  const panel = new Inspector(rig.parts);
  await rig.until(panel, /❯ {5}1 answered/, { width: 40 });
  await rig.engine.store.close();
  type(panel, KEYS.enter);
  await rig.until(panel, /^! /m);
  assert.match(selected(panel), /1 answered/);
  const left = new Inspector(rig.parts);
  left.left();
  const { redraws } = rig;
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(rig.redraws, redraws);
});
