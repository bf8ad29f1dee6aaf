/** Writes the attack table as a page. A test compares the claims of the page with the list. */
import { type Attack, WALLS } from "./attack.ts";
import { claimed, type Column, COLUMNS, type Way } from "./table.ts";
import type { Attempt } from "./attacker.ts";

export interface AttackRow {
  readonly attack: Attack;
  readonly cells: Partial<Record<Column, Attempt>>;
}

export interface Run {
  readonly way: Way;
  readonly runtime: string;
  readonly rows: readonly AttackRow[];
}

/** Marks a wall that alone must stop the attack. */
const CLAIM = "●";

export function attackPage(runs: readonly Run[], system: string): string {
  return [
    "# Attacks on the sandbox",
    "",
    "Made by `deno task attacks`. Each attack is a block of code; a cell says what came of it where only the walls of its",
    "column stand. It is judged by its effect (a secret read, a file written, a socket reached, a signal delivered, memory",
    "over the limit, a variable lost), not by an error.",
    "",
    `${CLAIM} the wall alone must stop it (a test checks this) · **through** what it reached · otherwise what it met.`,
    "Without walls (`none`) an attack shows that it works. One without an entry there needs a hole to work: it is tried",
    "where a wall claims to stop it and against all. `kernel` is Landlock and the system call filter together; both stand",
    "with the process limits. `all` must hold everywhere.",
    "From source, Landlock alone does not stop what threads of the runtime's pool do: some exist before it is set. The",
    "system call filter covers them too, and in the executable there are none yet.",
    "",
    ...runs.flatMap((run) => section(run, system)),
  ].join("\n");
}

function section({ way, runtime, rows }: Run, system: string): string[] {
  const through = rows.filter(({ cells }) => (cells.all?.reached.length ?? 0) > 0).length;
  const works = rows.filter(({ cells }) => (cells.none?.reached.length ?? 0) > 0).length;
  const lines = [
    `## ${way === "source" ? "From source" : "Compiled"}: Deno ${runtime}, ${system}`,
    "",
    `${rows.length} attacks: ${works} reach something without walls, ${through} through all of them.`,
    "",
  ];
  let group = "";
  for (const row of rows) {
    if (row.attack.group !== group) {
      group = row.attack.group;
      lines.push(...(lines.at(-1) === "" ? [] : [""]), `### ${title(group)}, ${way}`, "");
      lines.push(`| attack | ${COLUMNS.join(" | ")} |`, `| --- |${" --- |".repeat(COLUMNS.length)}`);
    }
    const cells = COLUMNS.map((column) => cell(row, column, way));
    lines.push(`| ${escaped(row.attack.name)} | ${cells.join(" | ")} |`);
  }
  return [...lines, ""];
}

function cell({ attack, cells }: AttackRow, column: Column, way: Way): string {
  const attempt = cells[column];
  const mark = claimed(attack, column, way) ? `${CLAIM} ` : "";
  if (!attempt) return `${mark}–`;
  return mark + (attempt.reached.length > 0 ? `**through**: ${attempt.reached.map(escaped).join(", ")}` : attempt.met);
}

export function claimsOfPage(page: string, way: Way): string[] {
  const [, sections = ""] = page.split(way === "source" ? "## From source" : "## Compiled");
  return (sections.split("\n## ")[0] ?? "").split("\n").flatMap((line) => {
    const [, name = "", ...cells] = line.split(/(?<!\\) ?\| ?/);
    if (cells.length < COLUMNS.length || name === "attack" || /^-+$/.test(name)) return [];
    return [claimLine(name, WALLS.filter((wall) => cells[COLUMNS.indexOf(wall)]?.startsWith(CLAIM)))];
  });
}

export function claimsOfList(attacks: readonly Attack[], way: Way): string[] {
  return attacks.map((attack) => claimLine(escaped(attack.name), WALLS.filter((wall) => claimed(attack, wall, way))));
}

function claimLine(name: string, walls: readonly string[]): string {
  return `${name}: ${walls.join(" ")}`;
}

function escaped(text: string): string {
  return text.replace(/[|<>]/g, (it) => `\\${it}`).replace(/\s+/g, " ").slice(0, 80);
}

function title(group: string): string {
  return group.charAt(0).toUpperCase() + group.slice(1);
}
