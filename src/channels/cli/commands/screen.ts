import { Command } from "commander";
import { UsageError } from "../../../domain/errors.ts";
import type { Io, ScreenRequest, Services } from "../../channel.ts";
import { FLAGS } from "../input/flags.ts";
import { welcome } from "./welcome.ts";

/** Flags of `vis` without a command. */
export const SCREEN_FLAGS = [
  ["-c, --continue", "continue the latest conversation in this workspace"],
  ["--conversation <id>", "continue this conversation; a unique prefix is enough"],
  FLAGS.model,
  FLAGS.provider,
  FLAGS.db,
  FLAGS.cwd,
] as const;

/** `vis` without a command: the screen on a terminal, otherwise an overview. Resolves with the exit code. */
export async function screenCommand(
  { services, io, help }: { readonly services: Services; readonly io: Io; readonly help: () => void },
): Promise<number> {
  const request = parsed(io);
  const terminal = io.stdinIsTerminal && io.stdoutIsTerminal;
  if (!terminal && io.args.length > 0) {
    throw new UsageError(
      "Cannot start interactive mode: stdin and stdout must be a terminal; without one, use vis run",
    );
  }
  if (!terminal) return await welcome({ services, io, help });
  if (request.provider === undefined && request.model === undefined) {
    const admin = await services.providerAdmin(request);
    const { providers, problem } = await admin.providers({ check: false, signal: new AbortController().signal });
    if (problem !== "" && providers.length === 0) return await welcome({ services, io, help });
  }
  return await services.screen(request);
}

function parsed(io: Io): ScreenRequest {
  const command = new Command("vis").exitOverride().allowExcessArguments(false).showHelpAfterError(
    "(vis help lists all commands)",
  ).configureOutput({
    writeErr: io.stderr,
    outputError: (text, write) => write(text.replace(/^error: /, "vis: ")),
  });
  for (const [flags, doc] of SCREEN_FLAGS) command.option(flags, doc);
  command.parse([...io.args], { from: "user" });
  const request = command.opts<ScreenRequest>();
  if (request.continue && request.conversation !== undefined) {
    throw new UsageError("Cannot continue two conversations: use only one of -c and --conversation");
  }
  return request;
}
