import type { ExtensionSource } from "../extension/registry/lazy_registry.ts";
import type { ObeyedPath } from "../extension/environment_keys.ts";
import type { ProgramWalls, SpawnCaller, Spawned, SpawnOptions } from "../extension/spawned.ts";
import type { Log } from "../logging/log.ts";
import type { Router } from "../providers/router/router.ts";
import type { Branch } from "../persistence/store/conversation_store.ts";
import type { Store } from "../persistence/store/store.ts";
import type { Sandbox, SandboxOptions } from "../sandbox/sandbox.ts";

/** What an environment is built from; the caller owns all of it. */
export interface EnvironmentParts {
  readonly branch: Branch;
  /** 0, the default, for a user's query. */
  readonly depth?: number;
  /** The iteration that started this child query. */
  readonly parentIterationId?: string;
  /** The user's query above this child query. */
  readonly userQueryId?: string;
  readonly store: Store;
  readonly registry: ExtensionSource;
  readonly log: Log;
  /** Starts a confined child; throws if a required wall is missing. */
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
  /** Whether a query may start a child before a block needs it; always if absent. */
  readonly mayStartEarly?: () => boolean;
  /** Runs a program behind the wall around processes, or as the user says where that is not whole; extensions call it
   * as `env.spawn`. Without a caller, the user named the program. */
  readonly spawn?: (
    workspace: string,
    argv: readonly string[],
    options: SpawnOptions,
    caller: SpawnCaller | null,
  ) => Promise<Spawned>;
  /** Rejects if no program can run. */
  readonly programWalls?: () => Promise<ProgramWalls>;
  /** Patterns of files that may hold keys. */
  readonly secrets?: readonly string[];
  /** Extensions call it as `env.obeyedPaths`. */
  readonly obeyedPaths?: (workspace: string, paths: readonly string[]) => Promise<readonly ObeyedPath[]>;
  /** The process ends after one query. */
  readonly oneRequest?: boolean;
  /** For the router facts that extensions see. */
  readonly router?: Pick<Router, "routes" | "current">;
  readonly now: () => number;
}
