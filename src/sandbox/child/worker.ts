/** Entry point of the worker that runs the blocks of a child with grants. The worker receives its start values and
 * reports that it has loaded. The worker then receives the walls in place, and finally reports why the child ends. */
import type { ConfinedWalls } from "../confine/confinement.ts";
import { loadBlocks, type WorkerStart } from "./scripts.ts";

// The global of a worker, for which the available types describe a page.
const scope = globalThis as unknown as Worker;
const postMessage = scope.postMessage.bind(scope);

scope.addEventListener("message", ({ data }: MessageEvent<WorkerStart>) => {
  const begin = loadBlocks({
    ...data,
    end: (why) => postMessage(why),
    import: (specifier, options) => import(specifier, options),
  }, import.meta.url);
  scope.addEventListener("message", ({ data: held }: MessageEvent<ConfinedWalls>) => begin(held), { once: true });
  postMessage(null);
}, { once: true });
