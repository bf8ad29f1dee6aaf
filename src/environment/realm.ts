import { SYSTEM_VARIABLES } from "../domain/query/variable.ts";
import type { ActiveExtensions } from "../extension/active.ts";
import type { Log } from "../logging/log.ts";
import type { FailedModule, SandboxOptions } from "../sandbox/sandbox.ts";
import { BUILTIN_NAMES } from "./builtins.ts";

/** What the active extensions add to a sandbox, besides the built-in functions. */
export function realmParts(
  active: ActiveExtensions | null,
): Pick<SandboxOptions, "functions" | "untimed" | "constants" | "grants" | "globals"> {
  return {
    functions: [...BUILTIN_NAMES, ...active?.functions ?? [], ...offFunctions(active)],
    untimed: active?.untimed ?? [],
    constants: active?.constants ?? {},
    grants: active?.grants ?? { net: [], read: [], write: [], env: [] },
    globals: active?.globals ?? [],
  };
}

/** They are in the realm too, so that a call says how the user switches them on. */
function offFunctions(active: ActiveExtensions | null): readonly string[] {
  return (active?.off ?? []).flatMap(({ functions }) => functions);
}

/** What a child was started with, as text. If it changes, a new child is needed. Functions are called by name. */
export function boundText({ functions, untimed, grants, globals, constants, modules, off }: ActiveExtensions): string {
  return JSON.stringify([off, functions, untimed, grants, globals, constants, modules], (_key, value: unknown) => {
    if (typeof value === "bigint") return `${value}n`;
    return value instanceof Map || value instanceof Set ? [...value] : value;
  });
}

/** What Vis adds to every realm besides the builtins. */
const ALWAYS = ["console", "print", "printed", "results", "shape", "vis"];

/** Names in the realm that the user did not declare, without those of the language. */
export function initialNames(active: ActiveExtensions | null): ReadonlySet<string> {
  const { functions = [], constants = {}, modules = {}, globals = [], off = [] } = active ?? {};
  const roots = [...functions, ...off.map(({ alias }) => alias), ...Object.keys(constants), ...globals].map((name) =>
    name.split(".")[0] ?? name
  );
  return new Set([...SYSTEM_VARIABLES, ...ALWAYS, ...BUILTIN_NAMES, ...roots, ...Object.keys(modules)]);
}

/** Passes the modules of the active extensions to a child and tracks those that failed. Each failure is reported once. */
export class RealmModules {
  readonly #log: Log;
  readonly #conversationId: string;
  /** Scripts that ended a child; they are not passed to another one. */
  readonly #fatal = new Set<string>();
  readonly #reported = new Set<string>();
  readonly #notes: string[] = [];

  constructor(log: Log, conversationId: string) {
    this.#log = log;
    this.#conversationId = conversationId;
  }

  /** Options for the next child. */
  options(active: ActiveExtensions | null): Pick<SandboxOptions, "modules" | "onModuleFailed"> {
    const scripts = active?.modules ?? {};
    return {
      modules: Object.fromEntries(Object.entries(scripts).filter(([, script]) => !this.#fatal.has(script))),
      onModuleFailed: (failed) => this.#failed(failed, scripts[failed.name] ?? ""),
    };
  }

  /** Notes for the model since the last call. */
  take(): readonly string[] {
    return this.#notes.splice(0);
  }

  #failed({ name, reason, ended }: FailedModule, script: string): void {
    if (ended) this.#fatal.add(script);
    if (this.#reported.has(script)) return;
    this.#reported.add(script);
    this.#log.warn("module_failed", { conversationId: this.#conversationId, module: name, error: reason });
    this.#notes.push(`Module ${name} could not be loaded, so ${name} is not defined: ${reason}`);
  }
}
