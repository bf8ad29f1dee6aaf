import type { Command } from "commander";

export interface DescribedRow {
  /** As written on a command line. */
  readonly term: string;
  readonly about: string;
}

/** A command as its help describes it: the source of the manual and the docs. */
export interface DescribedCommand {
  /** The full name, such as "vis conversations list". */
  readonly name: string;
  readonly about: string;
  readonly usage: string;
  readonly arguments: readonly DescribedRow[];
  readonly flags: readonly DescribedRow[];
  /** Examples and other notes; "" for none. */
  readonly notes: string;
  /** The heading of its group in the help. */
  readonly group: string;
}

/** Every command that can be run, in the order of the help; groups have an entry only if they have notes. */
export function describedCommands(program: Command): readonly DescribedCommand[] {
  return shownBelow(program).flatMap((command) => described(command, command.helpGroup() || "Commands:"));
}

function described(command: Command, group: string): readonly DescribedCommand[] {
  const below = shownBelow(command).filter((one) => one.name() !== "help");
  const notes = notesOf(command);
  const own = below.length > 0 && notes === "" ? [] : [describe(command, { group, notes })];
  return [...own, ...below.flatMap((one) => described(one, group))];
}

function shownBelow(command: Command): readonly Command[] {
  return command.createHelp().visibleCommands(command);
}

function describe(
  command: Command,
  { group, notes }: { readonly group: string; readonly notes: string },
): DescribedCommand {
  const help = command.createHelp();
  return {
    name: help.commandUsage(command).split(" [")[0]?.split(" <")[0] ?? "",
    about: help.commandDescription(command),
    usage: help.commandUsage(command),
    arguments: help.visibleArguments(command).map((one) => ({
      term: help.argumentTerm(one),
      about: help.argumentDescription(one),
    })),
    flags: help.visibleOptions(command).filter(({ long }) => long !== "--help").map((one) => ({
      term: help.optionTerm(one),
      about: help.optionDescription(one),
    })),
    notes,
    group: group.replace(/:$/, ""),
  };
}

/** The text after the lists of its help. Redirects the command's help output permanently. */
function notesOf(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (more) => void (text += more) });
  command.outputHelp();
  return text.slice(command.helpInformation().length).trim();
}
