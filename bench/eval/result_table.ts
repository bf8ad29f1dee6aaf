import { FAMILIES } from "./agent_task.ts";
import type { TaskResult } from "./play_task.ts";

const HEAD = [
  "family",
  "solved",
  "score",
  "iterations",
  "tokens in",
  "tokens out",
  "cost",
  "refused finals",
  "repeated work",
];

export function resultTable(results: readonly TaskResult[]): string {
  const families = FAMILIES.map((family) => ({ family, own: results.filter((one) => one.family === family) }))
    .filter(({ own }) => own.length > 0);
  const rows = [...families.map(({ family, own }) => rowOf(family, own)), rowOf("**all**", results)];
  const lines = [HEAD, HEAD.map((_, at) => at === 0 ? "---" : "--:"), ...rows].map((row) => `| ${row.join(" | ")} |`);
  const unsolved = results.filter(({ solved }) => !solved)
    .map(({ id, reason }) => `- ${id}: ${reason.replace(/\s+/g, " ")}`);
  return [...lines, ...(unsolved.length === 0 ? [] : ["", "Not solved:", "", ...unsolved])].join("\n");
}

function rowOf(name: string, results: readonly TaskResult[]): readonly string[] {
  const sum = (of: (result: TaskResult) => number): string =>
    String(results.reduce((total, one) => total + of(one), 0));
  const cost = results.some(({ costUsd }) => costUsd === null)
    ? "unknown"
    : `$${results.reduce((total, { costUsd }) => total + (costUsd ?? 0), 0).toFixed(4)}`;
  return [
    name,
    `${results.filter(({ solved }) => solved).length} of ${results.length}`,
    (results.reduce((total, { score }) => total + score, 0) / results.length).toFixed(2),
    sum(({ iterations }) => iterations),
    sum(({ input }) => input),
    sum(({ output }) => output),
    cost,
    sum(({ refusedFinals }) => refusedFinals),
    sum(({ repeatedBlocks }) => repeatedBlocks),
  ];
}
