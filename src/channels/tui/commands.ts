import type { Command } from "./command.ts";
import type { Screen } from "./screen.ts";

/** Everything that can be done by a name. */
export function commandsOf(screen: Screen): readonly Command[] {
  const { act } = screen.panelParts;
  return [
    { name: "new", detail: "begin a new conversation", keys: "", run: () => act.show(null) },
    { name: "copy", detail: "copy the last answer", keys: "Ctrl-Y", run: () => act.copy(screen.chat.lastAnswer) },
    { name: "whole", detail: "whole blocks and results", keys: "Ctrl-O", run: () => screen.toggleWhole() },
    { name: "cancel", detail: "end the running query", keys: "Esc", run: () => void screen.chat.cancel() },
    { name: "quit", detail: "leave", keys: "Ctrl-D", run: () => screen.quit() },
  ];
}
