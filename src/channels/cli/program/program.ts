import { Command, Help, type Option } from "commander";
import type { Services } from "../../channel.ts";
import { addConfig } from "./config.ts";
import { addConversations } from "./conversations.ts";
import { addDb } from "./db.ts";
import { addExtensions } from "./extensions.ts";
import { addHelp } from "./help.ts";
import { addPrompt } from "./prompt.ts";
import { addProtocols } from "./protocols.ts";
import { addProviders } from "./providers.ts";
import { addRun } from "./run.ts";
import { addSearch } from "./search.ts";
import { addServe } from "./serve.ts";
import { addTelegram } from "./telegram.ts";
import { addUndo } from "./undo.ts";
import { addVars } from "./vars.ts";
import type { Context } from "./context.ts";
import { evenOutputs } from "./even_outputs.ts";

const AFTER = `
Begin here:
  vis demo                                      see it work, without a key
  vis auth login                                choose a provider, keep its key
  vis run "What is in this folder?"             ask; vis run -c "…" goes on
  git diff | vis run "Review this" > review.md  with what another program prints
  vis doctor                                    what is wrong, and what mends it

vis help NAME says more of a command, with examples. vis alone, on a terminal,
is the screen; it takes -c, --conversation ID, --model, --provider, --db, --cwd.
Extensions may add commands: vis extensions list shows them.`;

interface Part {
  readonly group: string;
  readonly names: readonly string[];
  readonly add: (program: Command, context: Context) => void;
}

/** In the order of the help. Names that are not listed, such as `help` itself, need all parts. */
const PARTS: readonly Part[] = [
  { group: "Ask:", names: ["run", "demo"], add: addRun },
  { group: "Look at what was done:", names: ["conversations", "replay"], add: addConversations },
  { group: "Look at what was done:", names: ["vars"], add: addVars },
  { group: "Look at what was done:", names: ["prompt"], add: addPrompt },
  { group: "Look at what was done:", names: ["search", "logs"], add: addSearch },
  { group: "Look at what was done:", names: ["undo"], add: addUndo },
  { group: "Set up:", names: ["providers", "models", "auth"], add: addProviders },
  { group: "Set up:", names: ["config"], add: addConfig },
  { group: "Set up:", names: ["extensions"], add: addExtensions },
  { group: "Set up:", names: ["db"], add: addDb },
  { group: "Serve others:", names: ["serve"], add: addServe },
  { group: "Serve others:", names: ["telegram"], add: addTelegram },
  { group: "Serve others:", names: ["mcp", "acp"], add: addProtocols },
  { group: "Help:", names: ["doctor", "completions", "version"], add: addHelp },
];

/** Builds the command line, the source of parsing, help, completions, manual and docs. With `only`, builds just the
 * part that has this command, if there is one: building all of them takes 5 ms at startup. */
export function buildProgram(context: Context, { only }: { readonly only?: string | undefined } = {}): Command {
  const { services, io } = context;
  const program = new Command("vis")
    .description("An agent in one executable: the model writes TypeScript, a sandbox runs it.")
    .version(versionText(services), "-V, --version", "print the version")
    .helpCommand(false)
    .showSuggestionAfterError()
    .showHelpAfterError("(vis help shows all commands)")
    .configureHelp({ optionDescription, minWidthToWrap: 24 })
    .addHelpText("after", AFTER)
    .exitOverride()
    .configureOutput({
      writeOut: io.stdout,
      writeErr: io.stderr,
      getOutHelpWidth: () => io.stdoutIsTerminal ? Math.max(48, io.columns()) : 80,
      getErrHelpWidth: () => io.stderrIsTerminal ? Math.max(48, io.columns()) : 80,
      outputError: (text, write) => write(text.replace(/^error: /, "vis: ")),
      getErrHasColors: () => io.stderrColor,
      getOutHasColors: () => io.stdoutColor,
    });
  const part = PARTS.find(({ names }) => only !== undefined && names.includes(only));
  for (const { group, add } of part ? [part] : PARTS) {
    program.commandsGroup(group);
    add(program, context);
  }
  evenOutputs(program);
  for (const command of program.commands) hintAt(command, command.name());
  return program;
}

/** Adds a hint at the help to usage errors. */
function hintAt(command: Command, path: string): void {
  command.showHelpAfterError(`(vis help ${path} shows how it is used)`);
  for (const below of command.commands) hintAt(below, `${path} ${below.name()}`);
}

/** Leaves out trivial defaults. */
function optionDescription(option: Option): string {
  return new Help().optionDescription(option).replace(/\s*\(default: (?:false|\[\])\)$/, "");
}

function versionText({ version }: Services): string {
  const { vis, deno, v8, target, compiled } = version;
  return `vis ${vis} (deno ${deno}, v8 ${v8}, ${target}${compiled ? ", compiled" : ""})`;
}
