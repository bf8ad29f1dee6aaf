import type { ExtensionSource } from "../extension/registry/lazy_registry.ts";
import type { Spawned, SpawnOptions } from "../extension/spawned.ts";
import type { Log } from "../logging/log.ts";
import type { Router } from "../providers/router/router.ts";
import type { Branch, Store } from "../persistence/store/store.ts";
import type { Sandbox, SandboxOptions } from "../sandbox/sandbox.ts";

/** What an environment is built from; all of it belongs to the caller. */
export interface EnvironmentParts {
  readonly branch: Branch;
  /** 0, the default, for a query of the user. */
  readonly depth?: number;
  /** The iteration that started the child query this is for. */
  readonly parentIterationId?: string;
  readonly store: Store;
  readonly registry: ExtensionSource;
  readonly log: Log;
  /** Starts a confined child; throws when a required wall is missing. */
  readonly openSandbox: (
    options: Pick<
      SandboxOptions,
      | "functions"
      | "untimed"
      | "constants"
      | "grants"
      | "globals"
      | "modules"
      | "onModuleFailed"
      | "workspace"
      | "onCall"
      | "signal"
    >,
  ) => Promise<Sandbox>;
  /** Whether a query may start a child before a block needs it; always where it is left out. */
  readonly mayStartEarly?: () => boolean;
  /** Runs a program behind the wall around processes; extensions have it as `env.spawn`. */
  readonly spawn?: (workspace: string, argv: readonly string[], options: SpawnOptions) => Promise<Spawned>;
  /** For what extensions may know of it. */
  readonly router?: Pick<Router, "routes" | "current">;
  readonly now: () => number;
}
