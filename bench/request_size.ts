import { FILES, withFiftyFiles } from "./support/fifty_files.ts";
import { fiftyRounds } from "./support/fifty_rounds.ts";
import type { Figure } from "./support/figure.ts";
import type { Program, Programs } from "./support/programs.ts";
import { visRun } from "./support/vis_run.ts";
import { weightedRounds } from "./support/weighted_rounds.ts";

const KB = 1000;
const LONG_RUN = 250;

/** Bytes are exact, so one run is enough. */
export async function requestSize({ all: [program] }: Programs): Promise<readonly Figure[]> {
  if (!program) throw new Error("Cannot measure request sizes: there is no program; build one with deno task compile");
  return await withFiftyFiles(async (workspace) => {
    const looked = await fiftyRounds(program, { workspace });
    const kept = await fiftyRounds(program, { workspace, keep: true });
    const block = await oneBlock(program, workspace);
    const { plain, weighted } = await weightedRounds(program, { workspace, rounds: LONG_RUN });
    return [
      exact("first request", { unit: "KB", value: (looked.bytes[0] ?? NaN) / KB, bar: 8 }),
      exact("request 50 ÷ request 3", { unit: "×", value: growth(looked.bytes), bar: 1.15 }),
      exact("all 51 requests", { unit: "MB", value: sum(looked.bytes) / KB / KB, bar: 0.75 }),
      exact("request 50 ÷ 3, each file in a variable", { unit: "×", value: growth(kept.bytes), bar: 1.15 }),
      exact("all 51 requests, each file in a variable", { unit: "MB", value: sum(kept.bytes) / KB / KB, bar: 0.75 }),
      exact("one block over 50 files: requests", { unit: "", value: block.length, bar: 2 }),
      exact("one block over 50 files: all requests", { unit: "KB", value: sum(block) / KB, bar: 16 }),
      ...[10, 50, LONG_RUN].flatMap((rounds) => [
        exact(`a request of ${rounds} rounds, cache-weighted`, { unit: "KB", value: mean(weighted, rounds), bar: 7 }),
        exact(`a request of ${rounds} rounds, uncached`, { unit: "KB", value: mean(plain, rounds), bar: null }),
      ]),
    ];
  });
}

async function oneBlock(program: Program, workspace: string): Promise<readonly number[]> {
  const code = [
    'const parts = await fs.readFiles("notes/*.txt")',
    "parts.map(({ path, text }) => [path, text.length, text.match(/row \\d+/g).length])",
  ].join("\n");
  const { bytes, stdout } = await visRun(program, {
    workspace,
    prompt: "Read every file in notes and say what you found",
    handler: ({ index }) =>
      JSON.stringify(
        index === 0
          ? { thinking: "All of them in one block.", code: [{ expr: code, timeMs: 3000 }] }
          : { final: { answer: "{{parts.length}} files were read" } },
      ),
  });
  if (!stdout.startsWith(`${FILES} files`)) throw new Error(`Cannot measure one block: it answered ${stdout}`);
  return bytes;
}

function exact(
  what: string,
  { unit, value, bar }: { readonly unit: string; readonly value: number; readonly bar: number | null },
): Figure {
  return { what, way: "part", unit, samples: [value], bar };
}

function growth(bytes: readonly number[]): number {
  return (bytes[49] ?? NaN) / (bytes[2] ?? NaN);
}

function mean(bytes: readonly number[], rounds: number): number {
  return sum(bytes.slice(0, rounds)) / rounds / KB;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
