import type { Row } from "./run_family.ts";
import { WORDS } from "../world/trial.ts";

const HEAD = ["family", "content of a try", "tries", "faults", ...WORDS];

/** Returns a row for each family, as Markdown. A family that was not tried now keeps its row of an earlier table. */
export function tableOf(rows: readonly Row[], earlier = ""): string {
  const now = new Map(rows.map((row) => [row.family, cellsOf(row)]));
  const before = earlier.split("\n").slice(2).map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));
  const kept = before.filter((row) => row.length === HEAD.length).map((row) => now.get(row[0] ?? "") ?? row);
  const cells = [...kept, ...[...now.values()].filter((row) => !kept.includes(row))];
  const widths = HEAD.map((name, at) => Math.max(name.length, ...cells.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]): string => {
    return `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  };
  return [line(HEAD), line(widths.map((width) => "-".repeat(width))), ...cells.map(line)].join("\n");
}

function cellsOf({ family, what, missing, tries, faults, counts }: Row): readonly string[] {
  const numbers = [tries, faults, ...WORDS.map((word) => counts[word])];
  return [family, missing === "" ? what : `not tried: ${missing}`, ...numbers.map(String)];
}
