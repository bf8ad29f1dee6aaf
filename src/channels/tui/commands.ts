import type { PaletteCommand } from "./input/command.ts";
import type { PanelParts } from "./widgets/panel.ts";
import { ConversationList } from "./panels/conversation_list.ts";
import { ForkPicker } from "./panels/fork_picker.ts";
import { Inspector } from "./panels/inspector.ts";
import { ModelPicker } from "./panels/model_picker.ts";
import { Palette } from "./panels/palette.ts";
import type { PrefsKeeper } from "./prefs/prefs.ts";
import { SettingsPanel } from "./panels/settings_panel.ts";
import { VariableBrowser } from "./panels/variable_browser.ts";

export interface CommandParts {
  readonly panels: PanelParts;
  readonly prefs: PrefsKeeper;
  readonly lastAnswer: () => string;
  readonly cancel: () => void;
  readonly retry: () => Promise<void>;
  /** Toggles between whole blocks and results and their first lines. */
  readonly whole: () => void;
  /** Shows text in the conversation, to the user only. */
  readonly say: (text: string) => void;
}

/** Everything that can be done by name; the palette and `/help` show the same list. */
export function commandsOf(parts: CommandParts): readonly PaletteCommand[] {
  const { panels, prefs, lastAnswer, cancel, retry, whole, say } = parts;
  const { act } = panels;
  const turned = (key: "thinking" | "iterations") => (): Promise<void> =>
    prefs.set({ [key]: !prefs.get()[key] }).catch((error: unknown) => act.tell(String(error)));
  const all: PaletteCommand[] = [
    { name: "new", detail: "start a new conversation", keys: "", run: () => act.show(null) },
    {
      name: "conversations",
      detail: "open, search, rename or delete conversations",
      keys: "",
      run: () => act.open(new ConversationList(panels)),
    },
    { name: "retry", detail: "run the last request again", keys: "Alt-R", run: retry },
    { name: "fork", detail: "continue from an earlier step", keys: "", run: () => act.open(new ForkPicker(panels)) },
    { name: "model", detail: "choose another model or provider", keys: "", run: (name) => model(name, panels) },
    { name: "vars", detail: "variables and versions", keys: "", run: () => act.open(new VariableBrowser(panels)) },
    { name: "inspect", detail: "the exact messages sent", keys: "Alt-I", run: () => act.open(new Inspector(panels)) },
    { name: "copy", detail: "copy the last answer", keys: "Ctrl-Y", run: () => act.copy(lastAnswer()) },
    { name: "whole", detail: "full or shortened code and output", keys: "Ctrl-O", run: whole },
    { name: "thinking", detail: "show or hide thinking", keys: "Ctrl-T", run: turned("thinking") },
    { name: "iterations", detail: "show or hide steps", keys: "", run: turned("iterations") },
    {
      name: "settings",
      detail: "display settings",
      keys: "",
      run: () => act.open(new SettingsPanel(panels, prefs)),
    },
    { name: "cancel", detail: "cancel the running request", keys: "Esc", run: cancel },
    { name: "help", detail: "keys and commands", keys: "?", run: () => say(helpText(all)) },
    { name: "quit", detail: "quit", keys: "Ctrl-D", run: () => act.quit() },
  ];
  const found: PaletteCommand = {
    name: "palette",
    detail: "all commands",
    keys: "Ctrl-K",
    run: () => act.open(new Palette(panels, all.map((one) => ({ ...one, run: () => one.run("") })))),
  };
  return [...all, found];
}

/** NAME or PROVIDER/NAME; opens the picker if nothing is named. */
async function model(name: string, panels: PanelParts): Promise<void> {
  if (name === "") return panels.act.open(new ModelPicker(panels));
  const cut = name.indexOf("/");
  const provider = cut > 0 ? name.slice(0, cut) : panels.session().provider;
  await panels.act.useModel({ provider, name: cut > 0 ? name.slice(cut + 1) : name });
}

const KEYS: readonly (readonly [string, string])[] = [
  ["Enter", "send; while a request runs: add to its next step"],
  ["Alt-Enter, Shift-Enter, Ctrl-J", "a new line"],
  ["Up, Down", "earlier input; on an empty input, ↑ edits a queued message"],
  ["Tab", "complete a command or a path"],
  ["@shot.png, or a file dropped here", "attach an image; Backspace after its label removes it"],
  ["PgUp, PgDn, Shift-Up, Shift-Down, wheel", "scroll; End jumps to the end"],
  ["Ctrl-G", "answer what Vis asks; what is in the input stays"],
  ["Esc", "cancel the running request, close a panel"],
  ["Ctrl-C", "clear the input; twice: quit"],
  ["Ctrl-Z", "suspend; fg in the shell resumes"],
  ["Shift and the mouse", "select text in the terminal"],
];

function helpText(commands: readonly PaletteCommand[]): string {
  const rows = [
    ...KEYS,
    ...commands.map(({ name, detail, keys }) => [`/${name}`, keys === "" ? detail : `${detail} (${keys})`] as const),
  ];
  return rows.map(([key, what]) => `${key}: ${what}`).join("\n");
}
