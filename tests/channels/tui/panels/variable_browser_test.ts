import assert from "node:assert/strict";
import { VariableBrowser } from "../../../../src/channels/tui/panels/variable_browser.ts";
import { replyJson } from "../../../helpers/scripted_provider.ts";
import { HOSTILE, KEYS, type PanelRig, selected, shown, startPanels, type, WIDTHS } from "./_rig.ts";
import { cpuMs } from "../../../helpers/cpu_ms.ts";

async function ran(...blocks: readonly string[]): Promise<PanelRig> {
  const rig = await startPanels(
    [...blocks.map((code) => replyJson(code)), replyJson([], { final: "It is all there" })],
    {
      engine: { settings: { budget: 20 } },
    },
  );
  const { status } = await rig.engine.ask("go");
  assert.equal(status, "done");
  return rig;
}

Deno.test("VariableBrowser live variables with kind, versions, size and doc", async () => {
  await using rig = await ran(
    "// Lines of the file\nlet rows = [1, 2]\nfunction twice(n) { return n * 2 }",
    "rows = [1, 2, 3]",
    "const 名前 = '👩‍👩‍👧 family'",
  );
  const panel = new VariableBrowser(rig.parts);
  for (const width of WIDTHS) {
    const text = await rig.until(panel, /twice/, { width });
    assert.match(text, /名前 = "👩‍👩‍👧 fam/);
    assert.match(text, /rows = \[ 1,/);
    assert.doesNotMatch(text, /\$query/);
    if (width > 40) assert.match(text, /rows = \[ 1, 2, 3 \] .* v2/);
    assert.equal(/\/\/ Lines of the file/.test(text), width >= 90);
  }
  type(panel, ..."twice");
  assert.match(selected(panel), /twice .*function/);
  type(panel, ...Array.from({ length: 5 }, () => KEYS.backspace), KEYS.tab);
  assert.match(shown(panel), /\$query = .*system/);
});

Deno.test("VariableBrowser Enter shows the value, Tab the code and the difference, arrows the versions", async () => {
  await using rig = await ran("let rows = [{ name: 'a', n: 1 }]", "rows = [{ name: 'a', n: 2 }, 'more']");
  const panel = new VariableBrowser(rig.parts);
  await rig.until(panel, /rows/);
  type(panel, ..."rows", KEYS.enter);
  for (const width of WIDTHS) await rig.until(panel, /"n": 2[^]*"more"/, { width });
  assert.equal(panel.title, "rows v2 of 2");
  type(panel, KEYS.left);
  await rig.until(panel, /"n": 1/);
  assert.equal(panel.title, "rows v1 of 2");
  type(panel, KEYS.left, KEYS.tab);
  await rig.until(panel, /let rows = \[\{ name: 'a', n: 1 \}\]/);
  type(panel, KEYS.tab);
  await rig.until(panel, /^v2 +\d{4}-.* · Array\(2\).* · rows = .*\nv1 +\d{4}-/m, { width: 120 });
  type(panel, KEYS.tab);
  await rig.until(panel, /This is the first version/);
  type(panel, KEYS.right);
  await rig.until(panel, /rows v1 → v2: 2 changes\n~ .*n: 1 → 2\n\+ .*"more"/);
  type(panel, "m");
  await rig.until(panel, /Marked: choose the version/);
  assert.equal(panel.title, "rows v2 of 2 · v2 marked");
  type(panel, KEYS.left);
  await rig.until(panel, /rows v2 → v1: 2 changes\n~ .*n: 2 → 1\n- .*"more"/);
  type(panel, KEYS.right, "m", KEYS.tab);
  await rig.until(panel, /"n": 2/);
  type(panel, "c");
  assert.deepEqual(rig.all("copy").map((text) => JSON.parse(String(text))), [[{ name: "a", n: 2 }, "more"]]);
  type(panel, KEYS.esc);
  assert.match(selected(panel), /rows/);
  type(panel, KEYS.esc);
  assert.equal(rig.all("close").length, 1);
});

Deno.test("VariableBrowser shows functions, lost values and texts in their own form", async () => {
  await using rig = await ran(
    "function twice(n) { return n * 2 }\nconst gone = new WeakMap()\nlet note = 'one\\ntwo'",
    "note = 'one\\n2'",
  );
  const panel = new VariableBrowser(rig.parts);
  await rig.until(panel, /gone/);
  type(panel, ..."gone");
  assert.match(selected(panel), /lost/);
  type(panel, KEYS.enter);
  await rig.until(panel, /^lost/m);
  type(panel, KEYS.esc, ...Array.from({ length: 4 }, () => KEYS.backspace), ..."twice", KEYS.enter);
  await rig.until(panel, /return n \* 2/);
  type(panel, KEYS.esc, ...Array.from({ length: 5 }, () => KEYS.backspace), ..."note", KEYS.enter, KEYS.shiftTab);
  await rig.until(panel, /-two\n\+2/);
});

Deno.test("VariableBrowser a value of 10 MB is shown in part, scrolled and searched at once", async () => {
  await using rig = await ran(
    "const big = 'abcdefghi\\n'.repeat(1_000_000)\nconst wide = 'x'.repeat(10_000_000)\n" +
      "const data = Array.from({ length: 200_000 }, (_, at) => 100_000 + at)",
  );
  const panel = new VariableBrowser(rig.parts);
  await rig.until(panel, /big = string\(10000000\)/);
  type(panel, ..."big", KEYS.enter);
  await rig.until(panel, /abcdefghi\nabcdefghi/);
  const before = cpuMs();
  type(panel, KEYS.end);
  assert.match(shown(panel), /… 9,800,000 characters more are not shown/);
  type(panel, KEYS.pageUp, KEYS.home, "/", ..."zzz", KEYS.enter);
  assert.match(shown(panel), /no “zzz”/);
  assert.ok(cpuMs() - before < 1_000);
  type(panel, "c");
  assert.equal(String(rig.all("copy")[0]).length, 10_000_000);
  type(panel, KEYS.esc, KEYS.esc, ...Array.from({ length: 3 }, () => KEYS.backspace), ..."wide", KEYS.enter);
  for (const width of WIDTHS) await rig.until(panel, /x{36}/, { width });
  type(panel, KEYS.end);
  for (const width of WIDTHS) assert.match(shown(panel, { width }), /characters more/);
  type(panel, KEYS.esc, ...Array.from({ length: 4 }, () => KEYS.backspace), ..."data", KEYS.enter);
  await rig.until(panel, /100001,/);
  type(panel, KEYS.end);
  assert.match(shown(panel), /… the rest is not shown; c copies all/);
  type(panel, "c");
  assert.equal(JSON.parse(String(rig.all("copy")[1])).length, 200_000);
});

Deno.test("VariableBrowser hostile values, docs and properties command nothing", async () => {
  const text = JSON.stringify(HOSTILE.toWellFormed());
  await using rig = await ran(
    `// ${text}\nconst bad = ${text}\nconst more = { [bad]: bad }`,
    "var other = '\\t\\u0007'",
  );
  const panel = new VariableBrowser(rig.parts);
  for (const width of WIDTHS) await rig.until(panel, /bad = /, { width });
  type(panel, ..."more", KEYS.enter);
  for (const width of WIDTHS) await rig.until(panel, /\\u001b\[2J/, { width });
  type(panel, KEYS.tab);
  for (const width of WIDTHS) await rig.until(panel, /const bad/, { width });
});

Deno.test("VariableBrowser empty states, a store that fails, answers that come too late", async () => {
  await using rig = await startPanels([
    replyJson([], { final: "It is all there" }),
    replyJson("const a = 1"),
    replyJson("a"),
    "{}",
  ]);
  await rig.until(new VariableBrowser(rig.parts), /no variables yet/);
  await rig.engine.ask("go");
  const panel = new VariableBrowser(rig.parts);
  await rig.until(panel, /no current variables; Tab shows all/);
  type(panel, KEYS.enter, KEYS.tab);
  assert.match(selected(panel), /\$/);
  rig.branch = null;
  assert.match(shown(new VariableBrowser(rig.parts)), /no variables yet/);
  type(panel, KEYS.enter);
  await rig.until(panel, /It is all there/);
  await rig.engine.store.close();
  type(panel, KEYS.tab);
  await rig.until(panel, /^! /m);
  type(panel, KEYS.esc);
  assert.match(shown(panel), /\$/);
  rig.branch = rig.engine.branch;
  await rig.until(new VariableBrowser(rig.parts), /^! /m, { width: 40 });
  const left = new VariableBrowser(rig.parts);
  left.left();
  const { redraws } = rig;
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(rig.redraws, redraws);
});
