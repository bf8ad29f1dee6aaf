import { Random } from "./random.ts";

/** The possible results of a fault besides success. docs/internals/faults.md defines each word. */
export const WORDS = ["lost", "half", "twice", "hung", "unclear"] as const;
export type Word = typeof WORDS[number];

export interface Finding {
  readonly word: Word;
  readonly what: string;
}

/** Thrown if a try cannot continue, after its finding is noted. */
export class Stop extends Error {}

/** No step takes longer, however busy the machine is. */
const HUNG_MS = 180_000;

/** One try. Its seed determines everything in it, and it records its actions and findings. */
export class Trial {
  readonly random: Random;
  readonly findings: Finding[] = [];
  readonly trail: string[] = [];
  faults = 0;

  constructor(readonly seed: number, readonly quick: boolean) {
    this.random = new Random(seed);
  }

  note(line: string): void {
    this.trail.push(line);
  }

  found(word: Word, what: string): void {
    this.findings.push({ word, what });
    this.trail.push(`!! ${word}: ${what}`);
  }

  async within<T>(what: string, step: Promise<T>, limitMs = HUNG_MS): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        this.found("hung", `${what} did not end in ${limitMs / 1000} s`);
        reject(new Stop(`Hung: ${what}`));
      }, limitMs);
    });
    try {
      return await Promise.race([step, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
