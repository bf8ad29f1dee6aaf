import { flipTries } from "../flip_tries.ts";
import type { Family } from "./family.ts";

/** Bits of every kind of page, read by the store in this process: from source, whatever the other families run. */
export const pages: Family = {
  name: "pages",
  what: "a bit of every kind of page of the database is flipped, 50 times a try; all that the store reads",
  tries: { full: 20, quick: 1 },
  missing: () => Promise.resolve(""),
  attempt: async (trial) => {
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
