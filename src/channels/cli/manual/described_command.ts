import type { Command } from "commander";

export interface DescribedRow {
  /** As it is written on a command line. */
  readonly term: string;
  readonly about: string;
}

/** A command as its help tells of it: what manual and docs are made from. */
export interface DescribedCommand {
  /** With those above it: "vis conversations list". */
  readonly name: string;
  readonly about: string;
  readonly usage: string;
  readonly arguments: readonly DescribedRow[];
  readonly flags: readonly DescribedRow[];
  /** Examples and the like, "" where there are none. */
  readonly notes: string;
  /** Of the group in the help. */
  readonly group: string;
}

/** Every command that can be run, in the order of the help; groups have no entry of their own unless they say more. */
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

/** What stands behind the lists of its help. From now on the command writes its help nowhere. */
function notesOf(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (more) => void (text += more) });
  command.outputHelp();
  return text.slice(command.helpInformation().length).trim();
}
