import type { Row } from "./run_family.ts";
import { WORDS } from "../world/trial.ts";

const HEAD = ["family", "what is tried", "tries", "faults", ...WORDS];

/** A row for each family, as Markdown. */
export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map(({ family, what, missing, tries, faults, counts }) => {
    const numbers = [tries, faults, ...WORDS.map((word) => counts[word])];
    return [family, missing === "" ? what : `not tried: ${missing}`, ...numbers.map(String)];
  });
  const widths = HEAD.map((name, at) => Math.max(name.length, ...cells.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]): string => {
    return `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  };
  return [line(HEAD), line(widths.map((width) => "-".repeat(width))), ...cells.map(line)].join("\n");
}
