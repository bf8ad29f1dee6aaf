import { fileName, FILES } from "./fifty_files.ts";
import type { Program } from "./programs.ts";
import { visRun } from "./vis_run.ts";

/** Anthropic charges these prices for cached and written input, relative to other input. */
const CACHED = 0.1;
const WRITTEN = 1.25;

export interface Weighed {
  readonly plain: readonly number[];
  readonly weighted: readonly number[];
}

export async function weightedRounds(
  program: Program,
  { workspace, rounds }: { readonly workspace: string; readonly rounds: number },
): Promise<Weighed> {
  const weighted: number[] = [];
  const prefixes = new Set<string>();
  const { bytes: plain } = await visRun(program, {
    workspace,
    args: ["--max-iterations", String(rounds + 5)],
    prompt: "Read every file in notes one after the other and say what you found",
    handler: ({ index, texts, bytes }) => {
      prefixes.add(texts.slice(0, -1).join("\n\n"));
      const changing = sizeOf(texts.at(-1) ?? "");
      weighted.push((bytes - changing) * (index === 0 ? WRITTEN : CACHED) + changing);
      return reply(index + 1, rounds);
    },
  });
  if (prefixes.size !== 1) throw new Error(`Cannot weigh requests: there were ${prefixes.size} prefixes, not 1`);
  return { plain, weighted };
}

function sizeOf(text: string): number {
  return new TextEncoder().encode(JSON.stringify(text)).length;
}

function reply(round: number, rounds: number): string {
  if (round > rounds) return JSON.stringify({ final: { answer: "All files were read" } });
  const expr = `await fs.readFile(${JSON.stringify(fileName((round - 1) % FILES))})`;
  return JSON.stringify({ thinking: `File ${round} comes next.`, code: [{ expr, timeMs: 1000 }] });
}
