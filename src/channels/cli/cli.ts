/** The command line. `runCli` reads the words of the user, runs one command and resolves with its exit code.
 *
 * - `program/program.ts` declares every command: its flags, its help and the code that runs it. A file for each heading
 *   of the help has its commands; `command.ts` has what they share. It is the source of help, completions and manual.
 * - `commands/` runs them. Each topic has a file that is loaded when it is used: other starts load a parser only.
 * - `ask/` shows a query while it runs, and prints its answer.
 * - `output.ts` prints what a command found and has the exit codes; `output_schemas.ts` describes JSON.
 * - `completion.ts` and `manual.ts` are made from the program. */
import { type Command, CommanderError } from "commander";
import { messageOf } from "../../domain/errors.ts";
import { nearestName } from "../../domain/kit/names.ts";
import { visibleText } from "../../domain/kit/text.ts";
import type { Io, Services } from "../channel.ts";
import { describeError, interrupt, jsonText } from "./output.ts";
import { buildProgram, COMMANDS } from "./program/program.ts";

/** The default command of each group. */
const DEFAULTS: Readonly<Record<string, string>> = {
  conversations: "list",
  extensions: "list",
  config: "list",
  auth: "status",
};

const HELP: readonly string[] = ["-h", "--help"];
/** Flags that need no command. */
const COMMON: readonly string[] = [...HELP, "-V", "--version"];

/** Parses the command line and runs one command. Resolves with the exit code; throws only for defects. */
export async function runCli(services: Services, io: Io): Promise<number> {
  let code = 0;
  const given = HELP.includes(io.args[0] ?? "") ? ["help", ...io.args.slice(1)] : io.args;
  const args = spelled(given, COMMANDS);
  const [first = ""] = args;
  const only = first === "-V" || first === "--version" ? "version" : first;
  const program = buildProgram({ services, io, finish: (told) => code = told }, { only });
  try {
    const run = async (words: readonly string[]): Promise<number> => {
      await program.parseAsync(words, { from: "user" });
      return code;
    };
    const ask = async (): Promise<number> => {
      const { screenCommand } = await import("./commands/screen.ts");
      return await screenCommand({ services, io, args, help: () => program.outputHelp(), run });
    };
    if (first === "" || first.startsWith("-") && !COMMON.includes(first)) return await ask();
    const done = await extensionCommand(args, { program, services, io });
    if (done !== null) return done;
    if (!COMMANDS.includes(first)) {
      if (isRequest(args, COMMANDS)) return await ask();
      const near = nearestName(first, [...COMMANDS, ...OTHER_WORDS]);
      const hint = near === null ? "" : `(Did you mean ${near}?)\n`;
      program.showSuggestionAfterError(false).showHelpAfterError(
        `${hint}(to ask it: vis run "…")\n(vis help lists all commands)`,
      );
    }
    return await run(withUsual(args));
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const told = error instanceof CommanderError ? misused(error) : describeError(error);
    const format = jsonFormat(io.args);
    const shown = { error: told ?? { code: 1, message: messageOf(error) } };
    if (format !== null) io.stdout(jsonText(format === "jsonl" ? { type: "error", ...shown } : shown));
    if (!told) throw error;
    if (!(error instanceof CommanderError)) io.stderr(`vis: ${visibleText(told.message)}\n`); // already printed
    return told.code;
  }
}

/** Runs a command of an extension; null if the word is not one. Any unknown word may be one, also after `help`. */
async function extensionCommand(
  args: readonly string[],
  { program, services, io }: { readonly program: Command; readonly services: Services; readonly io: Io },
): Promise<number | null> {
  const [first = "", ...rest] = args;
  const isHelp = first === "help";
  const name = isHelp ? rest.find((word) => !word.startsWith("-")) ?? "" : first;
  if (!/^[a-z][a-z0-9-]*$/.test(name) || program.commands.some((command) => command.name() === name)) return null;
  const admin = await services.extensionAdmin({});
  using interrupted = interrupt(io);
  return await admin.run(isHelp ? [name, "--help"] : args, {
    print: io.stdout,
    ask: (question) => io.askLine(question),
    signal: interrupted.signal,
  });
}

/** Completes a group without a subcommand by its default. */
function withUsual(args: readonly string[]): string[] {
  const [first = "", ...rest] = args;
  const usual = DEFAULTS[first];
  const next = rest[0] ?? "";
  const isAlone = next === "" || next.startsWith("-") && !HELP.includes(next);
  return usual !== undefined && isAlone ? [first, usual, ...rest] : [...args];
}

function misused(error: CommanderError): { readonly code: number; readonly message: string } {
  // deno-lint-ignore vis/no-message-parsing -- commander puts a word before its messages
  return { code: 2, message: error.message.replace(/^error: /, "") };
}

/** Returns the format in which the caller reads stdout; null for text. */
function jsonFormat(args: readonly string[]): "json" | "jsonl" | null {
  const told = args.slice(0, args.includes("--") ? args.indexOf("--") : args.length);
  const at = told.indexOf("--output");
  const output = at < 0 ? told.find((word) => word.startsWith("--output="))?.slice("--output=".length) : told[at + 1];
  if (output === "jsonl") return "jsonl";
  return output === "json" || told.includes("--json") ? "json" : null;
}

/** Commands for the words that people type for them. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  login: ["auth", "login"],
  logout: ["auth", "logout"],
  history: ["conversations", "list"],
  export: ["conversations", "export"],
};

/** Every word that `spelled` accepts besides the commands. */
const OTHER_WORDS: readonly string[] = [...Object.keys(ALIASES), "resume"];

/** Matches an id that is too short or in capitals as well: the lookup fails, and no model is called. */
const ID = /^(?=.*\d)[0-9a-f-]{4,}$/i;
const PRINT: readonly string[] = ["-p", "--print"];

/** Returns the arguments as the program spells them: with the command for an alias, and `run` for `-p`. `commands` are
 * the program's names. */
export function spelled(args: readonly string[], commands: readonly string[]): readonly string[] {
  const [first = "", ...rest] = args;
  if (commands.includes(first)) return args;
  if (first === "resume") {
    const [id = "", ...more] = rest;
    return ID.test(id) ? ["--conversation", id, ...more] : ["-c", ...rest];
  }
  const alias = Object.hasOwn(ALIASES, first) ? ALIASES[first] : undefined;
  if (alias) return [...alias, ...rest];
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  if (!args.slice(0, end).some((arg) => PRINT.includes(arg))) return args;
  return ["run", ...args.filter((arg, at) => at >= end || !PRINT.includes(arg))];
}

/** Whether arguments that begin with no command are a request in plain words. A text with spaces is one, and so are
 * several words if the first is not close to a command. A single word is treated as an unknown command. */
function isRequest(args: readonly string[], commands: readonly string[]): boolean {
  const [first = ""] = args;
  if (/\s/.test(first.trim())) return true;
  const words = args.filter((arg) => !arg.startsWith("-"));
  return words.length > 1 && nearestName(first, commands) === null;
}
