import assert from "node:assert/strict";
import { SettingsPanel } from "../../../../src/channels/tui/panels/settings_panel.ts";
import { DEFAULT_PREFS, type Prefs } from "../../../../src/channels/tui/prefs.ts";
import { KEYS, shown, startPanels, type, WIDTHS } from "./_rig.ts";

class Kept {
  prefs: Prefs = DEFAULT_PREFS;
  failure: Error | null = null;
  get = (): Prefs => this.prefs;
  set = (change: Partial<Prefs>): Promise<void> => {
    this.prefs = { ...this.prefs, ...change };
    return this.failure ? Promise.reject(this.failure) : Promise.resolve();
  };
}

Deno.test("SettingsPanel every setting is shown, changed by Space, Enter and arrows, and kept", async () => {
  await using rig = await startPanels();
  const kept = new Kept();
  const panel = new SettingsPanel(rig.parts, kept);
  for (const width of WIDTHS) assert.match(shown(panel, { width }), /❯ Thinking +on/);
  type(panel, " ");
  assert.match(
    shown(panel),
    /❯ Thinking +off\n {2}Steps +on\n {2}Theme +auto\n {2}Mouse +on\n {2}Vim keys +off\n {2}Bell +on/,
  );
  type(panel, KEYS.down, KEYS.enter, KEYS.down, KEYS.right, KEYS.right, KEYS.down, KEYS.left);
  assert.deepEqual(kept.prefs, {
    ...DEFAULT_PREFS,
    ...{ thinking: false, iterations: false, theme: "light", mouse: false },
  });
  type(panel, KEYS.up, KEYS.left, KEYS.left, KEYS.left);
  assert.equal(kept.prefs.theme, "contrast");
  assert.match(shown(panel), /auto asks the terminal/);
});

Deno.test("SettingsPanel reports a value that cannot be saved, and still applies it", async () => {
  await using rig = await startPanels();
  const kept = new Kept();
  kept.failure = new Error("Cannot write: disk full");
  const panel = new SettingsPanel(rig.parts, kept);
  type(panel, KEYS.end, " ");
  await rig.until(panel, /! Cannot write: disk full/);
  assert.match(shown(panel), /❯ Bell +off/);
  type(panel, KEYS.esc);
  assert.equal(rig.all("close").length, 1);
});
