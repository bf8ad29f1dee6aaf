import { captured } from "../intrinsics/captured.ts";
import { thrownError } from "../errors/thrown_error.ts";
import type { WorkerParts } from "./parts.ts";

/** Evaluating one module. */
const MODULE_MS = 2000;

export interface RealmModuleRequest {
  readonly name: string;
  /** A script whose value is what the module exports. */
  readonly script: string;
}

/** Gives the realm a module under its name, evaluated as a block is: within a time limit, host calls off. `done` gets
 * null, or an error where it threw or was stopped; the name is then not there. */
export function loadModule(
  { turns, calls, names, post, preview }: WorkerParts,
  { name, script, done }: RealmModuleRequest & { readonly done: (failure: Error | null) => void },
): void {
  let failure: Error | null = new captured.Error(`it took longer than ${MODULE_MS / 1000} s`);
  calls.enable(false);
  turns.alone({
    limitMs: MODULE_MS,
    task: () => {
      try {
        const value: unknown = new captured.Script(script, { filename: `module ${name}` }).runInThisContext();
        if (isBare(value)) captured.freeze(value);
        names.set(name, value);
        failure = null;
      } catch (error) {
        const thrown = thrownError(error, preview);
        failure = new captured.Error(`${thrown.name}: ${thrown.message}`);
      }
    },
    after: () => {
      calls.enable(true);
      if (!failure) post({ t: "named", names: [name] });
      done(failure);
    },
  });
}

/** What the script made of named exports, and not a class or an object of the module's own. */
function isBare(value: unknown): value is object {
  return typeof value === "object" && value !== null && !captured.isProxy(value) &&
    captured.getPrototypeOf(value) === null;
}
