import { CHILD_ARGUMENT, type ChildProgram } from "../src/sandbox/program.ts";
import { testSandbox } from "../tests/helpers/sandbox.ts";
import { COMPUTE_WORK, DOUBLE_AT_TOP_LEVEL, plainMs } from "./support/compute_work.ts";
import { type Figure, spreadOf } from "./support/figure.ts";
import type { Programs } from "./support/programs.ts";

const RUNS = 5;
const MIB = 1 << 20;

/** Blocks that only compute, against the same text in plain `deno run`. */
export async function sandboxCompute({ all }: Programs): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  const work = Object.entries({ ...COMPUTE_WORK, "a double in a variable of the top level": DOUBLE_AT_TOP_LEVEL });
  for (const [what, code] of work) {
    const plain: number[] = [];
    for (let run = 0; run < RUNS; run++) plain.push(await plainMs(code));
    const base = spreadOf(plain)?.median ?? NaN;
    const bar = code === DOUBLE_AT_TOP_LEVEL ? 3 : 1.5;
    for (const { way, path } of all) {
      const blocks = await blockMs(code, way === "compiled" ? { path, args: [CHILD_ARGUMENT] } : null);
      const samples = blocks.map((ms) => ms / base);
      figures.push({ what: `${what}: block ÷ plain, ${base.toFixed(0)} ms`, way, unit: "×", samples, bar });
    }
  }
  return figures;
}

/** Each run in a child of its own, as a first block. */
async function blockMs(code: string, program: ChildProgram | null): Promise<readonly number[]> {
  const samples: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    await using child = await testSandbox({
      limits: { memoryBytes: 512 * MIB },
      ...program && { test: { program } },
    });
    const { result } = await child.run(code, { deadlineMs: 60_000 });
    if (!result.ok) throw new Error(`Cannot measure a block: ${result.error?.message}`);
    samples.push(result.ms);
  }
  return samples;
}
