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
    "# Results of a long load",
    "",
    `This page is for operators of servers. \`bin/deno task soak\` generates the page from \`soak.json\`. Eight conversations ran at a time, for ${
      figures[0]?.note ?? "an unknown time"
    }.`,
    `The machine had ${machine.cores} cores, ${machine.memoryGb} GB and a load of ${
      machine.load.toFixed(1)
    }; the commit is ${commit}. Memory is the`,
    "proportional set size of all processes. A third is a third of the time; the first third is the warm-up.",
    "",
    "| figure | program | median | target | result |",
    "| --- | --- | --- | --- | --- |",
    ...rows,
    "",
  ].join("\n");
}
