import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import type { Io, Services } from "../channel.ts";
import { addPrompt } from "./_add_prompt.ts";
import { addConversations } from "./_add_conversations.ts";
import { addExtensions } from "./_add_extensions.ts";
import { addConfig } from "./_add_config.ts";
import { addDb } from "./_add_db.ts";
import { addSearch } from "./_add_search.ts";
import { addProviders } from "./_add_providers.ts";
import { addVars } from "./_add_vars.ts";
import { addProtocols } from "./_add_protocols.ts";
import { addServe } from "./_add_serve.ts";
import { describeError } from "./exit_code.ts";
import type { RunFlags } from "./run_command.ts";
import { terminalText } from "./terminal_text.ts";

/** What a command needs besides its flags. */
interface Context {
  readonly services: Services;
  readonly io: Io;
  /** Told by the command that ran. */
  finish(code: number): void;
}

/** Parses the command line and runs one command. Resolves with the exit code; throws only for defects. */
export async function runCli(services: Services, io: Io): Promise<number> {
  let code = 0;
  const program = build({ services, io, finish: (told) => code = told });
  try {
    if (io.args.length === 0) {
      program.outputHelp();
      return 0;
    }
    const done = await extensionCommand(program, { services, io });
    if (done !== null) return done;
    await program.parseAsync(argumentsOf(program, io.args), { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const told = error instanceof CommanderError ? misused(error) : describeError(error);
    if (!told) throw error;
    if (wantsJson(io.args)) io.stdout(`${JSON.stringify({ error: told })}\n`);
    if (!(error instanceof CommanderError)) io.stderr(`vis: ${terminalText(told.message)}\n`); // commander has told its own
    return told.code;
  }
}

/** A word that is no command may be one of an extension; null where it is not. */
async function extensionCommand(
  program: Command,
  { services, io }: Pick<Context, "services" | "io">,
): Promise<number | null> {
  const [name = ""] = io.args;
  const known = ["help", ...program.commands.map((command) => command.name())];
  if (!/^[a-z][a-z0-9-]*$/.test(name) || known.includes(name)) return null;
  return await (await services.extensionAdmin({})).run(io.args, io.stdout);
}

/** `help` of a command that does not exist is that command's error, which names the nearest one. */
function argumentsOf(program: Command, args: readonly string[]): string[] {
  const [first, asked = "", ...rest] = args;
  const known = ["", "help", ...program.commands.map((command) => command.name())];
  return first === "help" && !known.includes(asked) && !asked.startsWith("-") ? [asked, ...rest] : [...args];
}

function misused(error: CommanderError): { readonly code: number; readonly message: string } {
  return { code: 2, message: error.message.replace(/^error: /, "") };
}

function wantsJson(args: readonly string[]): boolean {
  return args.includes("--output=json") || args[args.indexOf("--output") + 1] === "json" && args.includes("--output");
}

function build(context: Context): Command {
  const { services, io } = context;
  const program = new Command("vis")
    .description("An agent in one executable: the model writes TypeScript, a sandbox runs it.")
    .version(versionText(services), "-V, --version", "print the version")
    .helpCommand("help [command]", "show the help of a command")
    .showSuggestionAfterError()
    .showHelpAfterError("(vis help shows all commands)")
    .exitOverride()
    .configureOutput({
      writeOut: io.stdout,
      writeErr: io.stderr,
      outputError: (text, write) => write(text.replace(/^error: /, "vis: ")),
      getErrHasColors: () => io.stderrColor,
      getOutHasColors: () => false,
    });
  addRun(program, context);
  addDemo(program, context);
  addDoctor(program, context);
  addProviders(program, context);
  addConfig(program, context);
  addConversations(program, context);
  addPrompt(program, context);
  addVars(program, context);
  addServe(program, context);
  addProtocols(program, context);
  addDb(program, context);
  addExtensions(program, context);
  addSearch(program, context);
  program.command("version").description("print the version of vis and of its runtime").action(() => {
    io.stdout(`${versionText(services)}\n`);
  });
  return program;
}

function versionText({ version }: Services): string {
  const { vis, deno, v8, target, compiled } = version;
  return `vis ${vis} (deno ${deno}, v8 ${v8}, ${target}${compiled ? ", compiled" : ""})`;
}

function addRun(program: Command, { services, io, finish }: Context): void {
  program.command("run")
    .description("run one query: progress on stderr, the answer alone on stdout; reads stdin too")
    .argument("[prompt...]", "what you want; what is piped in stands below it")
    .option("-c, --continue", "go on with the newest conversation of this workspace")
    .option("--conversation <id>", "go on with this conversation (8 characters of its id will do)")
    .option("--fork <id>", "go on in a new branch from ID or ID@ITERATION; the other one stays as it is")
    .option("--model <name>", "model to use, or provider/model (VIS_MODEL)")
    .option("--provider <name>", "the only provider to use, such as anthropic, ollama or demo (VIS_PROVIDER)")
    .option("--max-iterations <n>", "iterations the query may use before it asks for more", positiveInteger)
    .addOption(
      new Option("--output <format>", "what stdout gets").choices(["text", "json", "jsonl"]).default("text"),
    )
    .option("--image <file>", "send an image with the request, a file or an address; may be given again", collected, [])
    .option("--context <file>", "a text or JSON of any size that the model works on as the variable context")
    .option("--schema <file>", "the answer must satisfy this JSON Schema; stdout gets the JSON alone")
    .option("--extension <path>", "load the extension in this folder too; may be given again", collected, [])
    .option("--db <path>", "database file, or :memory: (VIS_DB)")
    .option("--cwd <dir>", "workspace folder; the current one by default")
    .option("-q, --quiet", "no progress on stderr", false)
    .option("-v, --verbose", "whole blocks and results on stderr", false)
    .addHelpText("after", RUN_EXAMPLES)
    .action(async (words: string[], flags: RunFlags) => {
      const { readPrompt } = await import("./read_prompt.ts");
      const prompt = await readPrompt(words, io);
      const { runCommand } = await import("./run_command.ts");
      finish(await runCommand(prompt, { services, io, flags }));
    });
}

const RUN_EXAMPLES = `
Examples:
  vis run "Which files here mention TODO, and how often?"
  vis run -c "And which of them is the oldest?"
  git diff | vis run "Review this" --output json
  vis run "Which products are on it?" --image shelf.jpg --schema products.schema.json

Exit codes: 0 answer, 1 the query failed or ran out, 2 usage, 3 configuration, 130 cancelled.
Environment: VIS_BASE_URL, VIS_API_KEY, VIS_MODEL, VIS_PROVIDER, VIS_HOME, VIS_DB, VIS_LOG.`;

function addDemo(program: Command, { services, io, finish }: Context): void {
  program.command("demo")
    .description("run the main job with scripted policies: no key, no network")
    .addOption(new Option("--resume <dir>").hideHelp())
    .action(async (flags: { resume?: string }) => {
      const { demoCommand } = await import("./demo_command.ts");
      finish(await demoCommand({ services, io, resume: flags.resume ?? null }));
    });
}

function addDoctor(program: Command, { services, io, finish }: Context): void {
  program.command("doctor")
    .description("check this machine: walls of the sandbox (tried, not guessed), database, provider")
    .option("--db <path>", "database file (VIS_DB)")
    .option("--json", "print the checks as JSON", false)
    .action(async (flags: { db?: string; json: boolean }) => {
      const { doctorCommand } = await import("./doctor_command.ts");
      finish(await doctorCommand({ services, io, flags }));
    });
}

function collected(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

function positiveInteger(text: string): number {
  const n = Number(text);
  if (!Number.isSafeInteger(n) || n < 1) throw new InvalidArgumentError("It must be a whole number of at least 1");
  return n;
}
