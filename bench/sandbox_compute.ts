import { CHILD_ARGUMENT, type ChildProgram } from "../src/sandbox/launch.ts";
import { testSandbox } from "../tests/helpers/sandbox.ts";
import { COMPUTE_WORK, plainMs, WORST_CASES } from "./support/compute_work.ts";
import type { Figure } from "./support/figure.ts";
import type { Programs } from "./support/programs.ts";

const RUNS = 7;
const MIB = 1 << 20;
const BAR = 1.5, WORST_BAR = 5;

/** The same text runs as a block and in plain `deno run`. The runs alternate, so that both see the same state of the
 * machine. */
export async function sandboxCompute({ all }: Programs): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const [what, code] of Object.entries({ ...COMPUTE_WORK, ...WORST_CASES })) {
    const bar = what in WORST_CASES ? WORST_BAR : BAR;
    for (const { way, path } of all) {
      const program = way === "compiled" ? { path, args: [CHILD_ARGUMENT] } : null;
      const samples: number[] = [];
      for (let run = 0; run < RUNS; run++) samples.push(await blockMs(code, program) / await plainMs(code));
      figures.push({ what: `${what}: block ÷ plain`, way, unit: "×", samples, bar });
    }
  }
  return figures;
}

async function blockMs(code: string, program: ChildProgram | null): Promise<number> {
  await using child = await testSandbox({
    limits: { memoryBytes: 512 * MIB },
    ...program && { test: { program } },
  });
  const { result } = await child.run(code, { deadlineMs: 60_000 });
  if (!result.ok) throw new Error(`Cannot measure a block: ${result.error?.message}`);
  return result.ms;
}
