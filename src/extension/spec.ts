import type { z } from "zod";
import type { JsonValue } from "../domain/kit/json.ts";
import type { Approval, ApprovalRequest } from "../domain/query/approval.ts";
import type { CallAction, CallOutcome } from "../domain/query/host_call.ts";
import type { WebFindings } from "../domain/query/model_call.ts";
import type { FoundState, StateEntry, StateVersion } from "../domain/records/extension_state.ts";
import type { HistoryReader } from "../domain/records/history.ts";
import type { NetworkScopes, ProgramWalls, Spawn, SpawnOptions } from "./spawn_types.ts";

/** docs/extend/spec.md explains every key. */
export interface Extension {
  /** The namespace is unique, and `requires` refers to it. A folder that the user names replaces an extension with the
   * same namespace. */
  readonly namespace: string;
  /** The alias is the prefix of all symbols, as in `search.find`. */
  readonly alias: { readonly ns: string; readonly alias: string };
  readonly doc: string;
  readonly group?: string;
  readonly subgroup?: string;
  readonly version: string;
  readonly author?: string;
  readonly license?: string;
  readonly requires?: readonly string[];
  /** Vis calls `activate` for each query. If the result, or the value of its promise, is falsy, Vis omits symbols,
   * prompt and nudge. */
  readonly activate?: (env: EnvironmentView) => unknown;
  /** The text tells the user how to switch a shipped extension on. The prompt contains it while the extension is
   * inactive, unless the settings exclude the extension. */
  readonly howToEnable?: string;
  readonly prompt?: string | ((env: EnvironmentView) => string | Promise<string>);
  /** The prompt shows the sample step and answer of the first active extension that has an example. */
  readonly example?: ReplyExample;
  readonly nudge?: (ctx: NudgeContext) => string | null | Promise<string | null>;
  /** `doc()` finds these topics besides functions. */
  readonly topics?: (env: EnvironmentView) => readonly Topic[] | Promise<readonly Topic[]>;
  /** The user sends such a request, for example a skill, as `/name words`. Vis calls `requests` to list requests, for
   * example when interactive mode starts, and to find a request. */
  readonly requests?: (place: RequestPlace) => readonly NamedRequest[] | Promise<readonly NamedRequest[]>;
  /** Vis calls `extend` for each query, before `activate`. The returned extensions, such as aliases from settings,
   * exist for this conversation. */
  readonly extend?: (env: EnvironmentView) => readonly Extension[] | Promise<readonly Extension[]>;
  /** The most used symbols come first. */
  readonly symbols?: readonly (FunctionSymbol | ValueSymbol)[];
  /** The prompt shows this many symbols in full, 12 by default, and only the names of the others. */
  readonly shown?: number;
  /** The realm gets these platform globals, such as "fetch". Each global needs a grant in `allow`, and each grant needs
   * a global. */
  readonly globals?: readonly string[];
  /** The realm gets these names, each from a self-contained file of the extension's folder, such as "./stats.ts". */
  readonly modules?: Readonly<Record<string, string>>;
  /** These grants apply to the sandbox itself. */
  readonly allow?: Partial<Readonly<Record<"net" | "read" | "write" | "env", readonly string[]>>>;
  /** The setting `enabled` has this default. The default is also true if `extensions.allow` names the extension, or if
   * the user names its folder. The locked profile loads no extension that has `onByDefault`. */
  readonly onByDefault?: boolean;
  /** The locked profile loads these parts for a read-only workspace: everything, or the listed functions with a prompt
   * that names no other functions. If absent, the profile loads no part of a shipped extension. */
  readonly readOnly?: true | Readonly<{ symbols: readonly string[]; prompt: NonNullable<Extension["prompt"]> }>;
  /** `env.config` is the extension's section in `extensions.config`, parsed by this schema. */
  readonly config?: z.ZodType;
  /** The section of a shipped extension has this shorter name, at the top of the settings file. */
  readonly section?: string;
  /** `env.watchFiles` of every extension calls the first `watchFiles` that Vis finds. */
  readonly watchFiles?: (env: EnvironmentView, options: WatchOptions) => FileWatcher;
  /** For each `@path` of a user's request, Vis asks the first `namedFile` that it finds. The text has at most `chars`
   * characters. Resolves with null or rejects if Vis attaches nothing. */
  readonly namedFile?: (
    env: EnvironmentView,
    path: string,
    options: { readonly chars: number },
  ) => Promise<NamedFile | null>;
  /** Vis calls `fileRead` for each file that a function of an extension reads for the model and reports by
   * `env.fileRead`. The path is relative to the workspace, or absolute in an added folder. */
  readonly fileRead?: (env: EnvironmentView, path: string) => void | Promise<void>;
  /** `vis` gets these commands. */
  readonly cli?: readonly CliCommand[];
  /** `vis doctor` calls `doctor`, even while the extension is off. */
  readonly doctor?: (context: DoctorContext) => readonly DoctorCheck[] | Promise<readonly DoctorCheck[]>;
}

/** The answer uses the variables of the block, whose time is an estimate. */
export type ReplyExample = Readonly<{ thinking: string; code: string; timeMs: number; answer: string }>;

/** An extension looks for requests in these folders. */
export interface RequestPlace {
  readonly workspace: string;
  /** The path is the top of the repository of the workspace, and can be the workspace. The key is absent if Vis opens no
   * repository there. */
  readonly root?: string;
  /** `home` is the folder of Vis for the tenant, or null if Vis has none. */
  readonly home: string | null;
  /** Without a tenant, the user runs Vis on the command line or in interactive mode. */
  readonly tenant?: string;
  /** Extensions must not read files that match these patterns. */
  readonly secrets: readonly string[];
}

export interface NamedRequest {
  /** The name has small letters, digits and dashes, and begins with a letter. Vis skips other names. */
  readonly name: string;
  readonly doc: string;
  /** The words after the name replace `$ARGUMENTS`, or follow the text. */
  readonly text: string;
}

/** `name` is the code that reads or calls the topic, and `doc` is one line about it. */
export interface Topic {
  readonly name: string;
  readonly doc: string;
}

export type FunctionSymbol = FunctionOptions & Readonly<{ kind: "function"; name: string; fn: HostFunction }>;
export type ValueSymbol = Readonly<{ kind: "value"; name: string; value: unknown; doc: string }>;

export interface FunctionOptions {
  readonly doc: string;
  /** The schema is a zod tuple, which Vis uses for validation before the call and for the signature.
   * `.describe("path")` names an item. */
  readonly args: z.ZodType;
  /** The value of the promise has this TypeScript type. */
  readonly returns: string;
  /** Without examples, Vis makes an example from the argument list. */
  readonly examples?: readonly string[];
  /** The function replaces these functions and modules of other tools and runtimes. Errors about these names show the
   * call of the function. */
  readonly insteadOf?: readonly string[];
  /** If true, the prompt names the function only if `prompt` itself names it. A function decides for each query, for
   * example for a query that would refuse the call. */
  readonly unlisted?: boolean | ((env: EnvironmentView) => boolean);
  /** Errors about the names of `insteadOf` show this call; without `usage`, Vis makes a call from the argument list. */
  readonly usage?: string;
  /** Results of the function lack these names of similar tools, each with its replacement: `{exitCode: "code"}`.
   * Reading such a name from an object of a result, or of a list of objects, throws. "commits.sha" belongs to the
   * objects in `commits`. */
  readonly misnamed?: Readonly<Record<string, string>>;
  /** If true, the function has its own time limit and does not count against the block's time. */
  readonly untimed?: boolean;
  /** If true, a call makes no lasting change, so a plan may make the call. A function decides by the arguments of the
   * call. The default is true if `readOnly` loads the function. */
  // deno-lint-ignore no-explicit-any
  readonly reads?: boolean | ((...args: any[]) => boolean);
  /** If true, a plan may make calls that do not only read, because the function changes nothing if `env.onlyReads` is
   * true. */
  readonly inPlans?: boolean;
  /** People see these words for a call, or "called search.find" without them. A function chooses the words by the
   * arguments of the call. */
  // deno-lint-ignore no-explicit-any
  readonly action?: CallAction | ((...args: any[]) => CallAction);
  /** The text tells people the outcome of a call in a few words: "12 passed". With `ok: false`, Vis shows the call as
   * failed, with the failures in `output` and its end. `args` are the model's arguments. */
  // deno-lint-ignore no-explicit-any
  readonly outcome?: (result: any, args: readonly unknown[]) => string | CallOutcome;
  /** If true, the lines below an answer name a call that threw, until a later call of the function succeeds. */
  readonly tellsFailure?: boolean;
  /** A call that needs much memory waits until this number of bytes is available. */
  readonly room?: number | ((...args: readonly unknown[]) => number);
  readonly before?: Before;
  readonly after?: After;
  readonly onError?: OnError;
}

/** The call's environment precedes the model's arguments. If the function throws, the model sees the message. */
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

/** Extensions see this read-only object, which docs/extend/environment.md describes. An optional key is absent if Vis
 * runs without the part behind the key, as in a test. */
export type EnvironmentView = ConversationKeys & QueryKeys;

/** These keys exist for the whole life of an environment, but most are absent in `vis extensions check`. `router`,
 * `varIndex`, `extensions` and `customBindings` are snapshots. */
export interface ConversationKeys {
  readonly envId: string;
  readonly conversationId: string;
  readonly branchId: string;
  /** `env` reaches no tenant except the tenant of the conversation. */
  readonly tenant?: string;
  /** The depth counts the queries around this query: 0 for a request of the user. */
  readonly depth: number;
  /** The path is absolute, and its symbolic links are resolved. */
  readonly workspace: string;
  /** The path is the real top of the repository around the workspace, which extensions may read. The key is absent if
   * the workspace is the top, or if Vis opens no repository above it. */
  readonly root?: string;
  /** If true, the user allowed changes in all of `root` when Vis started. */
  readonly isRootOpen?: boolean;
  /** Extensions may also read these real folders, and change files there after the user approves it. The key is absent
   * if the user cannot add folders, as in the locked profile. */
  readonly readFolders?: readonly string[];
  /** The reader has stored conversations and the log. */
  readonly db?: HistoryReader;
  /** Extensions with another namespace cannot reach this store. */
  readonly store?: OwnStore;
  readonly router?: RouterFacts;
  /** The realm has these names before the first block. */
  readonly initialNames?: ReadonlySet<string>;
  readonly varIndex?: VarIndexFacts;
  /** The extensions are in install order. */
  readonly extensions?: readonly { readonly namespace: string; readonly version: string; readonly active: boolean }[];
  /** Extensions have bound these live variables, newest first. */
  readonly customBindings?: readonly CustomBinding[];
  /** The default limit is 1 MiB in codec bytes. Rejects if no variable in scope has this name, if the value is larger
   * than the limit, and if it is not data. */
  readonly readVar?: (name: string, options?: { readonly maxBytes?: number }) => Promise<unknown>;
  /** The sandbox gets the data immediately; the database stores the data with the current iteration or the next
   * iteration. */
  readonly bindVar?: (name: string, value: unknown) => Promise<void>;
  /** The next model call gets a new index. `bindVar` rebuilds the index automatically. */
  readonly bumpVarIndex?: () => void;
  /** A tenant has its own folder. The value is null if Vis has no folder. */
  readonly home?: string | null;
  /** The signal aborts when the conversation is closed. `log` writes a line of at most 2,000 characters to Vis's
   * log. */
  readonly closed?: AbortSignal;
  readonly log?: (text: string) => void;
  /** The extension's `config` has parsed this section of the settings. */
  readonly config?: unknown;
  /** `register` adds an extension to this conversation only, from the next query on. `load` takes the path of a folder,
   * or returns a loaded extension by its namespace. */
  readonly register?: (extension: Extension) => void;
  readonly load?: (ref: string) => Promise<Extension>;
  /** The program runs behind the command wall. By default, it ends with the call, outside a call with the query, and
   * outside a query with the conversation. */
  readonly spawn?: Spawn;
  /** Rejects with the reason if no program can run, or if no program may have these paths. */
  readonly programWalls?: (paths?: Pick<SpawnOptions, "write" | "cwd">) => Promise<ProgramWalls>;
  /** A lasting approval of a program's network covers these scopes, in the words of an approval. `never` is the reason
   * against a lasting approval. */
  readonly networkScopes?: (argv: readonly string[], options: SpawnOptions) => Promise<NetworkScopes>;
  /** Files that match these patterns may hold keys (`isSecretFile`). Reading such a file needs the user's approval. */
  readonly secrets?: readonly string[];
  /** Git or Vis would later run these paths or read them as settings. Paths have no links, and are relative to the
   * workspace or absolute in an added folder. Changing such a file needs the user's approval. The result may lack paths
   * below `.git` and `.vis`, so the extension refuses each change there. */
  readonly obeyedPaths?: (paths: readonly string[]) => Promise<readonly ObeyedPath[]>;
  /** If true, the conversation is closed after this query, as for `vis run` and sub-queries. */
  readonly endsWithQuery?: boolean;
}

/** These keys are absent while no query runs. */
export interface QueryKeys {
  /** If true, the query must change nothing, as for a plan, a review or a side question. */
  readonly onlyReads?: boolean;
  /** The signal aborts at the block's deadline or when the query ends. */
  readonly signal?: AbortSignal;
  readonly maxIterations?: number;
  /** The query may run sub-queries up to this depth, and none if its own `depth` is at least this. */
  readonly maxDepth?: number;
  /** This iteration runs, or ran last in the query. The value is null before the first iteration. */
  readonly currentIterationId?: string | null;
  /** In a sub-query, this id belongs to the query of the user. */
  readonly userQueryId?: string;
  /** Only sub-queries have this id of the iteration that started the sub-query. */
  readonly parentIterationId?: string;
  /** A plain model call counts against the query's limits. Rejects if the call fails. Calls and hooks have this key. */
  readonly ask?: (prompt: string, options?: { readonly model?: string; readonly system?: string }) => Promise<string>;
  /** The service of the model searches the web and sums up the found pages, in one call that counts against the query's
   * limits. Rejects if the call fails, and if no service searches (`router.search`). Calls and hooks have this key. */
  readonly searchWeb?: (query: string) => Promise<WebFindings>;
  /** The user allows the action once, for the conversation or for the workspace, or refuses it. Resolves at once if a
   * lasting approval allows the action, and with a refusal if Vis can ask no user. Time limits pause meanwhile. With
   * `isQuiet`, only lasting approvals count. Calls of `untimed` functions have this key. */
  readonly approve?: (request: ApprovalRequest, options?: { readonly isQuiet?: boolean }) => Promise<Approval>;
  /** Vis asks the user, like `approve`, whether it may change all of `root`. The answer applies to every extension.
   * `what` names the purpose; with null, Vis asks no user. Calls of `untimed` functions have this key if there is a
   * `root`. */
  readonly openRoot?: (
    what: string | null,
    shown?: Pick<ApprovalRequest, "exact" | "change">,
  ) => Promise<Approval>;
  /** The next message for the model contains the note once, besides the result of a call. Calls have this key. */
  readonly note?: (text: string) => void;
  /** The query learns, from a unified diff, that the call changed a file. Vis keeps no former file for `undo`,
   * unless `watchFiles` reports the change. Calls have this key. */
  readonly changedFile?: (diff: string) => void;
  /** Users who watch the call see the last lines of this output. Vis stores the lines only if the call is cancelled, or
   * ends with its block. Calls have this key. */
  readonly showOutput?: (bytes: Uint8Array<ArrayBuffer>) => void;
  /** Extensions learn that the call reads a file. The path is relative to the workspace, or absolute in an added
   * folder. Calls have this key. */
  readonly fileRead?: (path: string) => Promise<void>;
  /** The watcher finds the files that a program may change in the workspace. Returns null if no extension can watch.
   * Calls have this key. */
  readonly watchFiles?: (options?: WatchOptions) => FileWatcher | null;
  /** The user sees the text next to the answer, once. `extend`, `topics` and `namedFile` do not have this key. */
  readonly warn?: (text: string) => void;
  /** Returns the first fault of a JSON, JavaScript or TypeScript file. Returns null if the text parses, for other
   * files, for texts of more than 1 Mi characters, and if the parser fails. Calls have this key. */
  readonly sourceFault?: (path: string, text: string) => Promise<SourceFault | null>;
  /** The query runs inside this query, with its own sandbox and copies of `vars`. Rejects if the query cannot start.
   * Calls and hooks have this key. */
  readonly runChild?: (task: string, options?: ChildOptions) => Promise<ChildResult>;
}

/** If several programs run at once, the first report has the changes of all of them so far. */
export interface FileWatcher {
  /** The caller calls `begin` before a program begins, and the returned function when the program has ended. */
  begin(): Promise<() => void>;
  /** Returns the changes since the last report or, if no program ran at that time, since the next program began. The
   * query also learns about these changes. Returns null without changes. Vis keeps former files for `undo`, except those
   * that `notUndoable` counts. With `only`, the report omits changes of other paths, unless another program runs. */
  report(only?: ReadonlySet<string>): Promise<FileChanges | null>;
  /** Returns each change that the user has undone or reapplied since `since`, once, if the query had made the change.
   * `since` is in milliseconds since the epoch. */
  undone?(since: number): Promise<readonly UndoneChange[]>;
}

/** The diff shows the undo, or with `redo` the reapplied change. It is "" if Vis no longer has the contents. */
export type UndoneChange = Readonly<{ path: string; diff: string; redo: boolean }>;

/** The changes cover files, links and empty folders, without entries that ignore rules such as `.gitignore` exclude.
 * The lists are bounded, and `files` is the full number of changes. */
export interface FileChanges {
  readonly files: number;
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  /** `undo` cannot revert this number of changes; the key is absent if `undo` can revert all changes. */
  readonly notUndoable?: number;
}

/** `reason` completes "which": "git runs by the setting core.hooksPath". `running` names a command that could change
 * the path after its replacement, or is null. */
export type ObeyedPath = Readonly<{ path: string; reason: string; running: string | null }>;
/** `line` counts from 1. */
export type SourceFault = Readonly<{ line: number; message: string }>;
export type ChildOptions = Readonly<{ vars?: readonly string[]; model?: string; maxIterations?: number }>;
export type ChildResult = Readonly<Record<"status" | "reason" | "answer", string>>;

export interface RouterFacts {
  readonly providers: readonly { readonly name: string; readonly models: readonly string[] }[];
  /** This route serves the query unless it fails. */
  readonly root: { readonly provider: string; readonly model: string };
  /** This route searches the web. The value is null if Vis knows no search of the services. */
  readonly search: { readonly provider: string; readonly model: string } | null;
}

interface VarIndexFacts {
  /** The model last received this index. The value is "" before the first index. */
  readonly index: string;
  /** The revisions of `index` and of the variables differ when the index is stale. */
  readonly revision: number;
  readonly currentRevision: number;
}

export interface CustomBinding {
  readonly name: string;
  /** The extension with this namespace bound the variable. */
  readonly by: string;
  readonly preview: string;
}

/** `workspace` is the real path of another workspace than the conversation's. */
type Scoped = Readonly<{ scope?: "conversation" | "workspace" | "global"; workspace?: string }>;

/** `env.store` holds JSON under keys of up to 200 characters, by default for this conversation. Each change creates a
 * version, and Vis keeps at least the last 1000 versions of a key. A value has at most 1 Mi characters of JSON, and a
 * scope at most 10,000 keys, including the deleted keys of a conversation. A fork sees the state of its conversation
 * at the point of the fork. A command has no conversation, so it names another scope. Rejects with TypeError if the
 * value is not JSON, and with an error that names an exceeded limit. */
export interface OwnStore {
  /** A value with the same JSON text, also in the order of its keys, creates no version. With `ifVersion`, `put` rejects
   * if another version is the newest; 0 means that the key must not exist. */
  put(key: string, value: JsonValue, options?: Scoped & { readonly ifVersion?: number }): Promise<{ version: number }>;
  /** Returns undefined if the key does not exist. */
  get(key: string, options?: Scoped & { readonly version?: number }): Promise<JsonValue | undefined>;
  /** Returns up to `limit` versions (by default 100), newest first. A version without a value is a deletion. */
  history(key: string, options?: Scoped & { readonly limit?: number }): Promise<readonly StateVersion[]>;
  /** Returns keys with their newest versions, sorted by key; the default limit is 100. */
  list(
    options?: Scoped & { readonly prefix?: string; readonly limit?: number },
  ): Promise<readonly StateEntry[]>;
  /** Returns newest values of all conversations and of the global scope, most recently changed first; the default limit
   * is 100. With `scope: "workspace"`, `query` returns the values of the workspace. `where` matches values at a path:
   * `{"job.state": "open"}`. */
  query(options?: {
    readonly scope?: "workspace";
    readonly workspace?: string;
    readonly conversationId?: string | null;
    readonly prefix?: string;
    readonly where?: Readonly<Record<string, string | number | boolean | null>>;
    /** The time is in milliseconds since the epoch. */
    readonly since?: number;
    readonly limit?: number;
  }): Promise<readonly FoundState[]>;
  /** Returns false if the key did not exist. Only a conversation keeps the versions of a deleted
   * key. Elsewhere, the next version of this key is 1, so an older `ifVersion` can fit again. */
  delete(key: string, options?: Scoped): Promise<boolean>;
  /** The bytes may have any size, and the returned reference goes into a value. `vis db prune` removes bytes that no
   * value refers to, and an export of a conversation omits the bytes. */
  putBytes(bytes: Uint8Array | AsyncIterable<Uint8Array>): Promise<string>;
  /** The store reads each piece on demand. Throws if the bytes are removed, damaged or not imported. */
  bytes(reference: string): AsyncIterable<Uint8Array<ArrayBuffer>>;
  /** The caller makes sure that no value refers to the bytes. */
  dropBytes(reference: string): Promise<void>;
}

export interface NudgeContext {
  readonly environment: EnvironmentView;
  /** The query has used this number of iterations of its budget. */
  readonly iteration: number;
  readonly currentMaxIterations: number;
  /** These blocks ran last. The value is null before the first block and after a restart. */
  readonly prevExpressions: readonly PrevExpression[] | null;
  /** The iteration counts from 0, and is -1 if `prevExpressions` is null. */
  readonly prevIteration: number;
  readonly userVarCount: number;
}

/** Vis reads `result` on access. `result` is undefined if the block has no value, or a value that is not data. */
type PrevExpression =
  & Readonly<Record<"code" | "preview" | "stdout" | "stderr", string>>
  & Readonly<{ result: unknown; error?: string; executionTimeMs: number; timedOut: boolean; repaired: boolean }>;

export interface DoctorContext {
  readonly config: unknown;
  /** The program runs in an empty folder, behind the command wall and without network. The value is null if programs
   * cannot run here. */
  readonly spawn: Spawn | null;
  /** The program runs in the workspace, as in a conversation. */
  readonly spawnInWorkspace: Spawn | null;
  readonly workspace: string;
  /** The folder is the same as `env.root`. */
  readonly root?: string;
  readonly home: string | null;
  /** The models are absent if the settings make model calls impossible. */
  readonly router?: RouterFacts;
}

export interface NamedFile {
  /** The path is relative to the workspace, or absolute in an added folder. */
  readonly path: string;
  /** A phrase tells the size, and how the model reads the rest. */
  readonly about: string;
  /** `text` is null if the request gets only `about`. */
  readonly text: string | null;
}

export interface WatchOptions {
  /** If true, the watch includes all of `root`, even outside the workspace. */
  readonly all?: boolean;
  /** If true, the program is a hook of the user, so an undo of the last call also reverts the hook's changes. */
  readonly isHook?: boolean;
  /** If true, the program runs beside other calls. The differences before another program begins then count as changes of
   * the user. */
  readonly isBackground?: boolean;
  /** If true, the program may commit its own changes. An undo without `force` keeps committed changes. */
  readonly commits?: boolean;
}

/** Unless `state` is "ok", `fix` advises the user. */
export type DoctorCheck = Readonly<{ name: string; state: "ok" | "warn" | "fail"; found: string; fix: string }>;

/** An example is `vis reindex DOCS --limit 5`. Required keys of `args` are positional, and optional keys are flags. */
export interface CliCommand {
  readonly name: string;
  readonly doc: string;
  readonly args?: z.ZodObject;
  /** Returns the exit code; the default is 0. */
  // deno-lint-ignore no-explicit-any
  readonly run: (args: any, context: CliContext) => number | void | Promise<number | void>;
}

export interface CliContext {
  print(text: string): void;
  /** Rejects if Vis can ask no user, and if the user cancels. */
  ask(question: string): Promise<string>;
  readonly workspace: string;
  /** The folder is the same as `env.root`. */
  readonly root?: string;
  readonly home: string | null;
  /** Files that match these patterns may hold keys. */
  readonly secrets?: readonly string[];
  readonly config: unknown;
  /** The store has the extension's state for all conversations, or for the conversations of this workspace. */
  readonly store: OwnStore;
  /** The program runs in the workspace, behind the command wall as in a conversation, and ends with the command. Tests
   * and the locked profile have no `spawn`. */
  readonly spawn?: Spawn;
}

/** Every sandbox has these names, or the language reserves them, so aliases and modules must not use them. */
export const TAKEN_NAMES: ReadonlySet<string> = new Set(
  ("answer conversationCode conversationHistory doc forget print printed requestMoreIterations restoreVar results shape " +
    "varDiff varHistory vars vis console globalThis undefined Infinity NaN Math JSON Intl Reflect Atomics crypto performance " +
    "await break case catch class const continue debugger default delete do else enum export extends false finally for " +
    "function if implements import in instanceof interface let new null package private protected public return static " +
    "super switch this throw true try typeof var void while with yield arguments eval").split(" "),
);
