import { Command } from "commander";
import { ConfigError, UsageError } from "../../../domain/errors.ts";
import { visibleText } from "../../../domain/kit/text.ts";
import type { Io, ScreenRequest, Services } from "../../channel.ts";
import { FLAGS, inOwnWorkspace, namesFamiliar, readRunSettings, refuseMisread } from "../program/command.ts";

const SCREEN_FLAGS = [
  ["-c, --continue", "continue the latest conversation in this workspace"],
  [
    "--conversation <id>",
    "continue this conversation or branch; a unique prefix of at least 8 characters of its id is enough",
  ],
  FLAGS.model,
  FLAGS.provider,
  FLAGS.db,
  FLAGS.shell,
  FLAGS.root,
  FLAGS.cwd,
] as const;

export async function screenCommand(
  { services, io, args, help, run }: {
    readonly services: Services;
    readonly io: Io;
    readonly args: readonly string[];
    readonly help: () => void;
    readonly run: (args: readonly string[]) => Promise<number>;
  },
): Promise<number> {
  const terminal = io.stdinIsTerminal && io.stdoutIsTerminal;
  const isAsked = args.some((arg) => !arg.startsWith("-")) || io.stdinIsPiped();
  if (!terminal && isAsked) return await run(["run", ...args]);
  if (!terminal && args.length === 0) return await welcome({ services, io, help });
  const { version = false, ...request } = await parsed(args, { services, io });
  if (version) return await run(["--version"]);
  if (!terminal) {
    throw new UsageError(
      'Cannot start interactive mode: stdin or stdout is not a terminal; use vis run "…"',
    );
  }
  return await services.screen(await inOwnWorkspace({ services, flags: request }));
}

async function parsed(
  args: readonly string[],
  { services, io }: { readonly services: Services; readonly io: Io },
): Promise<ScreenRequest & { readonly version?: boolean }> {
  const command = new Command("vis").argument("[words...]").exitOverride().showHelpAfterError(
    "(vis help lists all commands)",
  ).configureOutput({
    writeErr: io.stderr,
    outputError: (text, write) => write(text.replace(/^error: /, "vis: ")),
  });
  namesFamiliar(command);
  for (const [flags, doc] of SCREEN_FLAGS) command.option(flags, doc);
  command.option(...FLAGS.addDir).option(...FLAGS.set).option("-V, --version", "print the version");
  command.parse([...args], { from: "user" });
  refuseMisread(command);
  await readRunSettings(command, services);
  const words = command.args.join(" ").trim();
  const request: ScreenRequest = { ...command.opts<ScreenRequest>(), ...(words === "" ? {} : { request: words }) };
  if (request.continue && request.conversation !== undefined) {
    throw new UsageError(
      "Cannot continue two conversations: the options exclude each other; use only one of -c and --conversation",
    );
  }
  return request;
}

async function welcome(
  { services, io, help }: { readonly services: Services; readonly io: Io; readonly help: () => void },
): Promise<number> {
  const admin = await services.providerAdmin({});
  const { providers, problem, notes } = await admin.providers({ check: false, signal: new AbortController().signal });
  if (problem !== "" && providers.length === 0) {
    throw new ConfigError(`${problem}\n\nvis help lists all commands`);
  }
  help();
  const root = providers.find((one) => one.root);
  const uses = root ? [`uses ${root.name}${root.model === null ? "" : ` ${root.model}`}: vis run "…"`] : [];
  for (const line of [...uses, ...notes, ...problem === "" ? [] : [problem]]) {
    io.stderr(`vis · ${visibleText(line)}\n`);
  }
  return 0;
}
