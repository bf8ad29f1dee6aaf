import { Command, Help, Option } from "commander";
import { versionLine } from "../../../domain/version.ts";
import { ASK } from "./ask.ts";
import { type CommandGroup, type Context, refuseEmpty } from "./command.ts";
import { HELP } from "./help.ts";
import { REVIEW } from "./review.ts";
import { SERVE } from "./serve.ts";
import { SET_UP } from "./set_up.ts";

const AFTER = `
Getting started:
  vis demo                                      see Vis work, without an API key
  vis auth login                                choose a provider, save its key
  vis "What is in this folder?"                 ask; vis -c "…" continues
  git diff | vis run "Review this" > review.md  with piped input
  vis doctor                                    find problems and their fixes

vis help COMMAND explains a command, with examples. vis without a command starts
interactive mode on a terminal; its options are -c, --conversation ID, --model,
--provider, --db and --cwd. vis "…" asks there, in a pipe like vis run; -p means
vis run everywhere. Also known: login, logout, history, export, resume [ID].`;

/** The groups, in the order of the help. */
const GROUPS: readonly CommandGroup[] = [ASK, REVIEW, SET_UP, SERVE, HELP];

/** The names of all commands. */
export const COMMANDS: readonly string[] = [
  ...GROUPS.flatMap(({ parts }) => parts.flatMap(({ names }) => names)),
  "help",
  "__complete",
];

/** Commands that print one JSON object per line instead of a single value. */
const LINES: readonly string[] = ["logs"];

/** Builds the command line, the source of parsing, help, completions, manual and docs. With `only`, builds just the
 * part with this command, if there is one: building all of them takes 5 ms at startup. */
export function buildProgram(context: Context, { only }: { readonly only?: string | undefined } = {}): Command {
  const { services, io } = context;
  const program = new Command("vis")
    .description("An agent in one executable: the model writes TypeScript, a sandbox runs it.")
    .version(versionLine(services.version), "-V, --version", "print the version")
    .helpCommand(false)
    .showSuggestionAfterError()
    .showHelpAfterError("(vis help lists all commands)")
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
  const isWanted = ({ names }: CommandGroup["parts"][number]) => only !== undefined && names.includes(only);
  const isOne = GROUPS.some(({ parts }) => parts.some(isWanted));
  for (const { heading, parts } of GROUPS) {
    program.commandsGroup(heading);
    for (const part of parts) if (!isOne || isWanted(part)) part.add(program, context);
  }
  evenOutputs(program);
  program.hook("preAction", (_, acting) => refuseEmpty(acting));
  for (const command of program.commands) hintAt(command, command.name());
  return program;
}

/** Adds a hint at the help to usage errors. */
function hintAt(command: Command, path: string): void {
  command.showHelpAfterError(`(vis help ${path} explains its usage)`);
  for (const below of command.commands) hintAt(below, `${path} ${below.name()}`);
}

/** Omits trivial defaults. */
function optionDescription(option: Option): string {
  return new Help().optionDescription(option).replace(/\s*\(default: (?:false|\[\])\)$/, "");
}

/** Gives every command that prints data both `--output json` and its short form `--json`, whichever it was defined
 * with. */
function evenOutputs(program: Command): void {
  for (const command of program.commands) {
    evenOutputs(command);
    const json = command.options.find(({ long }) => long === "--json");
    const output = command.options.find(({ long }) => long === "--output");
    if (json && !output) addOutput(command);
    else if (output?.argChoices?.includes("json") && !json) {
      command.addOption(new Option("--json", "same as --output json").implies({ output: "json" }));
    }
  }
}

function addOutput(command: Command): void {
  const format = LINES.includes(command.name()) ? "jsonl" : "json";
  command.addOption(new Option("--output <format>", `${format} is the same as --json`).choices(["text", format]));
  command.hook("preAction", (_, acting) => {
    if (acting.opts()["output"] === format) acting.setOptionValue("json", true);
  });
}
