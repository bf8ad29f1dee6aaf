import { type Command, CommanderError } from "commander";
import type { Io, Services } from "../channel.ts";
import { describeError } from "./exit_code.ts";
import { buildProgram } from "./program.ts";
import { terminalText } from "./terminal_text.ts";

/** What a group does where nothing follows its name. */
const DEFAULTS: Readonly<Record<string, string>> = {
  conversations: "list",
  extensions: "list",
  config: "list",
  auth: "status",
};

/** Flags of every program, which need no command. */
const COMMON: readonly string[] = ["-h", "--help", "-V", "--version"];

/** Parses the command line and runs one command. Resolves with the exit code; throws only for defects. */
export async function runCli(services: Services, io: Io): Promise<number> {
  let code = 0;
  const [first = ""] = io.args;
  const only = first === "-V" || first === "--version" ? "version" : first;
  const program = buildProgram({ services, io, finish: (told) => code = told }, { only });
  try {
    if (first === "" || first.startsWith("-") && !COMMON.includes(first)) {
      const { screenCommand } = await import("./screen_command.ts");
      return await screenCommand({ services, io, help: () => program.outputHelp() });
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

/** A word that is no command may be one of an extension, as may the word behind `help`; null where it is not. */
async function extensionCommand(
  program: Command,
  { services, io }: { readonly services: Services; readonly io: Io },
): Promise<number | null> {
  const [first = "", second = ""] = io.args;
  const args = first === "help" && second !== "" ? [second, "--help"] : io.args;
  const [name = ""] = args;
  if (!/^[a-z][a-z0-9-]*$/.test(name) || named(program, name)) return null;
  return await (await services.extensionAdmin({})).run(args, io.stdout);
}

/** A group alone does the usual thing. `help` of a command that does not exist is that command's error, which names the
 * nearest one. */
function argumentsOf(program: Command, args: readonly string[]): string[] {
  const [first = "", ...rest] = args;
  const usual = DEFAULTS[first];
  const next = rest[0] ?? "";
  if (usual !== undefined && (next === "" || next.startsWith("-") && next !== "--help" && next !== "-h")) {
    return [first, usual, ...rest];
  }
  if (first !== "help") return [...args];
  let at: Command | undefined = program;
  for (const word of rest.filter((one) => !one.startsWith("-"))) at = at && named(at, word);
  return at ? [...args] : [...rest];
}

function named(program: Command, name: string): Command | undefined {
  return program.commands.find((command) => command.name() === name);
}

function misused(error: CommanderError): { readonly code: number; readonly message: string } {
  return { code: 2, message: error.message.replace(/^error: /, "") };
}

function wantsJson(args: readonly string[]): boolean {
  const told = args.slice(0, args.includes("--") ? args.indexOf("--") : args.length);
  if (told.includes("--json") || told.includes("--output=json")) return true;
  return told.includes("--output") && told[told.indexOf("--output") + 1] === "json";
}
