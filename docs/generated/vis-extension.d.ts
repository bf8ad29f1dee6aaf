// Types of @vis/extension, written by scripts/generate/extension_types.ts. Sources: e21e5ccdd53377ea56d62b0f0a3f20b516a8e78685fd011b476d3768b71f0573
import { z } from 'zod';

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | {
  readonly [key: string]: JsonValue;
};
/** Untrusted JSON needs limits: many values take a multiple of the memory of their text, and deep nesting overflows the
 * stack of recursive functions. */
export interface JsonLimits {
  readonly values: number;
  readonly depth: number;
}
/** `what` names the exceeded limit. */
export declare class JsonTooLarge extends RangeError {
  readonly limit: "values" | "depth";
  readonly what: string;
  readonly name = "JsonTooLarge";
  constructor(limit: "values" | "depth", what: string);
}
/** Counts the values and levels of JSON that arrives in pieces, before a parser builds them. Accepts invalid JSON. */
export declare class JsonMeter {
  #private;
  constructor(limits?: JsonLimits);
  restart(): void;
  /** Throws `JsonTooLarge` above a limit. */
  push(text: string): void;
}
/** Throws `JsonTooLarge` before it builds a value, and the SyntaxError of `JSON.parse`. */
export declare function readForeignJson(text: string, limits?: JsonLimits): unknown;
/** Returns `read`, the parsed text, with a BigInt for each integer that a number cannot hold. */
export declare function exactJson(text: string, read: unknown): unknown;
export interface ApprovalRequest {
  /** `what` follows "Allow Vis to", such as "run npm ci with network". */
  readonly what: string;
  /** `why` is the reason for the question; "" if `what` suffices. */
  readonly why: string;
  /** `scope` is the permission of a lasting approval, such as "network for commands". */
  readonly scope: string;
  /** A lasting approval keeps one rule for each of these names, or for `scope` if they are absent. If each name has a
   * rule, Vis allows the call without a question. */
  readonly scopes?: readonly string[] | undefined;
  /** If false, the user can allow the call only once. The default is true. */
  readonly lasting?: boolean | undefined;
  /** With "request", a yes for once allows the action until the request ends instead of for one call. */
  readonly once?: "request" | undefined;
}
export interface Approval {
  readonly allowed: boolean;
  /** `reason` tells the model why Vis or the user refused the call; "" for an allowed call. */
  readonly reason: string;
  readonly byUser?: boolean;
}
/** Omits the path of a program, unless two names differ only in that path. */
export declare function plainScopes(scopes: readonly string[]): readonly string[];
export interface CallOutcome {
  /** A few words for readers, such as "12 passed" or "exit code 1", describe the outcome. */
  readonly text: string;
  /** False means that the call failed in its purpose. The default is true. */
  readonly ok?: boolean;
  /** If true, the call failed because the user refused it. */
  readonly refusedByUser?: boolean;
  /** If the call failed, Vis shows the lines of this output that name a failure, and the last lines. */
  readonly output?: string | readonly string[];
  /** The hint tells people and the model how the failed call could succeed. */
  readonly hint?: string;
  /** The model finds the whole of a long output in this variable. */
  readonly kept?: string;
  /** The call ran a command with this exit code; null if the command has none. */
  readonly exitCode?: number | null;
  /** `subject` names the object of the call if the arguments do not. */
  readonly subject?: string;
  /** If true, a later call must finish the work, such as a merge with conflicts. False means that the call finishes
   * such work of its namespace. */
  readonly unfinished?: boolean;
}
/** Channels show people these words, such as "reading src/app.ts" and "read 3 files". */
export interface CallAction {
  /** `doing` is a verb for a running call, such as "reading". */
  readonly doing: string;
  /** `done` is a verb for an ended call, such as "read". */
  readonly done: string;
  /** `things` is the unit in which channels count calls, such as "files". */
  readonly things: string;
  /** This number of first arguments names the object of the call. The default is 1. */
  readonly named?: number;
}
export interface StateVersion {
  /** The number is 1-based, and increases with each change, deletions included. */
  readonly version: number;
  readonly value: JsonValue | undefined;
  /** The time is in milliseconds since the epoch. */
  readonly at: number;
}
export interface StateEntry {
  readonly key: string;
  readonly version: number;
  readonly at: number;
}
export interface FoundState extends StateEntry {
  readonly value: JsonValue;
  /** The id is null for global state. */
  readonly conversationId: string | null;
}
export interface SentMessage {
  readonly role: "system" | "user";
  readonly text: string;
}
/** The blocks that define `name` have read `reads`. */
export interface Dependency {
  readonly name: string;
  readonly reads: string;
}
export interface PastConversation {
  readonly id: string;
  readonly title: string;
  readonly workspace: string;
  readonly queries: number;
  readonly createdAt: number;
}
export interface PastQuery {
  readonly id: string;
  readonly request: string;
  readonly status: string;
  readonly answer: string;
  readonly iterations: number;
  readonly createdAt: number;
}
export interface PastIteration {
  readonly id: string;
  /** The number is 1-based. */
  readonly number: number;
  readonly status: string;
  readonly thinking: string;
  readonly modelMs: number;
  readonly blocks: readonly {
    readonly ms: number;
    readonly code: string;
    readonly ok: boolean;
    readonly result: string;
    readonly stdout: string;
    readonly error: string | null;
  }[];
}
export interface PastVariable {
  readonly name: string;
  readonly kind: string;
  readonly type: string;
  readonly versions: number;
  readonly summary: string;
  readonly createdAt: number;
}
export interface PastVersion {
  /** The version is 1-based. */
  readonly version: number;
  readonly type: string;
  readonly summary: string;
  /** The block with this code made the version. */
  readonly code: string;
  readonly createdAt: number;
}
/** A conversation or branch is named by its id, or by the first 8 or more characters of the id. Methods reject with
 * `UsageError` for an unknown one. The id of a conversation names its last used branch, or the running branch in the
 * running conversation. */
export interface HistoryReader {
  search(text: string, filter: SearchFilter): Promise<readonly SearchHit[]>;
  /** The conversation with the newest query comes first. */
  conversations(options: {
    readonly limit: number;
  }): Promise<readonly PastConversation[]>;
  /** The oldest query comes first. With `newest`, the call takes no longer in a long conversation. */
  queries(conversationId: string, options?: NewestQueries): Promise<readonly PastQuery[]>;
  iterations(queryId: string): Promise<readonly PastIteration[]>;
  /** Returns the messages of the model call of an iteration (1-based), or null without such an iteration. */
  sent(queryId: string, iteration: number): Promise<readonly SentMessage[] | null>;
  /** The most recently defined variable comes first. */
  variables(conversationId: string): Promise<readonly PastVariable[]>;
  /** The oldest version comes first. Returns an empty list for an unknown variable. */
  versions(conversationId: string, name: string): Promise<readonly PastVersion[]>;
  /** A pair names a variable and a variable that a block read to make it. */
  dependencies(conversationId: string): Promise<readonly Dependency[]>;
  /** Returns the newest `limit` entries of Vis's log, oldest first. */
  logs(filter: LogFilter): Promise<readonly LogRow[]>;
  /** `version` is 1-based; the default is the newest. Returns a function or class as its source, and null for a value
   * that Vis could not keep. Rejects with `UsageError` for an unknown version. */
  variable(conversationId: string, options: {
    readonly name: string;
    readonly version?: number | undefined;
  }): Promise<unknown>;
}
export interface NewestQueries {
  /** Without it, the list has all queries. */
  readonly newest?: number | undefined;
}
export type SearchKind = "request" | "code" | "answer";
export interface SearchFilter {
  readonly limit: number;
  readonly conversationId?: string | undefined;
  /** With a branch, the search covers the queries that it shows: its own, and queries of its ancestors up to the
   * forks. */
  readonly branchId?: string | undefined;
  readonly kind?: SearchKind | undefined;
  /** The times are in milliseconds since the epoch. `since` is inclusive, and `until` is exclusive. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}
/** A hit contains all searched words. */
export interface SearchHit {
  readonly kind: SearchKind;
  /** In the text around the words, `[` and `]` mark the words. */
  readonly snippet: string;
  readonly conversationId: string;
  readonly branchId: string;
  readonly title: string;
  readonly queryId: string;
  /** For code, these fields are the iteration and its 0-based position. */
  readonly iterationId: string | null;
  readonly position: number | null;
  /** The name belongs to a function or class. */
  readonly variable: string | null;
  readonly at: number;
  readonly ownerTable: string;
  readonly ownerId: string;
  readonly field: string;
}
export interface LogFilter {
  /** The list has at most this many rows: the newest or, with `after`, the oldest. */
  readonly limit: number;
  /** The list has entries of this level and of more severe levels. */
  readonly level?: LogEntry["level"] | undefined;
  readonly conversationId?: string | undefined;
  readonly queryId?: string | undefined;
  readonly since?: number | undefined;
  /** The list has rows after the row with this number. */
  readonly after?: number | undefined;
}
export interface LogRow extends LogEntry {
  readonly seq: number;
  readonly at: number;
}
declare const LOG_LEVELS: readonly [
  "trace",
  "debug",
  "info",
  "warn",
  "error",
  "fatal"
];
export interface LogEntry {
  readonly level: typeof LOG_LEVELS[number];
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly conversationId?: string;
  readonly queryId?: string;
  readonly iterationId?: string;
  /** The 0-based block is within the iteration. An entry cannot refer to a block that is not stored yet. */
  readonly block?: number;
  /** The time is in milliseconds since the epoch. The default is the time at which the store gets the entry. */
  readonly at?: number;
}
/** Options of `env.spawn`. */
export interface SpawnOptions {
  /** The top of the repository around the workspace, all of which the program may read. Vis sets `root`. */
  readonly root?: string;
  /** The folder in which the program starts, relative to the workspace, and inside the workspace or `root`; by default
   * the workspace. Null means the temporary home folder of the program. PATH and the variables of toolchains then omit
   * folders of the workspace. */
  readonly cwd?: string | null;
  /** Environment variables of the program. The program also gets PATH, HOME, TMPDIR, the locale, TZ and variables of
   * toolchains. */
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input; empty if absent. A stream is read as fast as the program consumes it. The input ends with the
   * stream. */
  readonly input?: string | ReadableStream<Uint8Array<ArrayBuffer>>;
  /** The time limit; 120 000 if absent. When the program ends, Vis ends all processes that the program started. */
  readonly timeoutMs?: number;
  /** The limit of each of the two outputs, whose beginning and end are kept; 1 MiB if absent. */
  readonly maxBytes?: number;
  /** Whether to decode a complete output that is not UTF-8 by its byte order mark or by a guess. A note of the result
   * names the encoding. In other outputs, bytes that are not UTF-8 become U+FFFD. */
  readonly guessEncoding?: boolean;
  /** Ends the program like the time limit. `spawn` then rejects with the reason. */
  readonly signal?: AbortSignal;
  /** Sends SIGTERM, and kills the program two seconds later. `spawn` then resolves with the result of the program. */
  readonly stop?: AbortSignal;
  /** Receives output as it arrives, in addition to the output that the result keeps. Must not throw. The callee owns
   * the bytes. */
  readonly onOutput?: (output: "stdout" | "stderr", bytes: Uint8Array<ArrayBuffer>) => void;
  /** Takes the lines of standard error that begin with this token, without the token. The output does not contain these
   * lines. A line of more than 64 KiB stays in the output. */
  readonly asides?: {
    readonly token: string;
    readonly hear: (line: string) => void;
  };
  /** By default "call": the program ends with the call. With "conversation", the program runs until the conversation is
   * closed. */
  readonly lifetime?: "call" | "conversation";
  /** A title for the user, shown if the program ends with a run that lasts for one request only. */
  readonly title?: string;
  /** Absolute paths that the program may change, instead of the workspace. The program may always change its temporary
   * folder. Repositories and their `.vis` stay unchanged, except paths named here: `.git`, or paths in it. */
  readonly write?: readonly string[];
  /** Absolute paths that the program must not change even inside the paths of `write`. */
  readonly keep?: readonly string[];
  /** Whether the program brings files into the workspace. Other programs that can change files there then pause. Vis
   * ends a program that could then change files that git or Vis run or read as settings, and a note of the result reports it. */
  readonly pauses?: boolean;
  /** Absolute paths that the program may read and execute, in addition to the usual ones. */
  readonly read?: readonly string[];
  /** Whether the program has TCP and UDP to any address, or no network; overrides the setting for commands. */
  readonly network?: boolean;
  /** Hides the secret files of the workspace, except these paths relative to it. The program reads `instead` in place
   * of each file. Hiding works only if the program can have its own file system. */
  readonly hideSecrets?: {
    readonly except: readonly string[];
    readonly instead: string;
  };
  /** Whether the user has already allowed this program, in the settings or in an approval of the extension. Only
   * shipped extensions may set this option. The option matters only if the wall is incomplete. */
  readonly answered?: boolean;
  /** Whether to reject, without a question, instead of running the program behind an incomplete wall. */
  readonly whole?: boolean;
  /** Vis calls this when the program begins, after any approval. */
  readonly onBegin?: () => void;
  /** Programs without network access and with the same text here share a network with only a loopback, if the machine
   * supports it. Null means a network that no other program shares, without unix sockets. */
  readonly loopback?: string | null;
}
/** The result of a program, even if the program failed. `spawn` rejects only if no program ran. */
export interface Spawned {
  /** The exit code. After a signal, 128 plus the number of the signal. */
  readonly code: number;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
  readonly timedOut: boolean;
  /** Whether an output was longer than `maxBytes`. */
  readonly truncated: boolean;
  /** Sentences about actions of Vis, such as ended leftover processes or a guessed encoding. */
  readonly notes: readonly string[];
  /** Files that git runs or reads as settings after the program, but did not before. The field is set only for a program that could
   * change the repository. */
  readonly obeyed?: readonly string[];
  /** Folders below the repository of the workspace that became repositories while the program ran. `git add -A` would
   * add these repositories. */
  readonly repositories?: readonly string[];
}
/** The scopes of a program's network that a lasting approval covers, and the files of the workspace that the program
 * runs. `never` is the reason why Vis asks the user every time. */
export type NetworkScopes = {
  readonly scopes: readonly string[];
  readonly runs: readonly string[];
} | {
  readonly never: string;
};
/** The walls around programs of this run, and the access that they leave. */
export interface ProgramWalls {
  readonly network: boolean;
  /** Whether every part of the wall works: namespaces, a read-only repository, Landlock, a filter of system calls. */
  readonly whole: boolean;
  /** Why the wall is incomplete; "" if it is complete. */
  readonly reason: string;
  /** Whether programs without network access can have their own loopback. */
  readonly loopback: boolean;
  /** Whether programs can have unix sockets in their folders. */
  readonly unix: boolean;
  /** Whether secret files of the workspace can be hidden from programs. */
  readonly hides: boolean;
  /** Folders of PATH that programs cannot read. The PATH of programs therefore omits these folders. */
  readonly leftOut: readonly string[];
  /** Absent if the wall is complete. With `some`, programs run behind the available parts of the wall. */
  readonly unwalled?: {
    readonly mode: "ask" | "run";
    readonly reason: string;
    readonly some: boolean;
  };
}
/** Runs a program behind the command wall. If the wall is incomplete, Vis asks the user first, unless a setting
 * decides. Rejects if the program may not run. */
export type Spawn = (argv: readonly string[], options?: SpawnOptions) => Promise<Spawned>;
/** A bundle of functions, constants, prompt and nudge. docs/extend/spec.md explains every key. */
export interface Extension {
  /** A unique name, used for replacement and by `requires`. */
  readonly namespace: string;
  /** The prefix of all symbols, as in `search.find`. */
  readonly alias: {
    readonly ns: string;
    readonly alias: string;
  };
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
  readonly readOnly?: true | Readonly<{
    symbols: readonly string[];
    prompt: NonNullable<Extension["prompt"]>;
  }>;
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
export type ReplyExample = Readonly<{
  thinking: string;
  code: string;
  timeMs: number;
  answer: string;
}>;
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
export type FunctionSymbol = FunctionOptions & Readonly<{
  kind: "function";
  name: string;
  fn: HostFunction;
}>;
export type ValueSymbol = Readonly<{
  kind: "value";
  name: string;
  value: unknown;
  doc: string;
}>;
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
  readonly reads?: boolean | ((...args: any[]) => boolean);
  /** Whether a plan may also make other calls, because the function changes nothing if `env.onlyReads` is true. */
  readonly inPlans?: boolean;
  /** The words for a call that people see; "called search.find" if absent. A function chooses the words by the arguments
   * of the call. */
  readonly action?: CallAction | ((...args: any[]) => CallAction);
  /** Returns the outcome of a call in a few words for people, from its result: "12 passed". With `ok: false` instead of
   * a plain text, the call is shown as failed, with the end of `output`. */
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
export type HostFunction = (env: EnvironmentView, ...args: any[]) => unknown;
export type Call = {
  readonly env: EnvironmentView;
  readonly fn: HostFunction;
  readonly args: readonly unknown[];
};
export type Changes = Partial<Call> & {
  readonly result?: unknown;
  readonly error?: unknown;
};
export type Before = (input: Call) => Changes | Promise<unknown>;
export type After = (input: Call & {
  readonly result: unknown;
}) => Changes | Promise<unknown>;
export type OnError = (input: Call & {
  readonly error: unknown;
}) => Changes | Promise<unknown>;
export declare function fn(name: string, run: HostFunction, options: FunctionOptions): FunctionSymbol;
export declare function value(name: string, constant: unknown, options: {
  readonly doc: string;
}): ValueSymbol;
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
  readonly extensions?: readonly {
    readonly namespace: string;
    readonly version: string;
    readonly active: boolean;
  }[];
  /** Live variables that extensions have bound, newest first. */
  readonly customBindings?: readonly CustomBinding[];
  /** Reads the value of a variable, by default up to 1 MiB in codec bytes. Rejects if the value is not data. */
  readonly readVar?: (name: string, options?: {
    readonly maxBytes?: number;
  }) => Promise<unknown>;
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
  readonly ask?: (prompt: string, options?: {
    readonly model?: string;
    readonly system?: string;
  }) => Promise<string>;
  /** Asks the user, who can allow the action once, for the conversation or for the workspace, or refuse the action.
   * Resolves at once if a lasting approval allows the action, and with a refusal if Vis can ask no user. Time limits
   * pause meanwhile. Present in calls of functions that are `untimed`. If `isQuiet`, Vis asks no user, and only lasting
   * approvals count. */
  readonly approve?: (request: ApprovalRequest, options?: {
    readonly isQuiet?: boolean;
  }) => Promise<Approval>;
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
export type ObeyedPath = Readonly<{
  path: string;
  reason: string;
  running: string | null;
}>;
/** A fault of a source file; `line` is 1-based. */
export type SourceFault = Readonly<{
  line: number;
  message: string;
}>;
export type ChildOptions = Readonly<{
  vars?: readonly string[];
  model?: string;
  maxIterations?: number;
}>;
export type ChildResult = Readonly<Record<"status" | "reason" | "answer", string>>;
export interface RouterFacts {
  readonly providers: readonly {
    readonly name: string;
    readonly models: readonly string[];
  }[];
  /** The route that serves the query unless this route fails. */
  readonly root: {
    readonly provider: string;
    readonly model: string;
  };
}
export interface VarIndexFacts {
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
export type Scoped = Readonly<{
  scope?: "conversation" | "workspace" | "global";
  workspace?: string;
}>;
/** `env.store`: JSON under keys of up to 200 characters. By default, a key belongs to this conversation. With `scope`
 * "workspace" or "global", a key belongs to all conversations of the workspace, or to all conversations. A command has
 * no conversation, so it names one of the other scopes. Each change creates a version, and Vis keeps at least the
 * last 1000 versions of a key. A value has at most 1 Mi characters of JSON, and a scope at most 10 000 keys. A fork sees
 * the state of its conversation at the point of the fork. Rejects with TypeError if the value is not JSON, and with an
 * error that names an exceeded limit. */
export interface OwnStore {
  /** Stores the value; an equal value creates no version. With `ifVersion`, `put` rejects if another version is the
   * newest; 0 means that the key must not exist. */
  put(key: string, value: JsonValue, options?: Scoped & {
    readonly ifVersion?: number;
  }): Promise<{
    version: number;
  }>;
  /** Returns undefined if the key does not exist. */
  get(key: string, options?: Scoped & {
    readonly version?: number;
  }): Promise<JsonValue | undefined>;
  /** Returns up to `limit` versions (by default 100), newest first. A version without a value is a deletion. */
  history(key: string, options?: Scoped & {
    readonly limit?: number;
  }): Promise<readonly StateVersion[]>;
  /** Returns keys with their newest versions, sorted by key; 100 by default. */
  list(options?: Scoped & {
    readonly prefix?: string;
    readonly limit?: number;
  }): Promise<readonly StateEntry[]>;
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
export type PrevExpression = Readonly<Record<"code" | "preview" | "stdout" | "stderr", string>> & Readonly<{
  result: unknown;
  error?: string;
  executionTimeMs: number;
  timedOut: boolean;
  repaired: boolean;
}>;
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
export type DoctorCheck = Readonly<{
  name: string;
  state: "ok" | "warn" | "fail";
  found: string;
  fix: string;
}>;
/** A command such as `vis reindex DOCS --limit 5`. Required keys of `args` are positional, optional ones are flags. */
export interface CliCommand {
  readonly name: string;
  readonly doc: string;
  readonly args?: z.ZodObject;
  /** Returns the exit code, 0 by default. */
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
declare const REALM_SCRIPTS: unique symbol;
/** An extension in the registry, with the defaults of its optional keys. `prompt` is a function. */
export interface NormalExtension extends Extension {
  readonly group: string;
  readonly subgroup: string;
  readonly requires: readonly string[];
  readonly activate: (env: EnvironmentView) => unknown;
  readonly prompt: (env: EnvironmentView) => string | Promise<string>;
  readonly symbols: NonNullable<Extension["symbols"]>;
  readonly [REALM_SCRIPTS]?: Readonly<Record<string, string>>;
}
/** Validates the parts of an extension that do not depend on other extensions, and fills in its optional keys. Throws
 * TypeError that names the key and the extension. */
export declare function defineExtension(spec: Extension): NormalExtension;
/** Runs tasks in the order of their requests while the sum of their amounts is at most `limit`. With the defaults, it
 * is a mutex. */
export declare class Semaphore {
  #private;
  constructor(limit?: number, cancelled?: () => Error);
  get open(): number;
  /** Rejects without running the work if the signal aborts first. */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** An amount above the limit counts as the limit, so that the work runs alone. */
  runAmount<T>(amount: number, { work, signal }: {
    readonly work: () => Promise<T>;
    readonly signal: AbortSignal | undefined;
  }): Promise<T>;
  /** Resolves when the caller has the amount, which `release` returns. */
  acquire(signal?: AbortSignal, amount?: number): Promise<void>;
  release(amount?: number): void;
}
/** Settles like the work, or rejects with the signal's reason if the signal aborts first. The work itself continues. */
export declare function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T>;
/** Long synchronous work must not block the process, so it checks `due` often and rests when `due` is true. */
export declare class Pace {
  #private;
  constructor(signal?: AbortSignal);
  get due(): boolean;
  /** Throws the signal's reason once the signal has aborted. */
  rest(): Promise<void>;
}
/** Resolves with false if the time is up first. A rejection of the work counts as settled. */
export declare function settledWithin(work: Promise<unknown>, ms: number): Promise<boolean>;
/** The map drops the oldest entry once it has more than `most` entries. `get` does not change the order; `set` makes an
 * entry the newest. */
export declare class BoundedMap<K, V> extends Map<K, V> {
  #private;
  constructor(most: number);
  set(key: K, value: V): this;
}
/** A full buffer at least doubles, so that many small pieces cause few copies. */
export declare class ByteBuffer {
  #private;
  get length(): number;
  /** The returned bytes are valid until the next change. */
  get bytes(): Uint8Array<ArrayBuffer>;
  push(piece: Uint8Array): void;
  keepLast(count: number): void;
  clear(): void;
}
export interface TextFormat {
  /** `TextDecoder` knows this name. */
  readonly encoding: string;
  /** If true, the bytes begin with a byte order mark, which the text does not contain. */
  readonly hasMark: boolean;
  readonly isGuess: boolean;
}
export interface DecodedText extends TextFormat {
  readonly text: string;
  /** This many characters replace invalid bytes, which would be lost if Vis wrote the text back. */
  readonly replaced: number;
}
/** Without `encoding`, returns null for binary bytes, and may guess the encoding of others. */
export declare function decodeText(bytes: Uint8Array, encoding?: string): DecodedText | null;
/** The section and the key are in lower case. */
export interface GitSetting {
  readonly section: string;
  readonly subsection: string | null;
  readonly key: string;
  readonly value: string;
}
/** Parses as git does: headers and keys may share a line. Skips invalid syntax up to the end of its line. */
export declare function parseGitConfig(text: string): readonly GitSetting[];
/** Returns whether the hashes of the repository have 32 bytes instead of 20. */
export declare function isSha256(settings: readonly GitSetting[]): boolean;
/** Reads git's files of the user, and the files that they include. Returns no settings without a home. */
export declare function userGitSettings({ home, gitDir }: {
  readonly home: string | null;
  readonly gitDir: string;
}): Promise<readonly GitSetting[]>;
/** Returns the real path of the folder that `.git` is or names, or its absolute path if it does not exist. Returns null
 * if `.git` is missing or names no folder. Throws Error for a name that is not UTF-8. */
export declare function gitFolderOf(top: string): Promise<string | null>;
/** Returns the folder that the worktrees of a repository share: `gitDir` itself, unless its file `commondir` names
 * another. Throws Error for a name that is not UTF-8. */
export declare function commonFolderOf(gitDir: string): Promise<string>;
/** Returns whether a repository in another folder names `top` as its working tree, as worktrees and submodules do. A
 * command that can write only in `top` cannot forge that name. The arguments must be real paths. */
export declare function namesTop({ top, gitDir, commonDir }: Readonly<Record<"top" | "gitDir" | "commonDir", string>>): Promise<boolean>;
declare class GitIndexEntry {
  #private;
  constructor(index: Buffer, { at, hashBytes, name }: {
    readonly at: number;
    readonly hashBytes: number;
    readonly name: Buffer;
  });
  get name(): string;
  get hash(): Buffer;
  get size(): number;
  get modifiedMs(): number;
  get isSubmodule(): boolean;
  get isConflict(): boolean;
}
/** The index has version 2, 3 or 4. An index of another version has no entries. */
export declare class GitIndex {
  #private;
  constructor(bytes: Uint8Array<ArrayBuffer>, { sha256 }: {
    readonly sha256: boolean;
  });
  entries(): Generator<GitIndexEntry>;
  /** Names the file with the other entries of a split index; null for a whole index. The caller must read all entries
   * first. */
  get shared(): string | null;
}
/** Without https, another machine could pretend to be the server, unless the address names this machine. */
export declare function isSecureUrl(text: string): boolean;
/** Readers see the old or the new text, and after an error the old one. Without `mode`, only the owner of the file can
 * read it. The folder must exist. */
export declare function replaceFile(path: string, text: string, { mode }?: {
  mode?: number | undefined;
}): Promise<void>;
/** Leaves an existing file unchanged. A new file of root gets the owner of the folder. */
export declare function ensureFile(path: string, { mode }?: {
  mode?: number | undefined;
}): Promise<void>;
/** Creates missing parents. New folders of root get the owner of their parent. By default, only the owner of a folder
 * can enter it. */
export declare function ensureFolder(path: string, { mode }?: {
  mode?: number | undefined;
}): Promise<void>;
/** The caller must check that the entry is empty. */
export declare function hasPlaceholderMode(mode: number): boolean;
/** Returns whether a path is a folder or inside it. Both paths must be absolute. */
export declare function isWithin(path: string, folder: string, { relative, isAbsolute, sep }?: any): boolean;
/** Both paths must be absolute. Returns false for the folder itself. */
export declare function isBelow(path: string, folder: string): boolean;
export interface ReadOptions {
  readonly links?: boolean;
  readonly most?: number;
  /** If true, the text keeps its byte order mark and another encoding is an error, so that writing the text gives the
   * same bytes. */
  readonly exact?: boolean;
}
/** In a workspace, a link may lead to a device, a pipe or an endless file, which could block the process or fill its
 * memory. Throws `NotPlainFile` for another kind of file and for more than `most` bytes, and the system's errors. */
export declare function plainFile(path: string, { links, most }?: Pick<ReadOptions, "links" | "most">): Promise<Uint8Array<ArrayBuffer>>;
/** Returns null for a missing or unreadable file, and for a link or another kind of file. The caller closes the
 * descriptor. */
export declare function openPlainFile(path: string): number | null;
/** Returns up to `most` first bytes. Returns null for a link, and for a file that Vis cannot read. */
export declare function firstBytes(path: string, most: number): Uint8Array<ArrayBuffer> | null;
/** Returns null if the file is missing, unreadable, not a regular file, or larger than `most` bytes. Without `links`, a
 * link gives null, because it may lead out of a repository. */
export declare function smallTextFile(path: string, { links, most }?: ReadOptions): Promise<string | null>;
export interface FirstEntries {
  readonly entries: readonly Deno.DirEntry[];
  readonly hasMore: boolean;
}
/** Lists at most `most` entries of a folder. `Deno.readDir` reads a whole folder first, which needs much memory, so
 * this function uses the C library on Linux. Throws the system's errors. */
export declare function firstEntries(path: string, { most, os }: {
  readonly most: number;
  readonly os?: string;
}): Promise<FirstEntries>;
/** In the pattern, `*` matches any text. Matching does not backtrack, so a hostile pattern cannot take long. */
export declare function matchesWildcard(pattern: string, text: string): boolean;
/** Returns null unless at most one letter, or a third of the letters, differs from the nearest name. */
export declare function nearestName(asked: string, names: readonly string[]): string | null;
/** Returns up to three names, nearest first. Two names count as close if one contains the other. */
export declare function nearestNames(asked: string, names: readonly string[]): readonly string[];
/** Returns the number of letters to insert, remove, replace or swap with their neighbour (optimal string alignment).
 * Ignores letters after the first `MAX_LENGTH`. */
export declare function editDistance(one: string, other: string): number;
/** `path` is relative to the workspace, and letter case does not count. The last matching pattern decides; `!` makes an
 * exception. A pattern without `/` matches the last part of the path. */
export declare function isSecretFile(path: string, patterns: readonly string[]): boolean;
export declare function messageOf(error: unknown): string;
/** The first letter becomes small, for use after a colon, except in "Vis" and in words with other capitals. */
export declare function reasonOf(error: unknown): string;
/** An approval shows a command in this form, in which the folder, the variables and the input precede the words. */
export declare function commandText(command: string | readonly string[], { cwd, env, input }: {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}): string;
export interface SchemaTextOptions {
  /** The schema in which Vis looks up each `$ref`; by default the schema itself. */
  readonly root?: unknown;
  /** Whether to print descriptions of top-level keys as comments, and to ignore `tsType`, as for foreign schemas. */
  readonly notes?: boolean;
}
/** Converts a JSON Schema to a TypeScript type of bounded length. A type that JSON Schema cannot express gives its text
 * in `tsType`. */
export declare function schemaText(schema: unknown, { root, notes }?: SchemaTextOptions): string;

export {
  defineExtension as validate,
  z,
};

export {};
