import type { Figure, Spread } from "./figure.ts";
import type { Machine } from "./machine.ts";
import { shortNumber } from "./table.ts";

export interface SoakResult {
  readonly commit: string;
  readonly machine: Pick<Machine, "cores" | "memoryGb" | "load">;
  readonly figures: readonly (Figure & Spread & { readonly met: boolean | null })[];
}

export function soakPage({ commit, machine, figures }: SoakResult): string {
  const rows = figures.map(({ what, way, median, unit, bar, met }) => {
    const verdict = met === null ? "" : met ? "met" : "**missed**";
    return `| ${what} | ${way} | ${shortNumber(median)} ${unit} | ${bar === null ? "" : `≤ ${bar}`} | ${verdict} |`;
  });
  return [
    "# Conversations that never rest",
    "",
    `Made by \`deno task soak\` from \`soak.json\`: ${
      figures[0]?.note ?? "not measured"
    }, in eight conversations at once,`,
    `on ${machine.cores} cores and ${machine.memoryGb} GB with a load of ${
      machine.load.toFixed(1)
    }, commit ${commit}. Memory is the`,
    "proportional set size of all processes; thirds are those of the time, so that the first one is the warm-up.",
    "",
    "| figure | run as | median | bar | |",
    "| --- | --- | --- | --- | --- |",
    ...rows,
    "",
  ].join("\n");
}
