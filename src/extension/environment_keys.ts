import type { HistoryReader } from "../domain/records/history_reader.ts";
import type { OwnStore } from "./own_store.ts";
import type { Spawn } from "./spawned.ts";
import type { Extension } from "./spec.ts";

/** Keys that an environment has from its begin to its end. What reads as an object is a copy of now. */
export interface ConversationKeys {
  readonly envId: string;
  readonly conversationId: string;
  /** 0 at top level. */
  readonly depth: number;
  /** Real path of the workspace. */
  readonly workspace: string;
  /** Everything that is stored, to be read. */
  readonly db?: HistoryReader;
  /** What this extension keeps; no other one reaches it. */
  readonly store?: OwnStore;
  readonly router?: RouterFacts;
  /** Names of the realm that are not the user's. */
  readonly initialNames?: ReadonlySet<string>;
  readonly varIndex?: VarIndexFacts;
  /** All there are here, in install order. */
  readonly extensions?: readonly { readonly namespace: string; readonly version: string; readonly active: boolean }[];
  /** Live variables that extensions have bound, the newest first. */
  readonly customBindings?: readonly CustomBinding[];
  /** The value of a variable, 1 MiB of codec bytes at most unless told. Rejects for what is no data. */
  readonly readVar?: (name: string, options?: { readonly maxBytes?: number }) => Promise<unknown>;
  /** Makes data a variable: at once in the sandbox, stored with the iteration that runs, or else with the next one. */
  readonly bindVar?: (name: string, value: unknown) => Promise<void>;
  /** The next call of the model gets a fresh index. `bindVar` does it by itself. */
  readonly bumpVarIndex?: () => void;
  /** Vis's own folder, null where there is none. */
  readonly home?: string | null;
  /** Aborts when the conversation is closed; `log`, in calls, writes a line to Vis's log. */
  readonly closed?: AbortSignal;
  readonly log?: (text: string) => void;
  /** Its section of the configuration, checked by its `config`. */
  readonly config?: unknown;
  /** An extension for this conversation alone, from the next query on; `load` takes a namespace or a folder. */
  readonly register?: (extension: Extension) => void;
  readonly load?: (ref: string) => Promise<Extension>;
  /** The only way to a process, behind the kernel wall; ends with the call, elsewhere with the query. */
  readonly spawn?: Spawn;
}

/** Keys that are absent while no query runs. */
export interface QueryKeys {
  /** Aborts with the block's deadline or the query's end. */
  readonly signal?: AbortSignal;
  readonly maxIterations?: number;
  /** Row of the iteration that runs or ran last; null at the begin of the query. */
  readonly currentIterationId?: string | null;
  /** Row of the iteration that called; child queries only. */
  readonly parentIterationId?: string;
  /** One plain model call, counted by the query's limits; rejects when it fails. Present in calls and hooks. */
  readonly ask?: (prompt: string, options?: { readonly model?: string; readonly system?: string }) => Promise<string>;
  /** A query inside this one, with a sandbox of its own and copies of `vars`; rejects when it cannot begin. Present in
   * calls and hooks. */
  readonly runChild?: (task: string, options?: ChildOptions) => Promise<ChildResult>;
}

export type ChildOptions = Readonly<{ vars?: readonly string[]; model?: string; maxIterations?: number }>;
export type ChildResult = Readonly<Record<"status" | "reason" | "answer", string>>;

export interface RouterFacts {
  readonly providers: readonly { readonly name: string; readonly models: readonly string[] }[];
  /** What serves the query unless it fails. */
  readonly root: { readonly provider: string; readonly model: string };
}

export interface VarIndexFacts {
  /** As the model read it last, "" before the first time. */
  readonly index: string;
  /** Of `index`, and of the variables as they are: the two differ where the index is stale. */
  readonly revision: number;
  readonly currentRevision: number;
}

export interface CustomBinding {
  readonly name: string;
  /** Namespace of who bound it. */
  readonly by: string;
  readonly preview: string;
}
