import { type Keybinding, KeybindingsManager, TUI_KEYBINDINGS } from "@earendil-works/pi-tui";

/** Keys used by the input or the screen here, not by the package's own scrolling and searching. */
const FREED: readonly Keybinding[] = [
  "tui.altScreen.pageUp",
  "tui.altScreen.pageDown",
  "tui.altScreen.previousPrompt",
  "tui.altScreen.nextPrompt",
  "tui.altScreen.search",
  "tui.altScreen.searchNext",
  "tui.altScreen.searchPrevious",
  "tui.altScreen.searchClose",
  "tui.altScreen.top",
  "tui.altScreen.bottom",
  "tui.editor.pageUp",
  "tui.editor.pageDown",
];

export function freshKeys(): KeybindingsManager {
  return new KeybindingsManager(TUI_KEYBINDINGS, Object.fromEntries(FREED.map((name) => [name, []])));
}
