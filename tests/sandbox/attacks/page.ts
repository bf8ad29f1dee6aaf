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
    "This page is for reviewers of [the sandbox](../internals/sandbox.md#tested-attacks). `bin/deno task attacks` generates",
    "the page. Each attack is a block of code. A cell shows the result of the attack against the walls of its column. The",
    "test looks for the effect of an attack, such as a secret read, a file written or a lost variable.",
    "",
    `- \`${CLAIM}\` means that the walls of the column must stop the attack. A test checks this.`,
    "- **through** names the effect of an attack that the walls did not stop.",
    "- A cell without **through** shows how the attack ended, such as `TypeError`. `–` means that the attack was not tried.",
    "- The column `none` has no walls, and shows that an attack works. The test runs an attack without a result in `none`",
    "  only against walls that must stop the attack, and against all walls.",
    "- The columns `landlock`, `seccomp` and `kernel` also have the process limits. `kernel` is Landlock together with the",
    "  list of allowed system calls (`seccomp`).",
    "- The walls of `all` together must stop every attack.",
    "",
    "From source, some threads of the runtime exist before the child sets Landlock, so Landlock does not cover these threads.",
    "The list of system calls covers every thread. In the executable, existing threads run no operations of a block.",
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
    `Of ${rows.length} attacks, ${works} have an effect without walls, and ${through} have an effect behind all walls.`,
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
