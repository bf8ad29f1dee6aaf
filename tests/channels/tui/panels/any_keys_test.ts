import assert from "node:assert/strict";
import fc from "fast-check";
import type { ProviderAdmin } from "../../../../src/channels/channel.ts";
import { ConversationList } from "../../../../src/channels/tui/panels/conversation_list.ts";
import { InputsPanel } from "../../../../src/channels/tui/panels/inputs_panel.ts";
import { Inspector } from "../../../../src/channels/tui/panels/inspector.ts";
import { ServerPanel } from "../../../../src/channels/tui/panels/login_panel.ts";
import { ModelPicker } from "../../../../src/channels/tui/panels/model_picker.ts";
import { Palette } from "../../../../src/channels/tui/panels/palette.ts";
import type { Panel, PanelParts } from "../../../../src/channels/tui/panels/panel.ts";
import { SettingsPanel } from "../../../../src/channels/tui/panels/settings_panel.ts";
import { ForkPicker } from "../../../../src/channels/tui/panels/turns_panel.ts";
import { VariableBrowser } from "../../../../src/channels/tui/panels/variable_browser.ts";
import { DEFAULT_PREFS } from "../../../../src/channels/tui/prefs.ts";
import { replyJson } from "../../../helpers/scripted_provider.ts";
import { HOSTILE, KEYS, shown, startPanels } from "./_rig.ts";
import { runs } from "../../../helpers/long_part.ts";

const prefs = { get: () => DEFAULT_PREFS, set: () => Promise.resolve() };
const entries = ["one", "two", HOSTILE].map((name) => ({ name, detail: HOSTILE, keys: "x", run: () => {} }));
const OPEN: Readonly<Record<string, (parts: PanelParts) => Panel>> = {
  conversationList: (parts) => new ConversationList(parts),
  forkPicker: (parts) => new ForkPicker(parts),
  inputsPanel: (parts) => new InputsPanel(parts, { texts: ["漢字", HOSTILE], typed: HOSTILE, use: () => {} }),
  inspector: (parts) => new Inspector(parts),
  modelPicker: (parts) => new ModelPicker(parts),
  palette: (parts) => new Palette(parts, entries),
  serverPanel: (parts) => new ServerPanel(parts, { next: () => {} }),
  settingsPanel: (parts) => new SettingsPanel(parts, prefs),
  variableBrowser: (parts) => new VariableBrowser(parts),
};

const { ctrl: _ctrl, ...plain } = KEYS;
const key = fc.oneof(
  fc.constantFrom(...Object.values(plain), KEYS.ctrl("r"), KEYS.ctrl("d"), KEYS.ctrl("u"), KEYS.ctrl("k")),
  fc.constantFrom(
    ..."ynNcCm/ a1漢",
    "👩‍👩‍👧",
    "\x1b[200~a\x1b[2J\nb\x1b[201~",
    "\x1b[99;5u",
    "\x1b[<0;1;1M",
    "\x00",
    "\x1b[9999~",
  ),
);
const step = fc.record({
  key,
  click: fc.option(fc.integer({ min: 0, max: 12 }), { nil: null }),
  width: fc.integer({ min: 1, max: 130 }),
  rows: fc.integer({ min: 1, max: 30 }),
  wait: fc.boolean(),
});

/** At any size, a panel draws all content safely, whatever key is pressed. Only its own exit closes it. */
for (const [name, open] of Object.entries(OPEN)) {
  Deno.test(`${name}() any keys, clicks and sizes: the drawn text fits and commands no terminal`, async () => {
    const report = { name: "one", title: "", protocol: "", baseUrl: "", model: null, root: true, reach: null } as const;
    const keyReport = { provider: "one", title: "", need: "required", from: "", shown: "", fix: "" } as const;
    const facts = { contextTokens: 1, price: null, reasoning: true, images: true, known: false, root: false } as const;
    const models = ["a", HOSTILE].map((model) => ({ name: model, ...facts }));
    const admin: Partial<ProviderAdmin> = {
      providers: () => Promise.resolve({ providers: [{ ...report, key: keyReport }], problem: HOSTILE, notes: [] }),
      models: () => Promise.resolve([{ provider: "one", source: "data", detail: HOSTILE, models }]),
      loginNames: () => ["other"],
      tryServer: () => Promise.resolve({ models: [HOSTILE, HOSTILE], problem: HOSTILE, refused: false }),
      loginChoices: () => Promise.resolve([{ name: HOSTILE, title: HOSTILE, need: "optional" }]),
    };
    await using rig = await startPanels([
      replyJson("// A note\nlet rows = [1, { a: '漢字' }]\nconst text = 'one\\ntwo'"),
      replyJson("rows = [2]", { thinking: HOSTILE }),
      replyJson([], { final: `It is ${HOSTILE}` }),
    ], { admin });
    await rig.engine.ask(`Ask ${HOSTILE}`);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const panel = open(rig.parts);
        for (const { key, click, width, rows, wait } of steps) {
          if (wait) await new Promise((resolve) => setImmediate(resolve));
          shown(panel, { width: Math.max(4, width), rows });
          panel.fit(rows);
          assert.ok(panel.render(width).length <= rows);
          if (click !== null) panel.press?.(click, true);
          else if (key !== "y") panel.handleInput(key);
        }
        panel.left();
      }),
      { numRuns: runs(12, 40) },
    );
    assert.deepEqual(rig.all("quit"), []);
  });
}
