import { withFiftyFiles } from "./support/fifty_files.ts";
import { fiftyRounds } from "./support/fifty_rounds.ts";
import { type Figure, spreadOf } from "./support/figure.ts";
import type { Programs } from "./support/programs.ts";

const RUNS = 5;

/** The time of a round is from the end of a reply to the arrival of the next request. Vis stores the end of an
 * iteration during the next model call, so this work counts only in the CPU seconds. */
export async function round({ all }: Programs): Promise<readonly Figure[]> {
  return await withFiftyFiles(async (workspace) => {
    const figures: Figure[] = [];
    for (const program of all) {
      const medians: number[] = [];
      const slowest: number[] = [];
      const cpu: number[] = [];
      for (let time = 0; time < RUNS; time++) {
        const { arrived, replied, cpuSeconds } = await fiftyRounds(program, { workspace });
        const rounds = arrived.slice(1).map((at, index) => at - (replied[index] ?? NaN));
        // The first round may wait for the start of the sandbox.
        const spread = spreadOf(rounds.slice(1));
        medians.push(spread?.median ?? NaN);
        slowest.push(spread?.max ?? NaN);
        cpu.push(cpuSeconds);
      }
      const { way } = program;
      figures.push(
        { what: "engine time per round", way, unit: "ms", samples: medians, bar: 6 },
        { what: "slowest round of a run", way, unit: "ms", samples: slowest, bar: null },
        { what: "CPU of 50 rounds, start and end included", way, unit: "s", samples: cpu, bar: 1 },
      );
    }
    return figures;
  });
}
