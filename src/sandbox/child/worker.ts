/** Entry point of the worker that runs blocks with grants. Its messages: what it starts with, from it that it has
 * loaded, then the walls that are in place, and from it why the child ends. */
import type { ConfinedWalls } from "../confine/confinement.ts";
import { loadBlocks, type WorkerStart } from "./scripts.ts";

// The global of a worker; the types are those of a page.
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
