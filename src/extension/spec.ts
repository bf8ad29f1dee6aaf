import type { z } from "zod";
import type { JsonValue } from "../domain/kit/json.ts";
import type { Approval, ApprovalRequest } from "../domain/query/approval.ts";
import type { CallAction, CallOutcome } from "../domain/query/calls.ts";
import type { FoundState, StateEntry, StateVersion } from "../domain/records/extension_state.ts";
import type { HistoryReader } from "../domain/records/history.ts";
import type { NetworkScopes, ProgramWalls, Spawn, SpawnOptions } from "./spawned.ts";

/** A bundle of functions, constants, prompt and nudge. docs/extend/spec.md explains every key. */
export interface Extension {
  /** Unique; used for replacement and by `requires`. */
  readonly namespace: string;
  /** All symbols are under it: `search.find`. */
  readonly alias: { readonly ns: string; readonly alias: string };
  readonly doc: string;
  readonly group?: string;
  readonly subgroup?: string;
  readonly version: string;
  readonly author?: string;
  readonly license?: string;
  readonly requires?: readonly string[];
  /** Called for each query; a falsy result, or a promise of one, leaves out symbols, prompt and nudge. */
  readonly activate?: (env: EnvironmentView) => unknown;
  /** The user does this so that `activate` lets a shipped extension in. The prompt says it while the extension is
   * left out. */
  readonly howToEnable?: string;
  readonly prompt?: string | ((env: EnvironmentView) => string | Promise<string>);
  /** A sample step and the answer that follows. The prompt shows that of the first active extension that has one. */
  readonly example?: ReplyExample;
  readonly nudge?: (ctx: NudgeContext) => string | null;
  /** `doc()` finds these topics besides functions: each says how to read it, and has a line about it. */
  readonly topics?: (env: EnvironmentView) => readonly Topic[] | Promise<readonly Topic[]>;
  /** Requests that the user makes as `/name words`, such as skills. Called when the screen starts. */
  readonly requests?: (place: RequestPlace) => readonly NamedRequest[] | Promise<readonly NamedRequest[]>;
  /** Called for each query, before `activate`: more extensions for this conversation, such as aliases from settings. */
  readonly extend?: (env: EnvironmentView) => readonly Extension[] | Promise<readonly Extension[]>;
  /** Most used first: if there are many, the prompt shows the first ones in full and only names the rest. */
  readonly symbols?: readonly (FunctionSymbol | ValueSymbol)[];
  /** The prompt shows this many symbols in full, 12 by default; it only names the rest. */
  readonly shown?: number;
  /** Platform globals for the realm, such as "fetch"; each needs a matching `allow`, and each `allow` a global. */
  readonly globals?: readonly string[];
  /** Import names for the realm, each mapped to a self-contained file of the extension's folder, as "./stats.ts". */
  readonly modules?: Readonly<Record<string, string>>;
  /** Grants to the sandbox itself; most extensions need none. */
  readonly allow?: Partial<Readonly<Record<"net" | "read" | "write" | "env", readonly string[]>>>;
  /** Default of its setting `enabled`; on if `extensions.allow` names it, never in the locked profile. Absent: always
   * on. */
  readonly onByDefault?: boolean;
  /** The locked profile loads these parts for a read-only workspace: everything, or the listed functions with a
   * prompt that names no others. If absent, nothing of a shipped extension is loaded. */
  readonly readOnly?: true | Readonly<{ symbols: readonly string[]; prompt: NonNullable<Extension["prompt"]> }>;
  /** Schema of its section in `extensions.config`; `env.config` is the parsed result. */
  readonly config?: z.ZodType;
  /** A shipped extension can have an older name of its section, at the top of the settings file. */
  readonly section?: string;
  /** Sees what programs change in the workspace, for `env.watchFiles` of all extensions; the first extension that has it
   * counts. */
  readonly watchFiles?: (env: EnvironmentView, options: WatchOptions) => FileWatcher;
  /** Hears of each file that a function of an extension reads for the model, by `env.fileRead`: its path relative to the
   * workspace. */
  readonly fileRead?: (env: EnvironmentView, path: string) => void | Promise<void>;
  /** Commands that it adds to `vis`. */
  readonly cli?: readonly CliCommand[];
  /** Called by `vis doctor`, even while the extension is off. */
  readonly doctor?: (context: DoctorContext) => readonly DoctorCheck[] | Promise<readonly DoctorCheck[]>;
}

/** Reasoning, a block with its estimated time, and an answer that uses the variables of the block. */
export type ReplyExample = Readonly<{ thinking: string; code: string; timeMs: number; answer: string }>;

/** Something that `doc()` finds: the code that reads or calls it, and what it is. */
/** Vis looks here for the requests of an extension. */
export interface RequestPlace {
  readonly workspace: string;
  /** The top of the repository around the workspace; absent if there is none. */
  readonly root?: string;
  /** The folder of Vis; null if there is none. */
  readonly home: string | null;
  /** Patterns of the names of files that nobody reads. */
  readonly secrets: readonly string[];
}

export interface NamedRequest {
  /** Small letters, digits and dashes, beginning with a letter; others are left out. */
  readonly name: string;
  readonly doc: string;
  /** The words after the name take the place of `$ARGUMENTS`, or follow the text. */
  readonly text: string;
}

export interface Topic {
  readonly name: string;
  readonly doc: string;
}

export type FunctionSymbol = FunctionOptions & Readonly<{ kind: "function"; name: string; fn: HostFunction }>;
export type ValueSymbol = Readonly<{ kind: "value"; name: string; value: unknown; doc: string }>;

export interface FunctionOptions {
  readonly doc: string;
  /** A zod tuple, validated before the call and printed as the signature; `.describe("path")` names an item. */
  readonly args: z.ZodType;
  /** The TypeScript type that the promise resolves to. */
  readonly returns: string;
  /** Generated from the argument list if absent. */
  readonly examples?: readonly string[];
  /** Names of functions and modules of other tools and runtimes that it replaces; errors about them show its call. */
  readonly insteadOf?: readonly string[];
  /** The call that these errors show; generated from the argument list if absent. */
  readonly usage?: string;
  /** Names that its results lack and similar tools have, each with what to use instead: `{exitCode: "code"}`. Asking an
   * object of a result, or of a list that is one, for such a name throws; "commits.sha" is one of those in
   * `commits`. */
  readonly misnamed?: Readonly<Record<string, string>>;
  /** It has a time limit of its own and does not count against the block's time. */
  readonly untimed?: boolean;
  /** Whether it changes nothing that lasts and may be called for a plan; by default, what `readOnly` loads. */
  readonly reads?: boolean;
  /** People who watch see this text for a call; "called search.find" if absent. */
  readonly action?: CallAction;
  /** Returns the outcome of a call in a few words for people who watch, from its result: "12 passed". With `ok:
   * false` instead of a plain text, the call is shown as failed, with the end of `output`. */
  // deno-lint-ignore no-explicit-any
  readonly outcome?: (result: any) => string | CallOutcome;
  /** Bytes that a call may hold in memory while it runs, for one that holds many: calls wait until theirs fit. */
  readonly room?: number | ((...args: readonly unknown[]) => number);
  readonly before?: Before;
  readonly after?: After;
  readonly onError?: OnError;
}

/** A host function: gets the call's environment, then the model's arguments. If it throws, the model sees the
 * message. */
// deno-lint-ignore no-explicit-any
export type HostFunction = (env: EnvironmentView, ...args: any[]) => unknown;

type Call = { readonly env: EnvironmentView; readonly fn: HostFunction; readonly args: readonly unknown[] };
type Changes = Partial<Call> & { readonly result?: unknown; readonly error?: unknown };
export type Before = (input: Call) => Changes | Promise<unknown>;
export type After = (input: Call & { readonly result: unknown }) => Changes | Promise<unknown>;
export type OnError = (input: Call & { readonly error: unknown }) => Changes | Promise<unknown>;

export function fn(name: string, run: HostFunction, options: FunctionOptions): FunctionSymbol {
  return { kind: "function", name, fn: run, ...options };
}

export function value(name: string, constant: unknown, options: { readonly doc: string }): ValueSymbol {
  return { kind: "value", name, value: constant, doc: options.doc };
}

/** Extensions see this object read-only; docs/extend/spec.md describes it. A key marked `?` is absent where its
 * part is, as in a test. */
export type EnvironmentView = ConversationKeys & QueryKeys;

/** Keys that exist for the whole life of an environment. Objects are snapshots of the current state. */
export interface ConversationKeys {
  readonly envId: string;
  readonly conversationId: string;
  /** The branch of the conversation that is running. */
  readonly branchId: string;
  /** The tenant of the conversation; `env` reaches no other tenant. */
  readonly tenant?: string;
  /** 0 at top level. */
  readonly depth: number;
  /** Real path of the workspace. */
  readonly workspace: string;
  /** Real path of the top of the repository around the workspace, which may be read as well; absent where the workspace
   * is the top, or in none. */
  readonly root?: string;
  /** Whether the user has allowed changes in all of `root` when Vis was started. */
  readonly isRootOpen?: boolean;
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
  /** This is the extension's section of the settings, parsed by its `config`. */
  readonly config?: unknown;
  /** Adds an extension to this conversation only, starting with the next query; `load` takes a namespace or a
   * folder. */
  readonly register?: (extension: Extension) => void;
  readonly load?: (ref: string) => Promise<Extension>;
  /** The only way to start a process. It runs behind the kernel wall and ends with the call, or, outside a call, with
   * the query. */
  readonly spawn?: Spawn;
  /** Returns the walls that `spawn` puts around programs; rejects with the reason if none can run. */
  readonly programWalls?: () => Promise<ProgramWalls>;
  /** Returns the scopes that a lasting answer about a program's network covers, in the words of a question, or the
   * reason why there is none. */
  readonly networkScopes?: (argv: readonly string[], options: SpawnOptions) => Promise<NetworkScopes>;
  /** Patterns of files that may hold keys, for `isSecretFile`: reading one needs the user's approval. */
  readonly secrets?: readonly string[];
  /** Returns those of these paths that git or Vis would later run or read as settings. Paths are relative to the
   * workspace and have no links. Changing such a file needs the user's approval. */
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
   * question if a lasting answer allows it, and with a refusal if nobody can be asked. Time limits stand still. Present
   * in calls of functions that are `untimed`. */
  readonly approve?: (request: ApprovalRequest) => Promise<Approval>;
  /** Asks the user, as `approve` does, whether Vis may change all of `root`; the answer counts for every extension. `what`
   * says what needs it; with null, nobody is asked. Present with `approve` where there is a `root`. */
  readonly openRoot?: (what: string | null) => Promise<Approval>;
  /** Tells the model something in its next message, once, besides the result of a call. Present in calls. */
  readonly note?: (text: string) => void;
  /** Tells the query of a file that the call changed, as a unified diff, besides the key `diff` of its result. Present
   * in calls. */
  readonly changedFile?: (diff: string) => void;
  /** Tells extensions that the call reads a file, by its path relative to the workspace. Present in calls. */
  readonly fileRead?: (path: string) => Promise<void>;
  /** Watches the files that a program may change in the workspace; null where no extension can watch. Present in
   * calls. */
  readonly watchFiles?: (options?: WatchOptions) => FileWatcher | null;
  /** Tells the user something beside the answer, once. Absent in `extend`. */
  readonly warn?: (text: string) => void;
  /** The first fault of a JSON, JavaScript or TypeScript file by its name and text; null if it parses, and for others.
   * Present in calls. */
  readonly sourceFault?: (path: string, text: string) => Promise<SourceFault | null>;
  /** Runs a query inside this one, with its own sandbox and copies of `vars`. Rejects if it cannot start. Present in
   * calls and hooks. */
  readonly runChild?: (task: string, options?: ChildOptions) => Promise<ChildResult>;
}

/** Finds out what programs change in the workspace. Where several run at once, the first report has the changes of
 * all. */
export interface FileWatcher {
  /** Call it before a program begins, and what it returns when the program has ended. */
  begin(): Promise<() => void>;
  /** Tells the query what has changed since the last report, or since a program began, and keeps what it was for
   * `undo`; null if nothing. */
  report(): Promise<FileChanges | null>;
}

/** Files, links and empty folders, without what `.gitignore` leaves out. The lists are bounded, `files` counts all. */
export interface FileChanges {
  readonly files: number;
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  /** `undo` cannot bring this many of them back; absent if it can bring back all. */
  readonly notUndoable?: number;
}

/** `reason` completes "which": "git runs by the setting core.hooksPath". `running` names a command that could change
 * the path as well, once it is replaced; null if there is none. */
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

interface VarIndexFacts {
  /** The model received this index last; "" before the first time. */
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

/** `workspace` names another workspace than that of the conversation, by its real path. */
type Scoped = Readonly<{ scope?: "conversation" | "workspace" | "global"; workspace?: string }>;

/** `env.store`: JSON under keys of up to 200 characters. It belongs to this conversation unless `scope` is "workspace",
 * for all conversations there, or "global". A command has no conversation, so that it names one of the others. Each
 * change creates a version, and the last 1000 versions of a key are kept; a value has at most 1 MiB of JSON, a scope at
 * most 10 000 keys. A fork sees the state of its conversation at the time it was made. Rejects with TypeError if the
 * value is not JSON, and with the limit that was exceeded. */
export interface OwnStore {
  /** Stores the value; the same value creates no version. With `ifVersion` it rejects if another version is the
   * newest; 0 means that the key must not exist. */
  put(key: string, value: JsonValue, options?: Scoped & { readonly ifVersion?: number }): Promise<{ version: number }>;
  /** Undefined if there is no such key. */
  get(key: string, options?: Scoped & { readonly version?: number }): Promise<JsonValue | undefined>;
  /** Newest first; a version without a value is a deletion. 100 by default. */
  history(key: string, options?: Scoped & { readonly limit?: number }): Promise<readonly StateVersion[]>;
  /** Sorted by key; 100 by default. */
  list(
    options?: Scoped & { readonly prefix?: string; readonly limit?: number },
  ): Promise<readonly StateEntry[]>;
  /** Newest values of all conversations and of the global scope, or with `scope: "workspace"` of that, most recently
   * changed first; 100 by default. `where` matches values at a path: `{"job.state": "open"}`. */
  query(options?: {
    readonly scope?: "workspace";
    readonly workspace?: string;
    readonly conversationId?: string | null;
    readonly prefix?: string;
    readonly where?: Readonly<Record<string, string | number | boolean | null>>;
    /** Milliseconds since the epoch. */
    readonly since?: number;
    readonly limit?: number;
  }): Promise<readonly FoundState[]>;
  /** False if there was none. Only a conversation keeps the versions of a deleted key. */
  delete(key: string, options?: Scoped): Promise<boolean>;
  /** Stores bytes of any size and returns a reference to be put into a value: `vis db prune` removes bytes that no
   * value refers to. */
  putBytes(bytes: Uint8Array | AsyncIterable<Uint8Array>): Promise<string>;
  /** The bytes of a reference in pieces, each read on demand. Throws if they are gone or damaged. */
  bytes(reference: string): AsyncIterable<Uint8Array<ArrayBuffer>>;
  /** Removes bytes that no value refers to any more. */
  dropBytes(reference: string): Promise<void>;
}

export interface NudgeContext {
  readonly environment: EnvironmentView;
  /** The budget has used this many iterations, 0-based. */
  readonly iteration: number;
  readonly currentMaxIterations: number;
  /** The blocks that ran last; null before the first one and after a restart. */
  readonly prevExpressions: readonly PrevExpression[] | null;
  /** The iteration of `prevExpressions`, 0-based; -1 if that is null. */
  readonly prevIteration: number;
  readonly userVarCount: number;
}

/** `result` is the value, read when it is used; undefined if there is none or it is not data. */
type PrevExpression =
  & Readonly<Record<"code" | "preview" | "stdout" | "stderr", string>>
  & Readonly<{ result: unknown; error?: string; executionTimeMs: number; timedOut: boolean; repaired: boolean }>;

export interface DoctorContext {
  /** The extension's section of the configuration, as parsed by `config`. */
  readonly config: unknown;
  /** Runs a program in an empty folder, behind the kernel wall and without network; null if programs cannot run
   * here. */
  readonly spawn: Spawn | null;
  /** The same in the workspace, as in a conversation. */
  readonly spawnInWorkspace: Spawn | null;
  readonly workspace: string;
  /** The folder is the same as `env.root`. */
  readonly root?: string;
  readonly home: string | null;
}

export interface WatchOptions {
  /** This includes everything in `root`, even outside the workspace. */
  readonly all?: boolean;
}

/** A line of `vis doctor`. Unless `state` is "ok", `fix` says what to do. */
export type DoctorCheck = Readonly<{ name: string; state: "ok" | "warn" | "fail"; found: string; fix: string }>;

/** `vis reindex DOCS --limit 5`: required keys of `args` are positional, optional ones are flags. */
export interface CliCommand {
  readonly name: string;
  readonly doc: string;
  readonly args?: z.ZodObject;
  /** Returns the exit code; 0 if it returns nothing. */
  // deno-lint-ignore no-explicit-any
  readonly run: (args: any, context: CliContext) => number | void | Promise<number | void>;
}

/** A command of an extension receives this context. */
export interface CliContext {
  print(text: string): void;
  /** Asks for a line. Rejects where nobody can be asked, and if the user cancels. */
  ask(question: string): Promise<string>;
  readonly workspace: string;
  /** The folder is the same as `env.root`. */
  readonly root?: string;
  readonly home: string | null;
  readonly config: unknown;
  /** The state that the extension keeps for all conversations, or for those of this workspace. */
  readonly store: OwnStore;
  /** Runs a program in the workspace, behind the kernel wall as in a conversation. It ends with the command. Absent in
   * tests. */
  readonly spawn?: Spawn;
}

/** Names that every sandbox has, and reserved words. No alias or module may use them. */
export const TAKEN_NAMES: ReadonlySet<string> = new Set(
  ("answer conversationCode conversationHistory doc forget print printed requestMoreIterations restoreVar results shape " +
    "varDiff varHistory vars vis console globalThis undefined Infinity NaN Math JSON Intl Reflect Atomics crypto performance " +
    "await break case catch class const continue debugger default delete do else enum export extends false finally for " +
    "function if implements import in instanceof interface let new null package private protected public return static " +
    "super switch this throw true try typeof var void while with yield arguments eval").split(" "),
);
