import { type Figure, isMet, spreadOf } from "./figure.ts";

const HEAD = ["figure", "run as", "median", "min – max", "target", "", ""];

export function tableOf(figures: readonly Figure[]): string {
  const rows = [HEAD, ...figures.map(rowOf)];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd()).join("\n");
}

function rowOf(figure: Figure): readonly string[] {
  const spread = spreadOf(figure.samples);
  const way = figure.way === "part" ? "" : figure.way;
  if (!spread) return [figure.what, way, "–", figure.note ?? "not measured", "", "", ""];
  const range = figure.samples.length === 1 ? "" : `${shortNumber(spread.min)} – ${shortNumber(spread.max)}`;
  const bar = figure.bar === null ? "" : `≤ ${figure.bar}`;
  const met = isMet(figure);
  const verdict = met === null ? "" : met ? "met" : "MISSED";
  return [figure.what, way, `${shortNumber(spread.median)} ${figure.unit}`, range, bar, verdict, figure.note ?? ""];
}

export function shortNumber(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
