import type { FlipReport } from "../flip_tries.ts";
import type { Family } from "./family.ts";
import type { PagesTask } from "./pages_worker.ts";

/** The store reads pages with flipped bits of every kind, always from source. Each try has its own thread, since SQLite
 * answers in the calling thread. */
export const pages: Family = {
  name: "pages",
  what: "50 flipped bits in each try, in every kind of page of the database; after each, the store reads 400 things",
  tries: { full: 20, quick: 1 },
  missing: () => Promise.resolve(""),
  attempt: async (trial) => {
    const folder = await Deno.makeTempDir({ prefix: "vis-flips-" });
    try {
      const size = trial.quick ? { count: 5, reads: 40 } : { count: 50, reads: 400 };
      const { tries, wrong, other, unclear, examples } = await inThread({ ...size, seed: trial.seed, folder });
      trial.faults += tries;
      for (const example of examples) trial.note(example);
      if (wrong > 0) trial.found("lost", `${wrong} of ${tries} flips gave a value that was never stored`);
      trial.note(`${other} of ${tries} flips changed another cell, or hid a row`);
      if (unclear > 0) {
        trial.found("unclear", `${unclear} of ${tries} flips gave an error that does not say what to do`);
      }
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
};

async function inThread(task: PagesTask): Promise<FlipReport> {
  const worker = new Worker(new URL("./pages_worker.ts", import.meta.url), { type: "module" });
  try {
    return await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<FlipReport>) => resolve(data);
      worker.onerror = (event) => {
        event.preventDefault();
        reject(new Error(event.message));
      };
      worker.postMessage(task);
    });
  } finally {
    worker.terminate();
  }
}
