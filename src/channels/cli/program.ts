import { Command, Help, type Option } from "commander";
import type { Services } from "../channel.ts";
import { addConfig } from "./_add_config.ts";
import { addConversations } from "./_add_conversations.ts";
import { addDb } from "./_add_db.ts";
import { addExtensions } from "./_add_extensions.ts";
import { addHelp } from "./_add_help.ts";
import { addPrompt } from "./_add_prompt.ts";
import { addProtocols } from "./_add_protocols.ts";
import { addProviders } from "./_add_providers.ts";
import { addRun } from "./_add_run.ts";
import { addSearch } from "./_add_search.ts";
import { addServe } from "./_add_serve.ts";
import { addUndo } from "./_add_undo.ts";
import { addVars } from "./_add_vars.ts";
import type { Context } from "./_context.ts";
import { evenOutputs } from "./_even_outputs.ts";

/** The whole command line: what parses it, and what help, completions, manual and docs are made from. */
export function buildProgram(context: Context): Command {
  const { services, io } = context;
  const program = new Command("vis")
    .description("An agent in one executable: the model writes TypeScript, a sandbox runs it.")
    .version(versionText(services), "-V, --version", "print the version")
    .helpCommand(false)
    .showSuggestionAfterError()
    .showHelpAfterError("(vis help shows all commands)")
    .configureHelp({ optionDescription })
    .exitOverride()
    .configureOutput({
      writeOut: io.stdout,
      writeErr: io.stderr,
      getOutHelpWidth: () => io.stdoutIsTerminal ? Math.max(60, io.columns()) : 80,
      getErrHelpWidth: () => io.stderrIsTerminal ? Math.max(60, io.columns()) : 80,
      outputError: (text, write) => write(text.replace(/^error: /, "vis: ")),
      getErrHasColors: () => io.stderrColor,
      getOutHasColors: () => io.stdoutColor,
    });
  program.commandsGroup("Ask:");
  addRun(program, context);
  program.commandsGroup("Look at what was done:");
  addConversations(program, context);
  addVars(program, context);
  addPrompt(program, context);
  addSearch(program, context);
  addUndo(program, context);
  program.commandsGroup("Set up:");
  addProviders(program, context);
  addConfig(program, context);
  addExtensions(program, context);
  addDb(program, context);
  program.commandsGroup("Serve others:");
  addServe(program, context);
  addProtocols(program, context);
  program.commandsGroup("Help:");
  addHelp(program, context);
  evenOutputs(program);
  return program;
}

/** Without the defaults that go without saying. */
function optionDescription(option: Option): string {
  return new Help().optionDescription(option).replace(/\s*\(default: (?:false|\[\])\)$/, "");
}

function versionText({ version }: Services): string {
  const { vis, deno, v8, target, compiled } = version;
  return `vis ${vis} (deno ${deno}, v8 ${v8}, ${target}${compiled ? ", compiled" : ""})`;
}
