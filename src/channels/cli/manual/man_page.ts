import type { Command } from "commander";
import { type DescribedCommand, describedCommands, type DescribedRow } from "./described_command.ts";
import { MANUAL_FACTS } from "./manual_facts.ts";

/** The program's manual page in roff (man macros), generated from its help. */
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
    ...paragraph("The answer goes to stdout, progress to stderr. Every command has --help."),
    ...groups.flatMap((group) => [
      `.SH ${quoted(group.toUpperCase())}`,
      ...commands.filter((one) => one.group === group).flatMap(section),
    ]),
    ".SH EXIT STATUS",
    ...MANUAL_FACTS.exits.flatMap(row),
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

/** Lines of at most 72 characters, unless a word is longer. */
function wrapped(text: string): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + word.length < 72) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Escapes text: no line can begin a roff request, and dashes stay dashes that can be copied. */
function escaped(text: string): string {
  const plain = text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll("…", "...");
  return /^[.']/.test(plain) ? `\\&${plain}` : plain;
}

function quoted(text: string): string {
  return `"${escaped(text).replaceAll('"', "\\(dq")}"`;
}
