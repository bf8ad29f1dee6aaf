import assert from "node:assert/strict";
import { Palette, type PaletteCommand } from "../../../../src/channels/tui/panels/palette.ts";
import { HOSTILE, KEYS, selected, shown, startPanels, type, WIDTHS } from "./_rig.ts";

function entries(ran: string[]): readonly PaletteCommand[] {
  const entry = (name: string, detail: string, keys: string): PaletteCommand => ({
    ...{ name, detail, keys },
    run: () => void ran.push(name),
  });
  return [
    entry("Conversations", "open another one", "Ctrl+O"),
    entry("New conversation", "", "Ctrl+N"),
    entry("Model", "use another one", ""),
    entry("Copy", "the last answer", "Ctrl+Y"),
    entry("Quit", "", "Ctrl+C twice"),
  ];
}

Deno.test("Palette shows every entry with its keys, and wants no more rows than that", async () => {
  await using rig = await startPanels();
  const panel = new Palette(rig.parts, entries([]));
  assert.equal(panel.rows, 6);
  for (const width of WIDTHS) {
    const text = shown(panel, { width, rows: panel.rows });
    assert.match(text, /❯ Conversations/);
    assert.match(text, /Ctrl\+O/);
    assert.equal(text.split("\n").length, 6);
  }
});

Deno.test("Palette a few letters find an entry, by its name before its description", async () => {
  await using rig = await startPanels();
  const ran: string[] = [];
  const panel = new Palette(rig.parts, entries(ran));
  type(panel, ..."ncv");
  assert.match(selected(panel), /New conversation/);
  type(panel, KEYS.backspace, KEYS.backspace, KEYS.backspace, ..."answer");
  assert.match(selected(panel), /Copy/);
  type(panel, KEYS.enter);
  assert.deepEqual(rig.all("close").length, 1);
  await Promise.resolve();
  assert.deepEqual(ran, ["Copy"]);
});

Deno.test("Palette reports that nothing matches, and Enter then does nothing", async () => {
  await using rig = await startPanels();
  const panel = new Palette(rig.parts, entries([]));
  type(panel, ..."zzz");
  assert.match(shown(panel), /no match for “zzz”/);
  type(panel, KEYS.enter, KEYS.down, KEYS.end, KEYS.pageUp);
  assert.deepEqual(rig.done, []);
});

Deno.test("Palette moves by lines, pages and to the ends, in a window that is too small", async () => {
  await using rig = await startPanels();
  const many = Array.from({ length: 100 }, (_, at) => ({ name: `entry ${at}`, detail: "", keys: "", run: () => {} }));
  const panel = new Palette(rig.parts, many);
  const rows = 8;
  assert.match(selected(panel, { rows }), /entry 0$/);
  for (const [key, at] of [["down", 1], ["pageDown", 6], ["end", 99], ["down", 99], ["up", 98], ["home", 0]] as const) {
    type(panel, KEYS[key]);
    assert.match(selected(panel, { rows }), new RegExp(`entry ${at}$`), key);
  }
  assert.equal(shown(panel, { rows: 1 }).split("\n").length, 1);
});

Deno.test("Palette reports an entry that throws, and Esc closes it without a choice", async () => {
  await using rig = await startPanels();
  const fails = { name: "Fail", detail: "", keys: "", run: () => Promise.reject(new Error("Cannot do it: \x1b[2J")) };
  type(new Palette(rig.parts, [fails]), KEYS.enter);
  assert.equal(await rig.does("tell"), "Cannot do it: \\u001b[2J");
  type(new Palette(rig.parts, [fails]), KEYS.esc);
  assert.deepEqual(rig.done.map(([name]) => name), ["close", "tell", "close"]);
});

Deno.test("Palette hostile names and pastes command nothing", async () => {
  await using rig = await startPanels();
  const panel = new Palette(rig.parts, [{ name: HOSTILE, detail: HOSTILE, keys: HOSTILE, run: () => {} }]);
  for (const width of WIDTHS) shown(panel, { width });
  type(panel, `\x1b[200~${HOSTILE.repeat(1000)}\x1b[201~`);
  for (const width of WIDTHS) shown(panel, { width });
});
