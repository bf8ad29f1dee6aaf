import type { ConfinedWalls } from "../confine/confinement.ts";
import { loadBlocks, type WorkerStart } from "./scripts.ts";

// The available types describe the global of a page, not of a worker.
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
