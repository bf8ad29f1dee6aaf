import { withFiftyFiles } from "./support/fifty_files.ts";
import { fiftyRounds } from "./support/fifty_rounds.ts";
import type { Figure } from "./support/figure.ts";
import { proportionalMb, treeOf } from "./support/process_tree.ts";
import type { Programs } from "./support/programs.ts";

const RUNS = 5;
const ROUNDS = [5, 25, 50] as const;

export async function memory({ all }: Programs): Promise<readonly Figure[]> {
  return await withFiftyFiles(async (workspace) => {
    const figures: Figure[] = [];
    for (const program of all) {
      const sizes = new Map<number, number[]>(ROUNDS.map((round) => [round, []]));
      const children: number[] = [];
      for (let time = 0; time < RUNS; time++) {
        await fiftyRounds(program, {
          workspace,
          onRound: (round, pid) => {
            if (!sizes.has(round)) return;
            const tree = treeOf(pid);
            sizes.get(round)?.push(proportionalMb(tree));
            if (round === 50) children.push(proportionalMb(tree.slice(1)));
          },
        });
      }
      const { way } = program;
      for (const [round, samples] of sizes) {
        figures.push({ what: `process tree at round ${round}`, way, unit: "MiB", samples, bar: 145 });
      }
      figures.push({ what: "the sandbox's share of it at round 50", way, unit: "MiB", samples: children, bar: null });
      // Until about round 20, the garbage collector lets the young part of the heap grow, so only later rounds count.
      const growth = (from: number): readonly number[] =>
        (sizes.get(50) ?? []).map((size, index) => size / (sizes.get(from)?.[index] ?? NaN));
      figures.push(
        { what: "round 50 ÷ round 25", way, unit: "×", samples: growth(25), bar: 1.05 },
        { what: "round 50 ÷ round 5", way, unit: "×", samples: growth(5), bar: null },
      );
    }
    return figures;
  });
}
