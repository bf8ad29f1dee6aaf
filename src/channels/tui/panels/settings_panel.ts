import { matchesKey } from "@earendil-works/pi-tui";
import { type Prefs, type PrefsKeeper, THEMES } from "../prefs.ts";
import { paint } from "../text/one_line.ts";
import { BasePanel, type PanelParts } from "./panel.ts";
import { List, movement, row } from "./widgets.ts";

interface Setting {
  readonly label: string;
  readonly doc: string;
  shown(prefs: Prefs): string;
  step(prefs: Prefs, by: 1 | -1): Partial<Prefs>;
}

const FORWARD = ["space", "enter", "right"] as const;
const onOff = (on: boolean): string => on ? "on" : "off";

const SETTINGS: readonly Setting[] = [
  {
    label: "Thinking",
    doc: "what the model thought before each step",
    shown: ({ thinking }) => onOff(thinking),
    step: ({ thinking }) => ({ thinking: !thinking }),
  },
  {
    label: "Steps",
    doc: "code and results of each step; off leaves requests and answers",
    shown: ({ iterations }) => onOff(iterations),
    step: ({ iterations }) => ({ iterations: !iterations }),
  },
  {
    label: "Theme",
    doc: "dark, light or high contrast; auto asks the terminal",
    shown: ({ theme }) => theme,
    step: ({ theme }, by) => {
      const next = THEMES[(THEMES.indexOf(theme) + by + THEMES.length) % THEMES.length];
      return next === undefined ? {} : { theme: next };
    },
  },
  {
    label: "Mouse",
    doc: "wheel and clicks; hold Shift to select text in the terminal",
    shown: ({ mouse }) => onOff(mouse),
    step: ({ mouse }) => ({ mouse: !mouse }),
  },
  {
    label: "Vim keys",
    doc: "Esc begins the normal mode of vi in the input, i the insert mode",
    shown: ({ vim }) => onOff(vim),
    step: ({ vim }) => ({ vim: !vim }),
  },
  {
    label: "Bell",
    doc: "rings when a request of more than 10 s ends, or asks something",
    shown: ({ bell }) => onOff(bell),
    step: ({ bell }) => ({ bell: !bell }),
  },
];

export class SettingsPanel extends BasePanel {
  readonly title = "Settings";
  readonly hint = "↑↓ · Space changes · Esc";
  override readonly rows = SETTINGS.length + 2;
  readonly #prefs: PrefsKeeper;
  readonly #list = new List<Setting>({
    key: ({ label }) => label,
    draw: ({ label, shown }, place) => [row(label, { facts: [shown(this.#prefs.get())], ...place })],
  });

  constructor(parts: PanelParts, prefs: PrefsKeeper) {
    super(parts);
    this.#prefs = prefs;
    this.#list.set(SETTINGS);
  }

  protected override draw({ width, height }: { readonly width: number; readonly height: number }): readonly string[] {
    const doc = paint.dim(`  ${this.#list.selected?.doc ?? ""}`);
    return [...this.#list.render(width, height - 2), "", this.problem || doc];
  }

  protected override key(data: string): void {
    const moved = movement(data);
    if (moved !== null) this.#list.move(moved);
    else if (FORWARD.some((key) => matchesKey(data, key))) this.#step(1);
    else if (matchesKey(data, "left")) this.#step(-1);
  }

  protected override click(line: number): void {
    if (this.#list.press(line)) this.#step(1);
  }

  #step(by: 1 | -1): void {
    const change = this.#list.selected?.step(this.#prefs.get(), by);
    if (change !== undefined) this.load("keep", { work: () => this.#prefs.set(change), then: () => {} });
  }
}
