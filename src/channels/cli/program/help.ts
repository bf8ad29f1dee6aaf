import { Argument, type Command, Option } from "commander";
import { UsageError } from "../../../domain/errors.ts";
import { nearestName } from "../../../domain/kit/names.ts";
import { visibleText } from "../../../domain/kit/text.ts";
import type { Shell } from "../completion.ts";
import { jsonText } from "../output.ts";
import { action, type CommandGroup, type Context, FLAGS, unknownCommand } from "./command.ts";

export const HELP: CommandGroup = {
  heading: "Help:",
  parts: [
    { names: ["doctor", "completions", "version"], add: addHelp },
  ],
};

function addHelp(program: Command, context: Context): void {
  const { services, io } = context;
  program.command("doctor")
    .description(
      "test this installation, such as its sandbox walls, settings and providers, and suggest fixes",
    )
    .option(...FLAGS.storedDb)
    .option(...FLAGS.cwd)
    .option(...FLAGS.set)
    .option(...FLAGS.json)
    .addOption(
      new Option(
        "--report",
        "print only facts about the system and its walls for a bug report, without names, keys and paths that Vis recognizes as yours",
      )
        .conflicts("json").default(false),
    )
    .action(action(context, async () => (await import("../commands/doctor.ts")).doctorCommand));
  program.command("completions")
    .description("print a shell script that completes commands, options and values")
    .addArgument(new Argument("<shell>", "shell to print the script for").choices(["bash", "zsh", "fish"]))
    .addHelpText("after", COMPLETIONS)
    .action(async (shell: Shell) => {
      const { completionScript } = await import("../completion.ts");
      io.stdout(completionScript(shell));
    });
  program.command("__complete", { hidden: true }).argument("[words...]").action(async (words: string[]) => {
    const { complete } = await import("../completion.ts");
    const { items, paths } = await complete(words, { program, services });
    const lines = items.map(({ value, about }) => visibleText(`${value}\t${about}`.replace(/[\r\n]+/g, " ")));
    io.stdout([`:${paths}`, ...lines, ""].join("\n"));
  });
  program.command("version")
    .description("print the versions of vis, its runtime and V8, and the platform")
    .option(...FLAGS.json)
    .action((flags: { json: boolean }) => {
      io.stdout(flags.json ? `${JSON.stringify(services.version, null, 2)}\n` : `${program.version()}\n`);
    });
  addHelpItself(program, context);
}

function addHelpItself(program: Command, { services, io }: Context): void {
  program.command("help")
    .description("show the help of a command, or search the documentation")
    .argument(
      "[words...]",
      'name of a command, such as conversations list, or words to search for, such as "run on a server"',
    )
    .addOption(new Option("--man", "print the manual page in roff, for man"))
    .addOption(new Option("--schema", "print the JSON Schema of the command's JSON output (default: of all commands)"))
    .helpOption(false)
    .allowUnknownOption()
    .action(async (given: string[], flags: { man?: boolean; schema?: boolean }) => {
      const words = given.filter((word) => !word.startsWith("-"));
      const command = given.length === words.length ? commandInQuestion(words.join(" "), program) : undefined;
      const isSearch = !flags.man && !flags.schema && (command !== undefined || !isCommand(words, program));
      const asked = words.length < QUESTION_WORDS ? words : given;
      const found = isSearch ? await inHandbook(asked.join(" ")) : "";
      if (found !== "") {
        return io.stdout(command ? `${found}  vis help ${command.name()}  ${command.description()}\n` : found);
      }
      const path = named(words, program);
      if (flags.schema) {
        const { outputSchemas } = await import("../output_schemas.ts");
        const name = path.map((command) => command.name()).join(" ");
        return io.stdout(jsonText(schemaOf(name, outputSchemas()), { indent: 2 }));
      }
      if (flags.man) {
        const { manPage } = await import("../manual.ts");
        return io.stdout(manPage(program, services.version.vis));
      }
      if (path.length === 0) await addFromExtensions(program, services);
      (path.at(-1) ?? program).outputHelp();
    });
}

const MOST_SECTIONS = 6;

function isCommand([first]: readonly string[], program: Command): boolean {
  return first === undefined || program.commands.some((one) => one.name() === first);
}

const QUESTION_WORDS = 3;

/** The first word of a question such as "undo a commit" or "mcp servers" can be the name of a command. */
function commandInQuestion(asked: string, program: Command): Command | undefined {
  const [first, second = "", ...others] = asked.split(" ");
  const command = program.commands.find((one) => one.name() === first);
  const below = command?.commands.map((one) => one.name()) ?? [];
  const isTopic = second !== "" && below.length > 0 && nearestName(second, below) === null;
  const isQuestion = (isTopic || others.length + 2 >= QUESTION_WORDS) && !isCommand([second], program);
  return isQuestion && command && !isCommand([second], command) ? command : undefined;
}

async function inHandbook(asked: string): Promise<string> {
  const { foundByWords, Handbook } = await import("../../../domain/handbook.ts");
  const handbook = await Handbook.open();
  const text = handbook.at(asked);
  if (text !== null) return `${text.trimEnd()}\n`;
  const [best, ...others] = foundByWords(asked, handbook.sections).slice(0, MOST_SECTIONS);
  if (!best) return "";
  const list = others.map(({ place, name }) => `  vis help ${place}  ${name}\n`);
  const more = list.length > 0 ? `\nSee also:\n${list.join("")}` : "";
  return `${best.place}\n\n${best.doc}\n${more}`;
}

/** A command of Vis such as `vis mcp login` runs the extension's `mcp-login`, so the help omits `mcp-login`. */
async function addFromExtensions(program: Command, services: Context["services"]): Promise<void> {
  const found = await services.extensionAdmin({}).then((admin) => admin.commands()).catch(() => []);
  const own = program.commands;
  const known = new Set(own.flatMap((one) => [one.name(), ...one.commands.map((of) => `${one.name()}-${of.name()}`)]));
  program.commandsGroup("From extensions:");
  for (const { name, doc } of found) if (!known.has(name)) program.command(name).description(visibleText(doc));
}

function named(words: readonly string[], program: Command): readonly Command[] {
  const path: Command[] = [];
  for (const word of words) {
    const at = path.at(-1) ?? program;
    if (at.commands.length === 0) break;
    const next = at.commands.find((one) => one.name() === word);
    if (!next) return unknownCommand(word, at);
    path.push(next);
  }
  return path;
}

function schemaOf(name: string, all: Readonly<Record<string, object>>): object {
  const own = all[name] ?? all[`${name} jsonl`];
  if (own !== undefined || name === "") return own ?? { $defs: all };
  const below = Object.keys(all).find((one) => one.startsWith(`${name} `));
  throw new UsageError(
    below === undefined
      ? `Cannot show a schema: vis ${name} has no JSON output`
      : `Cannot show a schema: vis ${name} has several commands; name one of them, such as ${below}`,
  );
}

const COMPLETIONS = `
Examples:
  source <(vis completions bash)    in ~/.bashrc
  source <(vis completions zsh)     in ~/.zshrc, after compinit
  vis completions fish > ~/.config/fish/completions/vis.fish

The script also completes conversations, models, providers, settings, variables,
extensions and their commands.`;
