import { explanationOf } from "./explained.ts";
import { type Difference, isKnown, type Outcome } from "./program.ts";

export interface Suite {
  readonly name: string;
  readonly programs: number;
  readonly skipped: Readonly<Record<string, number>>;
  readonly differences: readonly Difference[];
  readonly seconds: number;
}

const MAX_CHARS = 400;

/** Returns one row for each suite, then the explanations of differences and the skipped files. */
export function suiteTable(suites: readonly Suite[]): string {
  const rows = suites.map((suite) => {
    const different = programsOf(suite.differences.filter((one) => !explanationOf(one)));
    const explained = programsOf(suite.differences) - different;
    const equal = suite.programs - programsOf(suite.differences);
    return [suite.name, suite.programs, equal, explained, different, `${suite.seconds.toFixed(0)} s`].map(String);
  });
  const head = ["suite", "programs", "equal", "explained", "different", "time"];
  return [aligned([head, ...rows]), ...explanations(suites), ...leftOut(suites)].join("\n");
}

/** A program counts once, in whatever places it differs. */
function programsOf(differences: readonly Difference[]): number {
  return new Set(differences.map(({ program }) => program)).size;
}

function explanations(suites: readonly Suite[]): readonly string[] {
  const all = suites.flatMap(({ differences }) => differences.map(explanationOf)).filter((one) => one !== null);
  const counted = [...Map.groupBy(all, (one) => one)].map((
    [{ what, where }, { length }],
  ) => [`${length}`, what, where]);
  return counted.length > 0 ? ["", "Explained (outcomes at top level and in braces):", aligned(counted)] : [];
}

function leftOut(suites: readonly Suite[]): readonly string[] {
  const rows = suites.flatMap(({ name, skipped }) =>
    Object.entries(skipped).map(([why, count]) => [`${count}`, why, name])
  );
  return rows.length > 0 ? ["", "Left out:", aligned(rows)] : [];
}

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0))) ?? [];
  return rows.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("  ").trimEnd()).join("\n");
}

/** Returns a difference with its program, so that a reader can reproduce it. */
export function differenceText(difference: Difference): string {
  const { program, place, plain, sandbox } = difference;
  const known = isKnown(difference) ? ` (known: ${program.known?.key})` : "";
  const { text, value } = program;
  const shown = value === undefined ? text.slice(-MAX_CHARS) : `${text.slice(-MAX_CHARS)}\n${value}`.trimStart();
  return [
    `${program.name}, ${place === "top" ? "at top level" : "in braces"}${known}`,
    ...shown.split("\n").map((line) => `  | ${line}`),
    `  plain Deno: ${outcomeText(plain)}`,
    `  sandbox:    ${outcomeText(sandbox)}`,
  ].join("\n");
}

function outcomeText({ printed, error, message }: Outcome): string {
  const end = error === "" ? "ended" : message === "" ? error : `${error}: ${message.split("\n", 1)[0] ?? ""}`;
  return `${printed === "" ? "" : `${JSON.stringify(printed)}, then `}${end}`.slice(0, MAX_CHARS);
}
