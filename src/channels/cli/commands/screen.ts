import { Command } from "commander";
import { UsageError } from "../../../domain/errors.ts";
import type { Io, ScreenRequest, Services } from "../../channel.ts";
import { FLAGS } from "../input/flags.ts";
import { welcome } from "./welcome.ts";

/** Flags of `vis` without a command. */
export const SCREEN_FLAGS = [
  ["-c, --continue", "go on with the newest conversation of this workspace"],
  ["--conversation <id>", "go on with this conversation (the beginning of its id will do)"],
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
    throw new UsageError("Cannot show the screen: stdin and stdout must be a terminal (vis run asks without one)");
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
    "(vis help shows all commands)",
  ).configureOutput({
    writeErr: io.stderr,
    outputError: (text, write) => write(text.replace(/^error: /, "vis: ")),
  });
  for (const [flags, doc] of SCREEN_FLAGS) command.option(flags, doc);
  command.parse([...io.args], { from: "user" });
  const request = command.opts<ScreenRequest>();
  if (request.continue && request.conversation !== undefined) {
    throw new UsageError("Cannot go on in two places: give only one of -c and --conversation");
  }
  return request;
}
