import type { Approval, ApprovalRequest } from "../domain/query/approval.ts";
import type { HistoryReader } from "../domain/records/history.ts";
import type { OwnStore } from "./own_store.ts";
import type { ProgramWalls, Spawn } from "./spawned.ts";
import type { Extension } from "./spec.ts";

/** Keys that exist for the whole life of an environment. Objects are snapshots of the current state. */
export interface ConversationKeys {
  readonly envId: string;
  readonly conversationId: string;
  /** The branch of the conversation that is running. */
  readonly branchId: string;
  /** Whose conversation it is: nothing here reaches those of others. */
  readonly tenant?: string;
  /** 0 at top level. */
  readonly depth: number;
  /** Real path of the workspace. */
  readonly workspace: string;
  /** Read access to everything stored. */
  readonly db?: HistoryReader;
  /** Storage of this extension; no other extension can reach it. */
  readonly store?: OwnStore;
  readonly router?: RouterFacts;
  /** Names in the realm that the user did not declare. */
  readonly initialNames?: ReadonlySet<string>;
  readonly varIndex?: VarIndexFacts;
  /** All extensions available here, in install order. */
  readonly extensions?: readonly { readonly namespace: string; readonly version: string; readonly active: boolean }[];
  /** Live variables that extensions have bound, newest first. */
  readonly customBindings?: readonly CustomBinding[];
  /** Reads the value of a variable, by default up to 1 MiB in codec bytes. Rejects if the value is not data. */
  readonly readVar?: (name: string, options?: { readonly maxBytes?: number }) => Promise<unknown>;
  /** Binds data to a variable: in the sandbox immediately, in the database with the current iteration or else the next
   * one. */
  readonly bindVar?: (name: string, value: unknown) => Promise<void>;
  /** Rebuilds the index for the next model call. `bindVar` does this automatically. */
  readonly bumpVarIndex?: () => void;
  /** Vis's own folder, one for each tenant, or null if there is none. */
  readonly home?: string | null;
  /** Aborts when the conversation is closed; `log`, in calls, writes a line to Vis's log. */
  readonly closed?: AbortSignal;
  readonly log?: (text: string) => void;
  /** Its section of the configuration, parsed by its `config`. */
  readonly config?: unknown;
  /** Adds an extension to this conversation only, starting with the next query; `load` takes a namespace or a folder. */
  readonly register?: (extension: Extension) => void;
  readonly load?: (ref: string) => Promise<Extension>;
  /** The only way to start a process. It runs behind the kernel wall and ends with the call, or, outside a call, with
   * the query. */
  readonly spawn?: Spawn;
  /** What `spawn` leaves to programs; rejects with the reason if none can run. */
  readonly programWalls?: () => Promise<ProgramWalls>;
  /** Patterns of files that may hold keys, for `isSecretFile`: reading one needs the user's approval. */
  readonly secrets?: readonly string[];
  /** Which of these paths, relative to the workspace and without links, git or Vis would later run or read as settings.
   * Changing one needs the user's approval. */
  readonly obeyedPaths?: (paths: readonly string[]) => Promise<readonly ObeyedPath[]>;
  /** Whether the conversation is closed after this query: `vis run`, and child queries. */
  readonly endsWithQuery?: boolean;
}

/** Keys that are absent while no query runs. */
export interface QueryKeys {
  /** Aborts at the block's deadline or when the query ends. */
  readonly signal?: AbortSignal;
  readonly maxIterations?: number;
  /** Row of the iteration that is running or ran last; null at the start of the query. */
  readonly currentIterationId?: string | null;
  /** Row of the user's query, in its child queries too. */
  readonly userQueryId?: string;
  /** Row of the iteration that made the call; child queries only. */
  readonly parentIterationId?: string;
  /** One plain model call, which counts against the query's limits. Rejects if the call fails. Present in calls and
   * hooks. */
  readonly ask?: (prompt: string, options?: { readonly model?: string; readonly system?: string }) => Promise<string>;
  /** Asks the user, who can allow it once, for the conversation or for the workspace, or refuse it. Resolves without a
   * question if a lasting answer allows it, and with a refusal if nobody can be asked. Time limits stand still. Present in
   * calls of functions that are `untimed`. */
  readonly approve?: (request: ApprovalRequest) => Promise<Approval>;
  /** Tells the model something in its next message, once, besides the result of a call. Present in calls. */
  readonly note?: (text: string) => void;
  /** Tells the user something beside the answer, once. Present in calls. */
  readonly warn?: (text: string) => void;
  /** The first fault of a JSON, JavaScript or TypeScript file by its name and text; null if it parses, and for others.
   * Present in calls. */
  readonly sourceFault?: (path: string, text: string) => Promise<SourceFault | null>;
  /** Runs a query inside this one, with its own sandbox and copies of `vars`. Rejects if it cannot start. Present in
   * calls and hooks. */
  readonly runChild?: (task: string, options?: ChildOptions) => Promise<ChildResult>;
}

/** `reason` completes "which": "git runs by the setting core.hooksPath". `running` names a command that could change the
 * path as well, once it is replaced; null if there is none. */
export type ObeyedPath = Readonly<{ path: string; reason: string; running: string | null }>;
/** `line` is 1-based. */
export type SourceFault = Readonly<{ line: number; message: string }>;
export type ChildOptions = Readonly<{ vars?: readonly string[]; model?: string; maxIterations?: number }>;
export type ChildResult = Readonly<Record<"status" | "reason" | "answer", string>>;

export interface RouterFacts {
  readonly providers: readonly { readonly name: string; readonly models: readonly string[] }[];
  /** The route that serves the query unless it fails. */
  readonly root: { readonly provider: string; readonly model: string };
}

export interface VarIndexFacts {
  /** As last sent to the model; "" before the first time. */
  readonly index: string;
  /** The revision of `index`, and the current revision of the variables. They differ when the index is stale. */
  readonly revision: number;
  readonly currentRevision: number;
}

export interface CustomBinding {
  readonly name: string;
  /** Namespace of the extension that bound it. */
  readonly by: string;
  readonly preview: string;
}
