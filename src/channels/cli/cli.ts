import { Command, CommanderError, Help, Option } from "commander";
import { messageOf, UsageError } from "../../domain/errors.ts";
import { nearestName } from "../../domain/kit/names.ts";
import { visibleText } from "../../domain/kit/text.ts";
import { typedCommand } from "../../domain/query/typed_request.ts";
import type { Io, Services } from "../channel.ts";
import { describeError, interrupt, jsonText, versionLine } from "./output.ts";
import { ASK } from "./program/ask.ts";
import {
  type CommandGroup,
  type Context,
  namesFamiliar,
  readRunSettings,
  refuseMisread,
  refuseUnknownHelp,
} from "./program/command.ts";
import { HELP } from "./program/help.ts";
import { REVIEW } from "./program/review.ts";
import { SERVE } from "./program/serve.ts";
import { SET_UP } from "./program/set_up.ts";

const DEFAULTS: Readonly<Record<string, string>> = {
  conversations: "list",
  extensions: "list",
  config: "list",
  auth: "status",
};

const HELP_FLAGS: readonly string[] = ["-h", "--help"];
const COMMON: readonly string[] = [...HELP_FLAGS, "-V", "--version"];

export async function runCli(services: Services, io: Io): Promise<number> {
  let code = 0;
  const [flag = "", ...rest] = io.args;
  const isVersion = flag === "-v" && rest.length === 0;
  const given = isVersion ? ["--version"] : HELP_FLAGS.includes(flag) ? ["help", ...rest] : io.args;
  const typed = spelled(given, COMMANDS);
  const [start = ""] = typed;
  const only = start === "-V" || start === "--version" ? "version" : start;
  const program = buildProgram({ services, io, finish: (told) => code = told }, { only });
  const args = spelled(wordFirst(typed, program), COMMANDS);
  const [first = ""] = args;
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
      const { FAMILIAR_WORDS } = await import("../../domain/familiar_words.ts");
      const ours = Object.hasOwn(FAMILIAR_WORDS, first) ? FAMILIAR_WORDS[first] : undefined;
      const words = wordsOf(args, program);
      const isCommand = words.length === 1 || words.length <= MOST_WORDS && BELOW.includes(words[1] ?? "");
      const isExtension = ours === undefined && isCommand && await hasExtension(first, services);
      const isKnown = isCommand && (ours !== undefined || isExtension);
      if (!isKnown && isRequest(words, COMMANDS)) return await ask();
      const near = nearestName(first, [...COMMANDS, ...OTHER_WORDS]);
      const hint = ours !== undefined
        ? `(Vis has ${ours})\n`
        : isExtension
        ? `(${first} is an extension; vis extensions show ${first} describes it)\n`
        : near === null
        ? ""
        : `(Did you mean ${near}?)\n`;
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
    // Commander has already printed its own errors.
    if (!(error instanceof CommanderError)) io.stderr(`vis: ${visibleText(told.message)}\n`);
    return told.code;
  }
}

async function extensionCommand(
  args: readonly string[],
  { program, services, io }: { readonly program: Command; readonly services: Services; readonly io: Io },
): Promise<number | null> {
  const [first = "", ...rest] = args;
  const isHelp = first === "help";
  const name = isHelp ? rest.find((word) => !word.startsWith("-")) ?? "" : first;
  if (!/^[a-z][a-z0-9-]*$/.test(name) || program.commands.some((command) => command.name() === name)) return null;
  const admin = await services.extensionAdmin({});
  if (isHelp && rest.includes("--schema")) {
    if (!(await admin.commands()).some((one) => one.name === name)) return null;
    throw new UsageError(`Cannot show a schema: vis ${name} has no JSON output`);
  }
  using interrupted = interrupt(io);
  try {
    return await admin.run(isHelp ? [name, "--help"] : args, {
      print: io.stdout,
      ask: (question) => io.askLine(question),
      signal: interrupted.signal,
    });
  } catch (error) {
    if (describeError(error)) throw error;
    io.stderr(`vis: ${visibleText(messageOf(error))}\n`);
    return 1;
  }
}

function withUsual(args: readonly string[]): string[] {
  const [first = "", ...rest] = args;
  const usual = DEFAULTS[first];
  const next = rest[0] ?? "";
  const isAlone = next === "" || next.startsWith("-") && !HELP_FLAGS.includes(next);
  return usual !== undefined && isAlone ? [first, usual, ...rest] : [...args];
}

function misused(error: CommanderError): { readonly code: number; readonly message: string } {
  // deno-lint-ignore vis/no-message-parsing -- commander puts a word before its messages
  return { code: 2, message: error.message.replace(/^error: /, "") };
}

function jsonFormat(args: readonly string[]): "json" | "jsonl" | null {
  const told = args.slice(0, args.includes("--") ? args.indexOf("--") : args.length);
  const at = told.indexOf("--output");
  const output = at < 0 ? told.find((word) => word.startsWith("--output="))?.slice("--output=".length) : told[at + 1];
  if (output === "jsonl") return "jsonl";
  return output === "json" || told.includes("--json") ? "json" : null;
}

const ALIASES: Readonly<Record<string, readonly string[]>> = {
  login: ["auth", "login"],
  logout: ["auth", "logout"],
  history: ["conversations", "list"],
  export: ["conversations", "export"],
  exec: ["run"],
};

const RESUME: readonly string[] = ["resume", "continue"];
const OTHER_WORDS: readonly string[] = [...Object.keys(ALIASES), ...RESUME];

const MOST_WORDS = 3;
const BELOW: readonly string[] = [
  "list",
  "ls",
  "show",
  "get",
  "set",
  "info",
  "status",
  "add",
  "install",
  "remove",
  "rm",
];

/** A mistyped id matches as well, because the lookup of an invalid id fails without a model call. */
const ID = /^(?=.*\d)[0-9a-f-]{4,}$/i;
const PRINT: readonly string[] = ["-p", "--print"];

export function spelled(args: readonly string[], commands: readonly string[]): readonly string[] {
  const [first = "", ...rest] = args;
  const aliasOf = (word = ""): readonly string[] | undefined =>
    Object.hasOwn(ALIASES, word) ? ALIASES[word] : undefined;
  if (first === "help" && rest.length === 1) return [first, ...aliasOf(rest[0]) ?? rest];
  if (commands.includes(first)) return args;
  // Words other than an id after "continue" are a request, such as "continue with the tests".
  const [id = "", ...more] = rest, isId = ID.test(id), [next = "-"] = isId ? more : rest;
  if (RESUME.includes(first) && (first === "resume" || next.startsWith("-"))) {
    return isId ? ["--conversation", id, ...more] : ["-c", ...rest];
  }
  const alias = aliasOf(first);
  if (alias) return [...alias, ...rest];
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  if (!args.slice(0, end).some((arg) => PRINT.includes(arg))) return args;
  return ["run", ...args.filter((arg, at) => at >= end || !PRINT.includes(arg))];
}

async function hasExtension(name: string, services: Services): Promise<boolean> {
  const listed = await services.extensionAdmin({}).then((admin) => admin.list()).catch(() => []);
  return listed.some(({ alias, state }) => state === "loaded" && alias === name);
}

const CONTINUES = /^(?:-[a-z]*c|--(?:continue|conversation|fork)(?:=|$))/;

/** `vis --cwd DIR undo` is `vis undo --cwd DIR`. An option that continues a conversation makes all words a request, such
 * as `vis -c go`, except a command alone. */
function wordFirst(args: readonly string[], program: Command): readonly string[] {
  const [start = ""] = args;
  if (!start.startsWith("-") || COMMON.includes(start)) return args;
  const places = wordPlaces(args, program);
  const [at = -1] = places, word = args[at] ?? "", options = args.slice(0, at);
  if (at < 0 || options.includes("--")) return args;
  const isAlone = places.length === 1 && [...COMMANDS, ...OTHER_WORDS].includes(word);
  if (!isAlone && options.some((arg) => CONTINUES.test(arg))) return args;
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  return [...args.slice(at, end), ...options, ...args.slice(end)];
}

function wordsOf(args: readonly string[], program: Command): readonly string[] {
  return wordPlaces(args, program).map((at) => args[at] ?? "");
}

function wordPlaces(args: readonly string[], program: Command): readonly number[] {
  const options = program.commands.find((command) => command.name() === "run")?.options ?? [];
  const takesValue = (arg: string): boolean =>
    options.some(({ long, short, required }) => required && (arg === long || arg === short));
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  const isWord = (arg: string, at: number): boolean => !arg.startsWith("-") && !takesValue(args[at - 1] ?? "");
  return [...args.keys()].filter((at) => at > end || isWord(args[at] ?? "", at));
}

/** Some languages put no spaces between words, and no command ends in ? or !. */
const SENTENCE = /\s|[?!]$|\P{ASCII}/u;

function isRequest(words: readonly string[], commands: readonly string[]): boolean {
  const [first = ""] = words;
  if (SENTENCE.test(first.trim()) || typedCommand(first) !== null) return true;
  return words.length > 1 && nearestName(first, commands) === null;
}

const AFTER = `
Getting started:
  vis demo                                      see Vis work, without an API key
  vis auth login                                choose a provider, save its key
  vis "What is in this folder?"                 ask; vis -c "…" continues
  git diff | vis run "Review this" > review.md  with piped input
  vis doctor                                    find problems and their fixes

vis help COMMAND explains a command. vis without a command starts interactive
mode on a terminal; its options are -c, --conversation ID, --model, --provider,
--db, --cwd, --root, --add-dir, --shell and --set KEY=VALUE. vis "…" starts it
with this request. Without a terminal, or with -p, vis "…" is vis run "…".
Also known: login, logout, history, export, exec, resume [ID], continue [ID].`;

const GROUPS: readonly CommandGroup[] = [ASK, REVIEW, SET_UP, SERVE, HELP];

export const COMMANDS: readonly string[] = [
  ...GROUPS.flatMap(({ parts }) => parts.flatMap(({ names }) => names)),
  "help",
  "__complete",
];

const LINES: readonly string[] = ["logs"];

/** `only` names the command whose part is built, because building all parts slows the start. */
export function buildProgram(
  given: Omit<Context, "commandNamed">,
  { only }: { readonly only?: string | undefined } = {},
): Command {
  const context = { ...given, commandNamed };
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
  program.hook("preAction", async (_, acting) => {
    refuseMisread(acting);
    const { json, output } = acting.opts();
    if (json === true && output === "text") {
      throw new UsageError("Cannot use --json with --output text: they exclude each other; use only one of them");
    }
    await readRunSettings(acting, services);
  });
  refuseUnknownHelp(program);
  for (const command of program.commands) hintAt(command, command.name());
  return program;
}

function commandNamed(name: string): string | null {
  const words = spelled([name], COMMANDS).join(" ");
  return COMMANDS.includes(name) || words !== name ? words : null;
}

function hintAt(command: Command, path: string): void {
  command.showHelpAfterError(`(vis help ${path} explains its usage)`);
  if (path !== "help") namesFamiliar(command); // The help also takes a question about an option.
  if (command.commands.length > 0) refuseUnknownHelp(command);
  for (const below of command.commands) hintAt(below, `${path} ${below.name()}`);
}

function optionDescription(option: Option): string {
  return new Help().optionDescription(option).replace(/\s*\(default: (?:false|\[\])\)$/, "");
}

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
  command.addOption(
    new Option("--output <format>", `output format of stdout; ${format} is the same as --json`).choices([
      "text",
      format,
    ]),
  );
  command.hook("preAction", (_, acting) => {
    if (acting.opts()["output"] === format) acting.setOptionValue("json", true);
  });
}
