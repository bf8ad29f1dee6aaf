import { captured } from "../intrinsics/captured.ts";
import { thrownError } from "../errors/thrown_error.ts";
import type { BlockParts } from "./parts.ts";

/** Time limit for evaluating one module. */
const MODULE_MS = 2000;

export interface RealmModuleRequest {
  readonly name: string;
  /** A script whose value is what the module exports. */
  readonly script: string;
}

/** Adds a module to the realm under its name. It is evaluated like a block: within a time limit, with host calls
 * disabled. `done` receives null, or an error if the module threw or was stopped; the name is then missing. */
export function loadModule(
  { turns, calls, names, preview }: BlockParts,
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
        names.setExtension(name, value);
        failure = null;
      } catch (error) {
        const thrown = thrownError(error, preview);
        failure = new captured.Error(`${thrown.name}: ${thrown.message}`);
      }
    },
    after: () => {
      calls.enable(true);
      done(failure);
    },
  });
}

/** The script's object of named exports, as opposed to a class or an object of the module. */
function isBare(value: unknown): value is object {
  return typeof value === "object" && value !== null && !captured.isProxy(value) &&
    captured.getPrototypeOf(value) === null;
}
