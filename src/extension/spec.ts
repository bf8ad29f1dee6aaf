import type { z } from "zod";
import type { JsonValue } from "../domain/kit/json.ts";
import type { Approval, ApprovalRequest } from "../domain/query/approval.ts";
import type { CallAction, CallOutcome } from "../domain/query/calls.ts";
import type { FoundState, StateEntry, StateVersion } from "../domain/records/extension_state.ts";
import type { HistoryReader } from "../domain/records/history.ts";
import type { NetworkScopes, ProgramWalls, Spawn, SpawnOptions } from "./spawn_types.ts";

/** A bundle of functions, constants, prompt and nudge. docs/extend/spec.md explains every key. */
export interface Extension {
  /** A unique name, used for replacement and by `requires`. */
  readonly namespace: string;
  /** The prefix of all symbols, as in `search.find`. */
  readonly alias: { readonly ns: string; readonly alias: string };
  readonly doc: string;
  readonly group?: string;
  readonly subgroup?: string;
  readonly version: string;
  readonly author?: string;
  readonly license?: string;
  readonly requires?: readonly string[];
  /** Vis calls `activate` for each query. If the result, or the value of its promise, is falsy, Vis omits symbols, prompt
   * and nudge. */
  readonly activate?: (env: EnvironmentView) => unknown;
  /** How the user makes `activate` accept a shipped extension. The prompt contains this text while the extension is
   * inactive, unless the settings exclude the extension. */
  readonly howToEnable?: string;
  readonly prompt?: string | ((env: EnvironmentView) => string | Promise<string>);
  /** A sample step and the answer that follows. The prompt shows the sample of the first active extension that has
   * one. */
  readonly example?: ReplyExample;
  readonly nudge?: (ctx: NudgeContext) => string | null;
  /** Topics that `doc()` finds besides functions, each with the code to read it and a line about it. */
  readonly topics?: (env: EnvironmentView) => readonly Topic[] | Promise<readonly Topic[]>;
  /** Requests that the user makes as `/name words`, such as skills. Vis calls `requests` when the screen starts. */
  readonly requests?: (place: RequestPlace) => readonly NamedRequest[] | Promise<readonly NamedRequest[]>;
  /** Returns further extensions for this conversation, such as aliases from settings. Vis calls `extend` for each
   * query, before `activate`. */
  readonly extend?: (env: EnvironmentView) => readonly Extension[] | Promise<readonly Extension[]>;
  /** The symbols, most used first. */
  readonly symbols?: readonly (FunctionSymbol | ValueSymbol)[];
  /** The number of symbols that the prompt shows in full, 12 by default. The prompt only names the others. */
  readonly shown?: number;
  /** Platform globals for the realm, such as "fetch". Each global needs a grant in `allow`, and each grant needs a
   * global. */
  readonly globals?: readonly string[];
  /** Names in the realm, each mapped to a self-contained file of the extension's folder, such as "./stats.ts". */
  readonly modules?: Readonly<Record<string, string>>;
  /** Grants to the sandbox itself. */
  readonly allow?: Partial<Readonly<Record<"net" | "read" | "write" | "env", readonly string[]>>>;
  /** The default of the setting `enabled`. If `extensions.allow` names the extension, this default is true. The locked
   * profile loads no extension that has `onByDefault`. */
  readonly onByDefault?: boolean;
  /** The parts that the locked profile loads for a read-only workspace: everything, or the listed functions with a
   * prompt that names no other functions. If absent, no part of a shipped extension is loaded. */
  readonly readOnly?: true | Readonly<{ symbols: readonly string[]; prompt: NonNullable<Extension["prompt"]> }>;
  /** The schema of the extension's section in `extensions.config`. `env.config` is the parsed result. */
  readonly config?: z.ZodType;
  /** An older name of a shipped extension's section, at the top of the settings file. */
  readonly section?: string;
  /** Finds the files that programs change in the workspace. `env.watchFiles` of every extension calls the first
   * `watchFiles` that Vis finds. */
  readonly watchFiles?: (env: EnvironmentView, options: WatchOptions) => FileWatcher;
  /** Vis calls `fileRead` for each file that a function of an extension reads for the model and reports by
   * `env.fileRead`. The path is relative to the workspace. */
  readonly fileRead?: (env: EnvironmentView, path: string) => void | Promise<void>;
  /** Commands that the extension adds to `vis`. */
  readonly cli?: readonly CliCommand[];
  /** `vis doctor` calls `doctor`, even while the extension is off. */
  readonly doctor?: (context: DoctorContext) => readonly DoctorCheck[] | Promise<readonly DoctorCheck[]>;
}

/** Reasoning, a block with its estimated time, and an answer that uses the variables of the block. */
export type ReplyExample = Readonly<{ thinking: string; code: string; timeMs: number; answer: string }>;

/** The folders in which an extension looks for requests. */
export interface RequestPlace {
  readonly workspace: string;
  /** The top of the repository around the workspace; absent outside a repository. */
  readonly root?: string;
  /** Vis's own folder; null without such a folder. */
  readonly home: string | null;
  /** Patterns of secret files, which must not be read. */
  readonly secrets: readonly string[];
}

export interface NamedRequest {
  /** Small letters, digits and dashes, beginning with a letter. Vis skips other names. */
  readonly name: string;
  readonly doc: string;
  /** The words after the name replace `$ARGUMENTS`, or follow the text. */
  readonly text: string;
}

/** A result of `doc()`. `name` is the code that reads or calls the topic, and `doc` is one line about it. */
export interface Topic {
  readonly name: string;
  readonly doc: string;
}

export type FunctionSymbol = FunctionOptions & Readonly<{ kind: "function"; name: string; fn: HostFunction }>;
export type ValueSymbol = Readonly<{ kind: "value"; name: string; value: unknown; doc: string }>;

export interface FunctionOptions {
  readonly doc: string;
  /** The arguments as a zod tuple, validated before the call and printed as the signature. `.describe("path")` names an
   * item. */
  readonly args: z.ZodType;
  /** The TypeScript type of the promise's value. */
  readonly returns: string;
  /** Example calls; generated from the argument list if absent. */
  readonly examples?: readonly string[];
  /** Names of functions and modules of other tools and runtimes that the function replaces. Errors about these names
   * show the call of the function. */
  readonly insteadOf?: readonly string[];
  /** The call that errors about the names of `insteadOf` show; generated from the argument list if absent. */
  readonly usage?: string;
  /** Names of similar tools that results of the function lack, each with the replacement: `{exitCode: "code"}`. Reading
   * such a name from an object of a result, or of a list of objects, throws. "commits.sha" belongs to the objects in
   * `commits`. */
  readonly misnamed?: Readonly<Record<string, string>>;
  /** Whether the function has its own time limit and does not count against the block's time. */
  readonly untimed?: boolean;
  /** Whether a call makes no lasting change, so that a plan may make the call. A function decides by the arguments of
   * the call. By default, true if `readOnly` loads the function. */
  // deno-lint-ignore no-explicit-any
  readonly reads?: boolean | ((...args: any[]) => boolean);
  /** Whether a plan may also make other calls, because the function changes nothing if `env.onlyReads` is true. */
  readonly inPlans?: boolean;
  /** The words for a call that people see; "called search.find" if absent. A function chooses the words by the arguments
   * of the call. */
  // deno-lint-ignore no-explicit-any
  readonly action?: CallAction | ((...args: any[]) => CallAction);
  /** Returns the outcome of a call in a few words for people, from its result: "12 passed". With `ok: false` instead of
   * a plain text, the call is shown as failed, with the end of `output`. */
  // deno-lint-ignore no-explicit-any
  readonly outcome?: (result: any) => string | CallOutcome;
  /** The bytes of memory that a call may need; set for calls that need much memory. A call waits until this memory is
   * available. */
  readonly room?: number | ((...args: readonly unknown[]) => number);
  readonly before?: Before;
  readonly after?: After;
  readonly onError?: OnError;
}

/** A host function. Its arguments are the call's environment, then the model's arguments. If the function throws, the
 * model sees the message. */
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

/** The read-only object that extensions see; docs/extend/environment.md describes it. An optional key is absent if Vis
 * runs without the part behind the key, as in a test. */
export type EnvironmentView = ConversationKeys & QueryKeys;

/** Keys that exist for the whole life of an environment. Objects are snapshots of the current state. */
export interface ConversationKeys {
  readonly envId: string;
  readonly conversationId: string;
  /** The running branch of the conversation. */
  readonly branchId: string;
  /** The tenant of the conversation; `env` reaches no other tenant. */
  readonly tenant?: string;
  /** The number of queries around this one: 0 for the user's request. */
  readonly depth: number;
  /** The real path of the workspace. */
  readonly workspace: string;
  /** The real path of the top of the repository around the workspace, which may be read as well. Absent if the
   * workspace is the top or is in no repository. */
  readonly root?: string;
  /** Whether the user allowed changes in all of `root` when Vis was started. */
  readonly isRootOpen?: boolean;
  /** Read access to stored conversations and to the log. */
  readonly db?: HistoryReader;
  /** Storage of this extension. The store of an extension with another namespace cannot reach it. */
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
  /** Rebuilds the index for the next model call. `bindVar` rebuilds the index automatically. */
  readonly bumpVarIndex?: () => void;
  /** Vis's own folder, one for each tenant; null without such a folder. */
  readonly home?: string | null;
  /** Aborts when the conversation is closed. In calls, `log` writes a line to Vis's log. */
  readonly closed?: AbortSignal;
  readonly log?: (text: string) => void;
  /** The extension's section of the settings, parsed by its `config`. */
  readonly config?: unknown;
  /** Adds an extension to this conversation only, from the next query on. `load` takes the path of a folder, or returns
   * a loaded extension by its namespace. */
  readonly register?: (extension: Extension) => void;
  readonly load?: (ref: string) => Promise<Extension>;
  /** Runs a program behind the command wall. By default, the program ends with the call or, outside a call, with the
   * query. */
  readonly spawn?: Spawn;
  /** Returns the walls of `spawn`. Rejects with the reason if no program can run. */
  readonly programWalls?: () => Promise<ProgramWalls>;
  /** Returns the scopes that a lasting approval of a program's network covers, in the words of an approval, or
   * the reason why no lasting approval is possible. */
  readonly networkScopes?: (argv: readonly string[], options: SpawnOptions) => Promise<NetworkScopes>;
  /** Patterns of files that may hold keys, for `isSecretFile`. Reading such a file needs the user's approval. */
  readonly secrets?: readonly string[];
  /** Returns the given paths that git or Vis would later run or read as settings. Paths are relative to the workspace
   * and have no links. Changing such a file needs the user's approval. */
  readonly obeyedPaths?: (paths: readonly string[]) => Promise<readonly ObeyedPath[]>;
  /** Whether the conversation is closed after this query, as for `vis run` and sub-queries. */
  readonly endsWithQuery?: boolean;
}

/** Keys that are absent while no query runs. */
export interface QueryKeys {
  /** Whether the query must change nothing, as for a plan, a review or a side question. */
  readonly onlyReads?: boolean;
  /** Aborts at the block's deadline or when the query ends. */
  readonly signal?: AbortSignal;
  readonly maxIterations?: number;
  /** The row of the iteration that is running or ran last; null at the start of the query. */
  readonly currentIterationId?: string | null;
  /** The row of the user's query, in its sub-queries too. */
  readonly userQueryId?: string;
  /** The row of the iteration that made the call; sub-queries only. */
  readonly parentIterationId?: string;
  /** Makes a plain model call, which counts against the query's limits. Rejects if the call fails. Present in calls and
   * hooks. */
  readonly ask?: (prompt: string, options?: { readonly model?: string; readonly system?: string }) => Promise<string>;
  /** Asks the user, who can allow the action once, for the conversation or for the workspace, or refuse the action.
   * Resolves at once if a lasting approval allows the action, and with a refusal if Vis can ask no user. Time limits
   * pause meanwhile. Present in calls of functions that are `untimed`. If `isQuiet`, Vis asks no user, and only lasting
   * approvals count. */
  readonly approve?: (request: ApprovalRequest, options?: { readonly isQuiet?: boolean }) => Promise<Approval>;
  /** Asks the user, like `approve`, whether Vis may change all of `root`. The answer applies to every extension. `what`
   * names the purpose; with null, Vis asks no user. Present with `approve` if there is a `root`. */
  readonly openRoot?: (what: string | null) => Promise<Approval>;
  /** Adds a note to the next message for the model, once, besides the result of a call. Present in calls. */
  readonly note?: (text: string) => void;
  /** Reports to the query, as a unified diff, that the call changed a file. A key `diff` in the result does the same.
   * Present in calls. */
  readonly changedFile?: (diff: string) => void;
  /** Shows the last lines of this output to users who watch the call. Vis stores the lines only if the call is
   * cancelled, or ends with its block. Present in calls. */
  readonly showOutput?: (bytes: Uint8Array<ArrayBuffer>) => void;
  /** Reports to extensions that the call reads a file, by its path relative to the workspace. Present in calls. */
  readonly fileRead?: (path: string) => Promise<void>;
  /** Watches the files that a program may change in the workspace; null if no extension can watch. Present in calls. */
  readonly watchFiles?: (options?: WatchOptions) => FileWatcher | null;
  /** Shows the user a text next to the answer, once. Absent in `extend`. */
  readonly warn?: (text: string) => void;
  /** Returns the first fault of a JSON, JavaScript or TypeScript file by its name and text. Returns null if
   * the text parses, for other files, for texts of more than 1 Mi characters, and if the parser fails. Present in
   * calls. */
  readonly sourceFault?: (path: string, text: string) => Promise<SourceFault | null>;
  /** Runs a query inside this one, with its own sandbox and copies of `vars`. Rejects if the query cannot start.
   * Present in calls and hooks. */
  readonly runChild?: (task: string, options?: ChildOptions) => Promise<ChildResult>;
}

/** Finds out which files programs change in the workspace. If several programs run at once, the first report has the
 * changes of all. */
export interface FileWatcher {
  /** Called before a program begins. The caller calls the returned function when the program has ended. */
  begin(): Promise<() => void>;
  /** Reports changes since the last report, or since a program began, to the query. Returns null without changes. Vis
   * keeps the former files for `undo`. */
  report(): Promise<FileChanges | null>;
}

/** The changed files, links and empty folders, without entries that `.gitignore` excludes. The lists are bounded.
 * `files` is the full number of changes. */
export interface FileChanges {
  readonly files: number;
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  /** The number of changes that `undo` cannot revert; absent if `undo` can revert all changes. */
  readonly notUndoable?: number;
}

/** `reason` completes "which": "git runs by the setting core.hooksPath". `running` names a command that could also
 * change the path once it is replaced, or is null. */
export type ObeyedPath = Readonly<{ path: string; reason: string; running: string | null }>;
/** A fault of a source file; `line` is 1-based. */
export type SourceFault = Readonly<{ line: number; message: string }>;
export type ChildOptions = Readonly<{ vars?: readonly string[]; model?: string; maxIterations?: number }>;
export type ChildResult = Readonly<Record<"status" | "reason" | "answer", string>>;

export interface RouterFacts {
  readonly providers: readonly { readonly name: string; readonly models: readonly string[] }[];
  /** The route that serves the query unless this route fails. */
  readonly root: { readonly provider: string; readonly model: string };
}

interface VarIndexFacts {
  /** The last index that the model received; "" before the first one. */
  readonly index: string;
  /** The revision of `index`, and the current revision of the variables. The two revisions differ when the index is
   * stale. */
  readonly revision: number;
  readonly currentRevision: number;
}

export interface CustomBinding {
  readonly name: string;
  /** The namespace of the extension that bound the variable. */
  readonly by: string;
  readonly preview: string;
}

/** `workspace` names another workspace than the conversation's, by its real path. */
type Scoped = Readonly<{ scope?: "conversation" | "workspace" | "global"; workspace?: string }>;

/** `env.store`: JSON under keys of up to 200 characters. By default, a key belongs to this conversation. With `scope`
 * "workspace" or "global", a key belongs to all conversations of the workspace, or to all conversations. A command has
 * no conversation, so it names one of the other scopes. Each change creates a version, and Vis keeps at least the
 * last 1000 versions of a key. A value has at most 1 Mi characters of JSON, and a scope at most 10 000 keys. A fork sees
 * the state of its conversation at the point of the fork. Rejects with TypeError if the value is not JSON, and with an
 * error that names an exceeded limit. */
export interface OwnStore {
  /** Stores the value; an equal value creates no version. With `ifVersion`, `put` rejects if another version is the
   * newest; 0 means that the key must not exist. */
  put(key: string, value: JsonValue, options?: Scoped & { readonly ifVersion?: number }): Promise<{ version: number }>;
  /** Returns undefined if the key does not exist. */
  get(key: string, options?: Scoped & { readonly version?: number }): Promise<JsonValue | undefined>;
  /** Returns up to `limit` versions (by default 100), newest first. A version without a value is a deletion. */
  history(key: string, options?: Scoped & { readonly limit?: number }): Promise<readonly StateVersion[]>;
  /** Returns keys with their newest versions, sorted by key; 100 by default. */
  list(
    options?: Scoped & { readonly prefix?: string; readonly limit?: number },
  ): Promise<readonly StateEntry[]>;
  /** Returns newest values of all conversations and of the global scope, most recently changed first; 100 by default.
   * With `scope: "workspace"`, `query` returns the values of the workspace. `where` matches values at a path:
   * `{"job.state": "open"}`. */
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
  /** Returns false if the key did not exist. Only a conversation keeps the versions of a deleted key. */
  delete(key: string, options?: Scoped): Promise<boolean>;
  /** Stores bytes of any size and returns a reference to put into a value. `vis db prune` removes bytes that no value
   * refers to. */
  putBytes(bytes: Uint8Array | AsyncIterable<Uint8Array>): Promise<string>;
  /** Yields the bytes of a reference in pieces, each read on demand. Throws if the bytes are gone or damaged. */
  bytes(reference: string): AsyncIterable<Uint8Array<ArrayBuffer>>;
  /** Removes bytes. The caller makes sure that no value refers to the bytes. */
  dropBytes(reference: string): Promise<void>;
}

export interface NudgeContext {
  readonly environment: EnvironmentView;
  /** The number of iterations of the budget that the query has used. */
  readonly iteration: number;
  readonly currentMaxIterations: number;
  /** The blocks that ran last; null before the first block and after a restart. */
  readonly prevExpressions: readonly PrevExpression[] | null;
  /** The iteration of `prevExpressions`, 0-based; -1 if `prevExpressions` is null. */
  readonly prevIteration: number;
  readonly userVarCount: number;
}

/** Vis reads `result` on access. `result` is undefined if the block has no value, or a value that is not data. */
type PrevExpression =
  & Readonly<Record<"code" | "preview" | "stdout" | "stderr", string>>
  & Readonly<{ result: unknown; error?: string; executionTimeMs: number; timedOut: boolean; repaired: boolean }>;

export interface DoctorContext {
  readonly config: unknown;
  /** Runs a program in an empty folder, behind the command wall and without network; null if programs cannot run
   * here. */
  readonly spawn: Spawn | null;
  /** Runs a program in the workspace, as in a conversation. */
  readonly spawnInWorkspace: Spawn | null;
  readonly workspace: string;
  /** The same folder as `env.root`. */
  readonly root?: string;
  readonly home: string | null;
}

export interface WatchOptions {
  /** Whether to include everything in `root`, even outside the workspace. */
  readonly all?: boolean;
}

/** A line of `vis doctor`. Unless `state` is "ok", `fix` advises the user. */
export type DoctorCheck = Readonly<{ name: string; state: "ok" | "warn" | "fail"; found: string; fix: string }>;

/** A command such as `vis reindex DOCS --limit 5`. Required keys of `args` are positional, optional ones are flags. */
export interface CliCommand {
  readonly name: string;
  readonly doc: string;
  readonly args?: z.ZodObject;
  /** Returns the exit code, 0 by default. */
  // deno-lint-ignore no-explicit-any
  readonly run: (args: any, context: CliContext) => number | void | Promise<number | void>;
}

/** The context of an extension's command. */
export interface CliContext {
  print(text: string): void;
  /** Asks for a line. Rejects if no user can be asked, and if the user cancels. */
  ask(question: string): Promise<string>;
  readonly workspace: string;
  /** The same folder as `env.root`. */
  readonly root?: string;
  readonly home: string | null;
  readonly config: unknown;
  /** The extension's state for all conversations, or for the conversations of this workspace. */
  readonly store: OwnStore;
  /** Runs a program in the workspace, behind the command wall as in a conversation. The program ends with the command.
   * Absent in tests. */
  readonly spawn?: Spawn;
}

/** Names that every sandbox has, and reserved words. Aliases and modules must not use these names. */
export const TAKEN_NAMES: ReadonlySet<string> = new Set(
  ("answer conversationCode conversationHistory doc forget print printed requestMoreIterations restoreVar results shape " +
    "varDiff varHistory vars vis console globalThis undefined Infinity NaN Math JSON Intl Reflect Atomics crypto performance " +
    "await break case catch class const continue debugger default delete do else enum export extends false finally for " +
    "function if implements import in instanceof interface let new null package private protected public return static " +
    "super switch this throw true try typeof var void while with yield arguments eval").split(" "),
);
