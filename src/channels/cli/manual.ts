import type { Command } from "commander";
import { EXIT_CODES } from "./output.ts";

export function manPage(program: Command, version: string): string {
  const commands = describedCommands(program);
  const groups = [...new Set(commands.map(({ group }) => group))];
  const lines = [
    `.\\" Generated from the help of vis ${version}.`,
    `.TH VIS 1 "" "vis ${version}" "Vis"`,
    ".SH NAME",
    "vis \\- an agent in one executable",
    ".SH SYNOPSIS",
    ...[`vis run [\\fIflags\\fR] \\fIprompt\\fR`, `vis \\fIcommand\\fR [\\fIflags\\fR]`].flatMap((one, at) =>
      at === 0 ? [`.B ${one}`] : [".br", `.B ${one}`]
    ),
    ".SH DESCRIPTION",
    ...paragraph(program.description()),
    ".PP",
    ...paragraph("The answer goes to stdout, progress to stderr. vis help COMMAND explains a command."),
    ...groups.flatMap((group) => [
      `.SH ${quoted(group.toUpperCase())}`,
      ...commands.filter((one) => one.group === group).flatMap(section),
    ]),
    ".SH EXIT STATUS",
    ...EXIT_CODES.flatMap(row),
    ".SH ENVIRONMENT",
    ...MANUAL_FACTS.variables.flatMap(row),
    ".SH FILES",
    ...MANUAL_FACTS.files.flatMap(row),
  ];
  return `${lines.join("\n")}\n`;
}

function section({ name, about, usage, arguments: words, flags, notes }: DescribedCommand): readonly string[] {
  return [
    `.SS ${quoted(name)}`,
    ...paragraph(`${about}.`),
    ".PP",
    `.B ${escaped(usage)}`,
    ...words.flatMap(row),
    ...flags.flatMap(row),
    ...notes === ""
      ? []
      : [".PP", ".nf", ...notes.split("\n").map((line) => line === "" ? ".PP" : escaped(line)), ".fi"],
  ];
}

function row({ term, about }: DescribedRow): readonly string[] {
  return [".TP", `.B ${escaped(term)}`, ...about === "" ? ["\\&"] : paragraph(about)];
}

function paragraph(text: string): readonly string[] {
  return text.split("\n").filter((line) => line.trim() !== "").flatMap((line) => wrapped(line.trim()).map(escaped));
}

function wrapped(text: string): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + word.length < 72) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** A dot or an apostrophe at the beginning would start a roff request, and roff prints a plain dash as another
 * character. */
function escaped(text: string): string {
  const plain = text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll("…", "...");
  return /^[.']/.test(plain) ? `\\&${plain}` : plain;
}

function quoted(text: string): string {
  return `"${escaped(text).replaceAll('"', "\\(dq")}"`;
}

export interface DescribedRow {
  readonly term: string;
  readonly about: string;
}

export interface DescribedCommand {
  readonly name: string;
  readonly about: string;
  readonly usage: string;
  readonly arguments: readonly DescribedRow[];
  readonly flags: readonly DescribedRow[];
  readonly notes: string;
  readonly group: string;
}

export function describedCommands(program: Command): readonly DescribedCommand[] {
  return shownBelow(program).flatMap((command) => described(command, command.helpGroup() || "Commands:"));
}

function described(command: Command, group: string): readonly DescribedCommand[] {
  const below = shownBelow(command).filter((one) => one.name() !== "help");
  const notes = notesOf(command);
  const own = below.length > 0 && notes === "" ? [] : [describe(command, { group, notes })];
  return [...own, ...below.flatMap((one) => described(one, group))];
}

function shownBelow(command: Command): readonly Command[] {
  return command.createHelp().visibleCommands(command);
}

function describe(
  command: Command,
  { group, notes }: { readonly group: string; readonly notes: string },
): DescribedCommand {
  const help = command.createHelp();
  return {
    name: help.commandUsage(command).split(" [")[0]?.split(" <")[0] ?? "",
    about: help.commandDescription(command),
    usage: help.commandUsage(command),
    arguments: help.visibleArguments(command).map((one) => ({
      term: help.argumentTerm(one),
      about: help.argumentDescription(one),
    })),
    flags: help.visibleOptions(command).filter(({ long }) => long !== "--help").map((one) => ({
      term: help.optionTerm(one),
      about: help.optionDescription(one),
    })),
    notes,
    group: group.replace(/:$/, ""),
  };
}

/** Redirects the help output of the command permanently. */
function notesOf(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (more) => void (text += more) });
  command.outputHelp();
  return text.slice(command.helpInformation().length).trim();
}

export const MANUAL_FACTS: Readonly<Record<"variables" | "files", readonly DescribedRow[]>> = {
  variables: [
    {
      term: "VIS_HOME",
      about:
        "folder of settings, keys, database and extensions (default: ~/.vis; on Windows, %LOCALAPPDATA%\\vis unless %APPDATA%\\vis exists)",
    },
    {
      term: "VIS_BASE_URL",
      about:
        "URL of an OpenAI-compatible server, including /v1; if you choose one provider, as with --provider, URL of that provider instead",
    },
    {
      term: "VIS_API_KEY",
      about:
        "key of the server at VIS_BASE_URL, or else of the only provider that is chosen or set; without a provider, key of " +
        "OpenAI. Other variables have keys of one provider, such as ANTHROPIC_API_KEY",
    },
    { term: "VIS_MODEL", about: "default model: model or provider/model" },
    { term: "VIS_PROVIDER", about: "the only provider to use, such as anthropic, ollama or demo" },
    { term: "VIS_DB", about: "database: a file, postgres://… or :memory:" },
    {
      term: "VIS_DATABASE_URL",
      about: "PostgreSQL database, such as postgres://user@host:5432/name; overrides VIS_DB",
    },
    {
      term: "VIS_DATABASE_PASSWORD",
      about: "password of the PostgreSQL database; VIS_DATABASE_PASSWORD_FILE names a file with the password",
    },
    {
      term: "VIS_TOKEN",
      about: "bearer token of vis serve, unless --token, --token-file, --tokens or server.tokensFile gives another",
    },
    { term: "VIS_TELEGRAM_TOKEN", about: "token of the Telegram bot" },
    { term: "VIS_PROFILE", about: "profile of vis serve and vis telegram: open or locked" },
    { term: "VIS_LOG", about: "debug, info, warn or error: write log lines of at least this level as JSON to stderr" },
    {
      term: "NO_COLOR",
      about:
        "if the value is not empty, Vis prints no colours; without the variable, Vis prints colours only on terminals",
    },
  ],
  files: [
    { term: "$VIS_HOME/config.jsonc", about: "settings; vis config schema prints their JSON Schema" },
    { term: ".vis/config.jsonc", about: "settings of a workspace; some keys need your trust (vis config trust)" },
    {
      term: "$VIS_HOME/auth.json",
      about: "keys and tokens that vis auth login saves; on Linux and macOS, only its owner may read the file",
    },
    { term: "$VIS_HOME/vis.db", about: "conversations, variables and logs, unless another database is set" },
    { term: "$VIS_HOME/extensions", about: "your extensions; vis extensions add copies an extension there" },
  ],
};
