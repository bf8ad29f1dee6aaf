import type { Launcher } from "../../e2e/_launcher.ts";
import type { Family } from "./family.ts";
import { Stop, Trial, type Word, WORDS } from "../world/trial.ts";

export interface Row {
  readonly family: string;
  readonly what: string;
  /** The reason why the family was not tried; empty if it was. */
  readonly missing: string;
  readonly tries: number;
  readonly faults: number;
  readonly counts: Readonly<Record<Word, number>>;
  readonly failed: readonly Pick<Trial, "seed" | "findings" | "trail">[];
  readonly seconds: number;
}

export interface FamilyOptions {
  readonly launcher: Launcher;
  readonly tries: number;
  readonly quick: boolean;
  /** The seed of the first try. Each later try has the next number. */
  readonly seed: number;
  readonly atOnce: number;
  readonly onTry?: (trial: Trial) => void;
}

export async function runFamily(family: Family, options: FamilyOptions): Promise<Row> {
  const { tries, seed, atOnce, onTry } = options;
  const { name, what } = family;
  const missing = await family.missing();
  const begun = performance.now();
  const trials: Trial[] = [];
  let next = seed;
  const worker = async (): Promise<void> => {
    while (missing === "" && next < seed + tries) {
      const trial = await attempt(family, { ...options, seed: next++ });
      trials.push(trial);
      onTry?.(trial);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  const having = (word: Word): number =>
    trials.filter(({ findings }) => findings.some((finding) => finding.word === word)).length;
  const failed = trials.filter(({ findings }) => findings.length > 0).toSorted((a, b) => a.seed - b.seed);
  return {
    ...{ family: name, what, missing },
    tries: trials.length,
    faults: trials.reduce((sum, { faults }) => sum + faults, 0),
    counts: Object.fromEntries(WORDS.map((word) => [word, having(word)])) as Record<Word, number>,
    failed: failed.map(({ seed, findings, trail }) => ({ seed, findings, trail })),
    seconds: Math.round((performance.now() - begun) / 1000),
  };
}

async function attempt(
  family: Family,
  { launcher, seed, quick }: Pick<FamilyOptions, "launcher" | "seed" | "quick">,
): Promise<Trial> {
  const trial = new Trial(seed, quick);
  try {
    await family.attempt(trial, launcher);
  } catch (error) {
    if (!(error instanceof Stop)) trial.found("unclear", `the try broke off: ${stackOf(error)}`);
  }
  return trial;
}

function stackOf(error: unknown): string {
  return error instanceof Error ? error.stack ?? error.message : String(error);
}
