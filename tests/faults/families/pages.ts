import type { Family } from "./family.ts";

/** What tests/faults/flip_tries.ts offers. */
interface FlipTries {
  flipTries(options: {
    readonly count: number;
    readonly seed: number;
    readonly folder: string;
    /** After each flip so many of all reads, others each time. */
    readonly reads: number;
  }): Promise<{
    readonly tries: number;
    /** Of tries with a value that was not stored. */
    readonly wrong: number;
    /** Of tries with an error that does not say that the database is damaged and what to do. */
    readonly unclear: number;
    readonly examples: readonly string[];
  }>;
}

const MODULE = new URL("../flip_tries.ts", import.meta.url);

/** Bits of every kind of page, read by the store in this process: from source, whatever the other families run. */
export const pages: Family = {
  name: "pages",
  what: "a bit of every kind of page of the database is flipped, 50 times a try; all that the store reads",
  tries: { full: 20, quick: 1 },
  missing: () => Deno.stat(MODULE).then(() => "", () => "there is no tests/faults/flip_tries.ts"),
  attempt: async (trial) => {
    const { flipTries }: FlipTries = await import(MODULE.href);
    const folder = await Deno.makeTempDir({ prefix: "vis-flips-" });
    try {
      const size = trial.quick ? { count: 5, reads: 40 } : { count: 50, reads: Infinity };
      const { tries, wrong, unclear, examples } = await flipTries({ ...size, seed: trial.seed, folder });
      trial.faults += tries;
      for (const example of examples) trial.note(example);
      if (wrong > 0) trial.found("lost", `${wrong} of ${tries} flips gave another value than was stored`);
      if (unclear > 0) {
        trial.found("unclear", `${unclear} of ${tries} flips gave an error that does not say what to do`);
      }
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
};
