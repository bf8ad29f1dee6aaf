import { type Command, InvalidArgumentError } from "commander";
import type { Conversations } from "../../../conversation/conversations.ts";
import { isGone } from "../../../domain/kit/files.ts";
import { nearestName } from "../../../domain/kit/names.ts";
import type { Io, OpenRequest, Services, Session } from "../../channel.ts";

export interface CommandGroup {
  readonly heading: string;
  readonly parts: readonly {
    readonly names: readonly string[];
    readonly add: (program: Command, context: Context) => void;
  }[];
}

export interface Context {
  readonly services: Services;
  readonly io: Io;
  finish(code: number): void;
  /** Returns the words of a command that has this name or this second name, or null. */
  commandNamed(name: string): string | null;
}

export interface CommandInput<Flags> {
  readonly services: Services;
  readonly io: Io;
  readonly flags: Flags;
}

export type StoredCommand<Flags> = CommandInput<Flags & { readonly db?: string | undefined }>;

export function action<A extends readonly unknown[], F>(
  { services, io, finish }: Context,
  load: () => Promise<(...given: [...A, CommandInput<F>]) => Promise<number>>,
): (...given: [...A, F, Command]) => Promise<void> {
  return async (...given) => {
    const run = await load();
    const flags = given.at(-2) as F;
    finish(await run(...given.slice(0, -2) as unknown as A, { services, io, flags }));
  };
}

export const FLAGS = {
  model: ["--model <name>", "model to use, or provider/model (env: VIS_MODEL)"],
  provider: ["--provider <name>", "use only this provider, such as anthropic, ollama or demo (env: VIS_PROVIDER)"],
  db: ["--db <path>", "database: a file, postgres://… or :memory: (env: VIS_DATABASE_URL, or else VIS_DB)"],
  storedDb: ["--db <path>", "database: a file, or postgres://… (env: VIS_DATABASE_URL, or else VIS_DB)"],
  root: ["--root", "let Vis change files of the repository around the workspace without a question"],
  addDir: [
    "--add-dir <path>",
    "let Vis also read this folder; file functions, and commands behind a complete wall, can change it only after you approve (repeatable)",
    collected,
  ],
  shell: [
    "--shell <mode>",
    "if the command wall is incomplete: ask (before a command without a lasting approval), run (without this question) or off (run no command) (default: shell.unwalled)",
    unwalledMode,
  ],
  cwd: ["--cwd <dir>", "workspace folder (default: current folder)"],
  move: [
    "--cwd <dir>",
    "workspace folder; moves a conversation there (default: folder of the conversation if it exists, or else the current folder)",
  ],
  set: [
    "--set <key=value>",
    "change a setting for this run only; KEY and VALUE are as in vis config set (repeatable)",
    collected,
  ],
  json: ["--json", "print JSON", false],
} as const;

export function positiveInteger(text: string): number {
  const n = Number(text);
  if (!Number.isSafeInteger(n) || n < 1) throw new InvalidArgumentError("Write a whole number of at least 1");
  return n;
}

export function parseDollars(text: string): number {
  const n = Number(text.replace(/^\$/, ""));
  if (!/^\$?\d*\.?\d+$/.test(text) || n <= 0) {
    throw new InvalidArgumentError("Write an amount in US dollars above 0, such as 0.50");
  }
  return n;
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, "": 1_000, s: 1_000, m: 60_000, h: 3_600_000 };

export function duration(text: string): number {
  const [, number = "", unit = ""] = /^(\d*\.?\d+)(ms|s|m|h)?$/.exec(text.trim()) ?? [];
  const ms = Math.round(Number(number) * (UNITS[unit] ?? NaN));
  if (number === "" || !Number.isSafeInteger(ms) || ms < 1) {
    throw new InvalidArgumentError("Write a duration, such as 90s, 10m or 1h");
  }
  return ms;
}

function unwalledMode(text: string): "ask" | "run" | "off" {
  if (text === "ask" || text === "run" || text === "off") return text;
  throw new InvalidArgumentError("Choose ask, run or off");
}

export function collected(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** An unset variable makes the value of `--conversation "$ID"` empty, and the command would use another
 * conversation. */
export function refuseEmpty(command: Command): void {
  const given = command.opts();
  const empty = command.options.find((option) => [given[option.attributeName()]].flat().includes(""));
  if (!empty) return;
  command.error(`error: option '${empty.flags}' argument '' is invalid. Write a value`, {
    code: "commander.invalidArgument",
  });
}

/** A word such as `model="x"` after `-c` is a setting in similar programs. */
const SETTING_WORD = /^[a-z][\w-]*(?:\.[\w-]+)*=\S*$/i;

export function refuseMisread(command: Command): void {
  refuseEmpty(command);
  const [first = ""] = command.args;
  if (command.opts()["continue"] !== true || !SETTING_WORD.test(first)) return;
  command.error(
    `error: unknown setting '-c ${first}'\n(Vis has --set KEY=VALUE; -c continues the latest conversation)`,
    {
      code: "commander.unknownOption",
    },
  );
}

export async function readRunSettings(command: Command, services: Pick<Services, "configAdmin">): Promise<void> {
  const { set, cwd } = command.opts<{ readonly set?: readonly string[]; readonly cwd?: string }>();
  if (set === undefined) return;
  command.setOptionValue("set", await (await services.configAdmin({ cwd })).layer(set));
}

const APPROVED =
  "commands behind a complete wall, which run without a question unless they need more; --set shell.network=true allows them the network, " +
  "--set web.hosts=example.org lets the web functions reach a host, and --shell run skips the question if the wall is incomplete";

const FAMILIAR: Readonly<Record<string, string>> = {
  "-m": "--model NAME",
  "-r": "-c for the latest conversation, or --conversation ID",
  "--resume": "-c for the latest conversation, or --conversation ID",
  "--output-format": "--output json, or --output jsonl for one event per line",
  "-p": "vis run, which prints the answer and ends",
  "--print": "vis run, which prints the answer and ends",
  "--last": "-c for the latest conversation",
  ...Object.fromEntries(
    [
      ...["--yolo", "--dangerously-skip-permissions", "--dangerously-bypass-approvals-and-sandbox", "--full-auto"],
      ...["--allowedTools", "--allowed-tools", "--ask-for-approval", "--permission-mode"],
    ].map((flag) => [flag, APPROVED]),
  ),
  ...Object.fromEntries(
    ["-c", "--config", "--settings"].map((flag) => [flag, "--set KEY=VALUE, a setting for this run"]),
  ),
  ...Object.fromEntries(
    ["--disallowedTools", "--disallowed-tools"].map((flag) => [
      flag,
      "--set extensions.deny=NAME, which leaves out an extension, and --set shell.deny=PROGRAM, which refuses a program",
    ]),
  ),
  "--open": "vis serve --open, which opens the page in your browser",
  "-C": "--cwd DIR",
  "--cd": "--cwd DIR",
};

export function namesFamiliar(command: Command): void {
  // Commander has the method, but not its type.
  const own = command as Command & { unknownOption(flag: string): void };
  const plain = own.unknownOption.bind(own);
  own.unknownOption = (flag) => {
    const ours = Object.hasOwn(FAMILIAR, flag) ? FAMILIAR[flag] : undefined;
    if (ours === undefined) return plain(flag);
    command.error(`error: unknown option '${flag}'\n(Vis has ${ours})`, { code: "commander.unknownOption" });
  };
}

/** Commander would pass an unknown word to the action of a command with subcommands. */
export function refuseWords(command: Command): Command {
  return command.helpCommand(true).allowExcessArguments().hook("preAction", (_, acting) => {
    const [word] = command.args;
    if (acting === command && word !== undefined) unknownCommand(word, command);
  });
}

/** If an unknown command has `--help`, commander would print the help of the command above. */
export function refuseUnknownHelp(command: Command): void {
  command.on("beforeHelp", () => {
    const [word] = command.args[0] === "help" ? command.args.slice(1) : command.args;
    const isName = word !== undefined && !word.startsWith("-");
    if (!isName || command.commands.some((one) => one.name() === word)) return;
    if (command.parent !== null) unknownCommand(word, command);
    // `runCli` adds the nearest name, which may also be an alias.
    command.error(`error: unknown command '${word}'`, { code: "commander.unknownCommand" });
  });
}

export function unknownCommand(word: string, at: Command): never {
  const near = nearestName(word, at.createHelp().visibleCommands(at).map((one) => one.name()));
  const hint = near === null ? "" : `\n(Did you mean ${near}?)`;
  return at.error(`error: unknown command '${word}'${hint}`, { code: "commander.unknownCommand" });
}

export async function withSession<T>(opening: Promise<Session>, work: (session: Session) => Promise<T>): Promise<T> {
  const session = await opening;
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

export async function browse<T>(
  { services, flags: { db, cwd } }: {
    readonly services: Services;
    readonly flags: { readonly db?: string | undefined; readonly cwd?: string | undefined };
  },
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const request = { db, ...(cwd === undefined ? {} : { cwd }), browse: true, lazyExtensions: true };
  return await withSession(services.open(request), work);
}

/** A conversation of another workspace works in its own workspace, with the settings there. With `--cwd`, or if its
 * folder is gone, a request moves the conversation to the current workspace. */
export async function inOwnWorkspace<Flags extends OpenRequest & { readonly conversation?: string | undefined }>(
  { services, flags, fork }: {
    readonly services: Services;
    readonly flags: Flags;
    readonly fork?: string | undefined;
  },
): Promise<Flags> {
  const { conversation, cwd } = flags;
  if (cwd !== undefined || conversation === undefined && fork === undefined) return flags;
  return await browse({ services, flags }, async ({ conversations, workspace }) => {
    const branch = fork === undefined
      ? await conversations.byId(conversation ?? "")
      : (await forkPoint(conversations, fork)).branch;
    const own = branch.workspace;
    return own === workspace || isGone(own) ? flags : { ...flags, cwd: own };
  });
}

export async function forkPoint(
  conversations: Conversations,
  place: string,
): ReturnType<Conversations["records"]["point"]> {
  const cut = place.indexOf("@");
  const [id, at] = cut === -1 ? [place, null] : [place.slice(0, cut), place.slice(cut + 1)];
  return await conversations.records.point(id, at);
}
