import type { ActiveExtensions } from "../extension/registry/registry.ts";
import type { Log } from "../logging/log.ts";
import type { FailedModule, SandboxOptions } from "../sandbox/sandbox.ts";

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
