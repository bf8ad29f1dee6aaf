import { nearestName } from "../../../domain/kit/names.ts";
import type { PaletteCommand } from "./command.ts";
import type { Outgoing } from "./outgoing.ts";

/** Runs what was typed if it is `/name words`, and sends everything else, such as a path. An unknown command returns to
 * the input. */
export function submitted(
  outgoing: Outgoing,
  { commands, send, giveBack, tell }: {
    readonly commands: readonly PaletteCommand[];
    readonly send: (outgoing: Outgoing) => void;
    readonly giveBack: (outgoing: Outgoing) => void;
    readonly tell: (text: string) => void;
  },
): void {
  const [, name, words = ""] = /^\/([a-z][a-z0-9-]*)(?:\s+([^]*))?$/.exec(outgoing.text) ?? [];
  if (name === undefined) return send(outgoing);
  const command = commands.find((one) => one.name === name || one.aliases?.includes(name));
  if (command) return void command.run(words.trim(), outgoing);
  giveBack(outgoing);
  const near = nearestName(name, commands.map((one) => one.name));
  tell(`Unknown command /${name}. ${near === null ? "/help lists all commands" : `Did you mean /${near}?`}`);
}
