/** Entry point of the worker: evaluates the bundle of worker.ts, which arrives with the setup. As a module, that bundle
 * could not have a code cache, and compiling it again would take a quarter of the child's start. */
import type { WorkerStart, WorkerTools } from "../link/messages.ts";
import { scriptValue } from "../setup/script_value.ts";

// Only for tests of attacks without the realm's wall.
const importer: WorkerTools["import"] = (specifier, options) => import(specifier, options);

function isStart(value: unknown): value is (setup: WorkerStart["setup"], tools: WorkerTools) => void {
  return typeof value === "function";
}

// The global of a worker; the types are those of a page.
const scope = globalThis as unknown as Pick<Worker, "addEventListener">;
scope.addEventListener("message", (event) => {
  if (!(event instanceof MessageEvent)) return;
  const { script, setup }: WorkerStart = event.data;
  const start = scriptValue(script, { name: "sandbox.worker", filename: import.meta.url });
  if (!isStart(start)) throw new TypeError("Cannot start the worker: its bundle is not one");
  start(setup, { import: importer });
}, { once: true });
