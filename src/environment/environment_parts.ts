import type { Approval, ApprovalRequest } from "../domain/query/approval.ts";
import type { CallOrigin, HostCallEvent } from "../domain/query/host_call.ts";
import type { WebFindings } from "../domain/query/model_call.ts";
import type { AnswerType, Confidence } from "../domain/query/query_schemas.ts";
import type { ExtensionSource } from "../extension/active_extensions.ts";
import type { NetworkScopes, ProgramWalls, SpawnCaller, Spawned, SpawnOptions } from "../extension/spawn_types.ts";
import type { ChildOptions, ChildResult, ObeyedPath } from "../extension/spec.ts";
import type { Log } from "../logging/log.ts";
import type { Branch, Store } from "../persistence/store.ts";
import type { Router } from "../providers/router/router.ts";
import type { Sandbox, SandboxOptions } from "../sandbox/sandbox.ts";

export interface EnvironmentParts {
  readonly branch: Branch;
  readonly depth?: number;
  readonly parentIterationId?: string;
  readonly userQueryId?: string;
  readonly store: Store;
  readonly registry: ExtensionSource;
  readonly log: Log;
  readonly openSandbox: (
    options: Pick<
      SandboxOptions,
      | "functions"
      | "untimed"
      | "misnamed"
      | "constants"
      | "grants"
      | "granted"
      | "globals"
      | "modules"
      | "onModuleFailed"
      | "workspace"
      | "onCall"
      | "signal"
    >,
  ) => Promise<Sandbox>;
  readonly mayStartEarly?: () => boolean;
  /** The caller is null if the user named the program. */
  readonly spawn?: (
    workspace: string,
    argv: readonly string[],
    options: SpawnOptions,
    caller: SpawnCaller | null,
  ) => Promise<Spawned>;
  readonly programWalls?: (
    paths?: Pick<SpawnOptions, "write" | "cwd" | "root"> & { readonly workspace: string },
  ) => Promise<ProgramWalls>;
  readonly networkScopes?: (
    workspace: string,
    argv: readonly string[],
    options: SpawnOptions,
  ) => Promise<NetworkScopes>;
  readonly secrets?: (workspace: string) => readonly string[];
  readonly repositoryRoot?: (workspace: string) => { readonly path: string; readonly isOpen: boolean } | null;
  readonly readFolders?: readonly string[];
  readonly obeyedPaths?: (
    workspace: string,
    paths: readonly string[],
    root: string,
    added?: readonly string[],
  ) => Promise<readonly ObeyedPath[]>;
  readonly oneRequest?: boolean;
  readonly router?: Pick<Router, "routes" | "current">;
  readonly now: () => number;
}

export interface SubcallOptions {
  /** `model` is the name of a model, or "cost", "speed" or "intelligence". */
  readonly model?: string;
  readonly signal: AbortSignal;
}

export interface SubcallFunctions {
  ask(prompt: string, options: SubcallOptions & { readonly system?: string }): Promise<string>;
  searchWeb(query: string, options: Pick<SubcallOptions, "signal">): Promise<WebFindings>;
  runChild(task: string, options: ChildOptions & SubcallOptions): Promise<ChildResult>;
}

export interface QueryScope {
  readonly queryId: string;
  readonly signal: AbortSignal;
  readonly onlyReads?: boolean;
  readonly budget: () => number;
  readonly maxDepth?: number;
  /** Without `root`, extensions see the model of the process. */
  readonly root?: () => { readonly provider: string; readonly model: string };
  readonly requestMore: (n: number) => { readonly granted: number; readonly budget: number };
  /** The first offer in an iteration counts. */
  readonly answer: (
    text: string,
    facts: {
      readonly type: AnswerType;
      readonly confidence: Confidence;
      readonly block: number;
      readonly value: unknown;
    },
  ) => void;
  readonly subcalls?: SubcallFunctions;
  readonly approve?: (
    request: ApprovalRequest,
    from: {
      readonly extension: string;
      readonly signal: AbortSignal;
      readonly isQuiet?: boolean;
    },
  ) => Promise<Approval>;
  readonly onCall: (call: HostCallEvent, of: CallOrigin) => void;
  readonly onOutput?: (printed: { readonly block: number; readonly output: string }, of: CallOrigin) => void;
  readonly onChange?: (diff: string) => void;
}
