// Types of @vis/extension, written by scripts/generate/extension_types.ts. Sources: a409897251ccbbbb40483353806d36dedc24159ed0980f6cbe782c0b7af3451b
import { z } from 'zod';

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | {
  readonly [key: string]: JsonValue;
};
/** Untrusted JSON needs limits: many values take much more memory than their text, and deep nesting overflows the
 * stack. */
export interface JsonLimits {
  readonly values: number;
  readonly depth: number;
}
export declare class JsonTooLarge extends RangeError {
  readonly limit: "values" | "depth";
  readonly what: string;
  readonly name = "JsonTooLarge";
  constructor(limit: "values" | "depth", what: string);
}
/** Counts values and levels before a parser builds the values. The text may arrive in pieces, and may be invalid
 * JSON. */
export declare class JsonMeter {
  #private;
  constructor(limits?: JsonLimits);
  restart(): void;
  push(text: string): void;
}
/** Throws `JsonTooLarge` above a limit, before the parser builds a value. */
export declare function readForeignJson(text: string, limits?: JsonLimits): unknown;
/** `read` is the parsed text. The result has a BigInt instead of each integer outside the safe range, except for an
 * integer with an exponent. */
export declare function exactJson(text: string, read: unknown): unknown;
export interface ApprovalRequest {
  /** The text follows "Allow Vis to", such as "run npm ci with network". */
  readonly what: string;
  /** This is the exact text of the action, such as a command line or an address. Most channels show it on its own line. */
  readonly exact?: string | undefined;
  /** This unified diff is the planned change of files, which channels show like other diffs. */
  readonly change?: string | undefined;
  readonly why: string;
  /** A lasting approval permits this scope, such as "network for npm ci …". */
  readonly scope: string;
  readonly scopes?: readonly string[] | undefined;
  readonly lasting?: boolean | undefined;
  /** With "request", the decision `once` lasts until the request ends instead of for one call. */
  readonly once?: "request" | undefined;
  /** This command-line option allows such calls for one run, such as "--set shell.network=true". Approvals do not show
   * the option; a run that cannot ask names it. */
  readonly option?: string | undefined;
}
export interface Approval {
  readonly allowed: boolean;
  readonly reason: string;
  readonly byUser?: boolean;
}
/** Omits the path in parentheses at the end of a scope, unless two scopes differ only in that path. */
export declare function plainScopes(scopes: readonly string[]): readonly string[];
export interface CallOutcome {
  readonly text: string;
  /** False means that the call failed in its purpose. */
  readonly ok?: boolean;
  readonly refusedByUser?: boolean;
  /** For a failed call, Vis shows the last lines of this output, and the lines that name a failure. */
  readonly output?: string | readonly string[];
  readonly hint?: string;
  /** This variable has the whole of a long output, for the model. */
  readonly kept?: string;
  /** The call ran a command with this exit code; null if the command has none. */
  readonly exitCode?: number | null;
  /** `subject` names the object of the call, or each of its objects, if the arguments do not. */
  readonly subject?: string | readonly string[];
  /** If true, a later call must finish the work, such as a merge with conflicts. If false, this call has finished the
   * work of its namespace. */
  readonly unfinished?: boolean;
  /** The summary below an answer omits the call if a later call of its namespace with the same text has finished the
   * work (`unfinished: false`). */
  readonly partOf?: string;
}
/** Channels show these words, such as "reading src/app.ts" and "read 3 files". */
export interface CallAction {
  readonly doing: string;
  readonly done: string;
  readonly things: string;
  /** The first `named` arguments name the object of the call; the default is 1. */
  readonly named?: number;
  /** Calls with the same arguments in different folders are different calls. */
  readonly folder?: string;
  readonly limitMs?: number;
}
export interface SentMessage {
  readonly role: "system" | "user";
  readonly text: string;
}
/** A web search of a service used this page. */
export interface WebSource {
  readonly title: string;
  readonly url: string;
}
export interface WebFindings {
  readonly text: string;
  readonly sources: readonly WebSource[];
}
export interface StateVersion {
  /** The number is 1-based. Each change increases it. In a conversation, a deletion is a change; elsewhere,
   * a deletion removes all versions. */
  readonly version: number;
  readonly value: JsonValue | undefined;
  readonly at: number;
}
export interface StateEntry {
  readonly key: string;
  readonly version: number;
  readonly at: number;
}
export interface FoundState extends StateEntry {
  readonly value: JsonValue;
  readonly conversationId: string | null;
}
/** A block defined or changed `name` from `reads`. */
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
  readonly code: string;
  readonly createdAt: number;
}
/** A caller may name a conversation or branch by its id or by the beginning of the id. Methods reject with `UsageError`
 * for an unknown conversation. */
export interface HistoryReader {
  search(text: string, filter: SearchFilter): Promise<readonly SearchHit[]>;
  conversations(options: {
    readonly limit: number;
  }): Promise<readonly PastConversation[]>;
  queries(conversationId: string, options?: NewestQueries): Promise<readonly PastQuery[]>;
  iterations(queryId: string): Promise<readonly PastIteration[]>;
  /** `iteration` is 1-based. */
  sent(queryId: string, iteration: number): Promise<readonly SentMessage[] | null>;
  variables(conversationId: string): Promise<readonly PastVariable[]>;
  versions(conversationId: string, name: string): Promise<readonly PastVersion[]>;
  dependencies(conversationId: string): Promise<readonly Dependency[]>;
  logs(filter: LogFilter): Promise<readonly LogRow[]>;
  /** `version` is 1-based; the default is the newest. */
  variable(conversationId: string, options: {
    readonly name: string;
    readonly version?: number | undefined;
  }): Promise<unknown>;
}
export interface NewestQueries {
  readonly newest?: number | undefined;
}
export type SearchKind = "request" | "code" | "answer";
export interface SearchFilter {
  readonly limit: number;
  readonly conversationId?: string | undefined;
  /** A branch shows its own queries, and queries of its ancestors up to the forks. With an id, the search covers only
   * these. */
  readonly branchId?: string | undefined;
  readonly kind?: SearchKind | undefined;
  /** `since` is inclusive, and `until` is exclusive. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}
export interface SearchHit {
  readonly kind: SearchKind;
  /** `[` and `]` mark the searched words. */
  readonly snippet: string;
  readonly conversationId: string;
  readonly branchId: string;
  readonly title: string;
  readonly queryId: string;
  /** For code, these fields are the iteration and its 0-based position. */
  readonly iterationId: string | null;
  readonly position: number | null;
  readonly variable: string | null;
  readonly at: number;
  readonly ownerTable: string;
  readonly ownerId: string;
  readonly field: string;
}
export interface LogFilter {
  /** The result has at most this number of rows: the newest, or the oldest with `after`. */
  readonly limit: number;
  readonly level?: LogEntry["level"] | undefined;
  readonly conversationId?: string | undefined;
  readonly queryId?: string | undefined;
  readonly since?: number | undefined;
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
  /** `block` is 0-based. The store must already have the block. */
  readonly block?: number;
  readonly at?: number;
}
export interface SpawnOptions {
  /** The program may read this folder, which is the top of the repository around the workspace. Vis sets `root`. */
  readonly root?: string;
  /** The program starts in this folder, a path relative to the workspace and inside the workspace or `root`; the
   * default is the workspace. With null, the program starts in its temporary home. Behind the wall, Vis then
   * omits folders of the workspace from PATH, and omits variables of toolchains that lead into the workspace. */
  readonly cwd?: string | null;
  /** The program gets these variables besides a few others, such as PATH, HOME, TMPDIR and the locale. */
  readonly env?: Readonly<Record<string, string>>;
  /** Without input, standard input is empty. Vis reads a stream as fast as the program consumes it, and the input ends
   * with the stream. */
  readonly input?: string | ReadableStream<Uint8Array<ArrayBuffer>>;
  /** The time limit is 120,000 ms by default. When the program ends, Vis also ends processes that the program started;
   * without the wall, those of its process group. */
  readonly timeoutMs?: number;
  /** The limit applies to each of the two outputs, of which Vis keeps the beginning and the end; the default is 1
   * MiB. */
  readonly maxBytes?: number;
  /** If true, Vis decodes complete output that is not UTF-8 by its byte order mark, or guesses the encoding. A note
   * names the encoding. Without this option, bytes that are not UTF-8 become U+FFFD. */
  readonly guessEncoding?: boolean;
  /** An abort ends the program like the time limit, and `spawn` rejects with the reason. */
  readonly signal?: AbortSignal;
  /** An abort sends SIGTERM, and Vis kills the program two seconds later. `spawn` resolves with the result of the
   * program. */
  readonly stop?: AbortSignal;
  /** Vis calls this as output arrives, in addition to the output that the result keeps. The function must not throw,
   * and owns the bytes. */
  readonly onOutput?: (output: "stdout" | "stderr", bytes: Uint8Array<ArrayBuffer>) => void;
  /** `hear` takes each text of standard error from this token to the end of the line, without the token. The output does
   * not contain the token and the text. A text of more than 64 KiB stays in the output. */
  readonly asides?: {
    readonly token: string;
    readonly hear: (line: string) => void;
  };
  /** By default, the program ends with the call. With "conversation", the program runs until the conversation is
   * closed. */
  readonly lifetime?: "call" | "conversation";
  /** The user sees the program under this title, in lists of background programs and in notes about its failure. */
  readonly title?: string;
  /** The program may change these absolute paths instead of the workspace, and its temporary folder. `.vis` stays
   * unchanged. `.git` also stays unchanged, unless the paths name `.git` or a path in it. */
  readonly write?: readonly string[];
  /** The program must not change these absolute paths even inside the paths of `write`. With `asUser`, the program does
   * not start while a command of Vis could change these paths. */
  readonly keep?: readonly string[];
  /** If true, paths outside of `.git` that the settings of a repository in `write` name stay unchanged, such as a folder
   * of hooks. On macOS, they always do. */
  readonly keepsNamed?: boolean;
  /** If true, the program brings files into the workspace. On Linux, other programs that can change files there pause.
   * Vis then ends a paused program that could change a new file that git or Vis uses. A note in the result says so. */
  readonly pauses?: boolean;
  /** The program may read and execute these absolute paths, in addition to the usual paths. */
  readonly read?: readonly string[];
  /** If true, the program has TCP and UDP to any address; if false, the program reaches no other machine. The option
   * overrides the setting for commands. */
  readonly network?: boolean;
  /** Vis hides the secret files of the workspace, except these paths, which are absolute or relative to the workspace. On
   * Linux, hiding needs namespaces, and the program reads `instead` in place of a hidden file. With null, and on macOS,
   * an attempt to read a hidden file is an error. */
  readonly hideSecrets?: {
    readonly except: readonly string[];
    readonly instead: string | null;
  };
  /** If true, the user has already allowed this program, in the settings or in an approval of the extension. Only
   * shipped extensions may set this option, which matters only if the wall is incomplete. */
  readonly answered?: boolean;
  /** If true, the program runs without the wall and without a terminal, in an empty folder and with the variables of
   * Vis, except those that lead into the workspace or name a repository. Only shipped extensions may set this option, and
   * only after an approval. */
  readonly asUser?: boolean;
  /** If true, `spawn` rejects without a question instead of running the program behind an incomplete wall. */
  readonly whole?: boolean;
  /** Vis calls this when the program begins, after any approval. With `asUser`, Vis awaits the function first, and does
   * not start the program if it rejects. */
  readonly onBegin?: () => void;
  /** Programs without network access and with the same text here share a network with only a loopback, if the machine
   * supports it. Null means a network that no other program shares, without unix sockets. */
  readonly loopback?: string | null;
}
/** `spawn` resolves with a result even if the program failed. `spawn` rejects if no program ran, or if `signal`
 * aborts. */
export interface Spawned {
  /** After a signal, the code is 128 plus the number of the signal. */
  readonly code: number;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
  readonly timedOut: boolean;
  /** If true, an output was longer than `maxBytes`. */
  readonly truncated: boolean;
  /** The sentences describe actions of Vis, such as ended leftover processes or a guessed encoding. */
  readonly notes: readonly string[];
  /** These files or settings, which git runs or obeys, are new or changed since the program began. Only a program with
   * `.git` in `write` has this field. */
  readonly obeyed?: readonly string[];
  /** These folders below the repository of the workspace became repositories while the program ran. */
  readonly repositories?: readonly string[];
  /** The program created or changed these names at the top of its temporary home, which Vis removed. */
  readonly discarded?: readonly string[];
}
/** A lasting approval covers these scopes of a program's network. `runs` has clauses about files of
 * the workspace that the program runs, such as "npm ci runs what package.json says". `never` is the reason why Vis asks the user every time. */
export type NetworkScopes = {
  readonly scopes: readonly string[];
  readonly runs: readonly string[];
} | {
  readonly never: string;
};
export interface ProgramWalls {
  readonly network: boolean;
  /** If true, every part of the wall works: on Linux, namespaces, a read-only repository, Landlock and seccomp; on macOS,
   * Seatbelt. */
  readonly whole: boolean;
  /** The value is "" if the wall is complete. */
  readonly reason: string;
  readonly loopback: boolean;
  readonly unix: boolean;
  readonly hides: boolean;
  /** Programs cannot read these folders of the user's PATH, so their own PATH omits them. */
  readonly leftOut: readonly string[];
  /** The value is absent if the wall is complete. With `some`, programs run behind the available parts of the wall. */
  readonly unwalled?: {
    readonly mode: "ask" | "run";
    readonly reason: string;
    readonly some: boolean;
  };
}
/** The program runs behind the command wall. If the wall is incomplete, Vis asks the user first, unless a setting
 * decides. Rejects if the program may not run. */
export type Spawn = (argv: readonly string[], options?: SpawnOptions) => Promise<Spawned>;
/** docs/extend/spec.md explains every key. */
export interface Extension {
  /** The namespace is unique, and `requires` refers to it. A folder that the user names replaces an extension with the
   * same namespace. */
  readonly namespace: string;
  /** The alias is the prefix of all symbols, as in `search.find`. */
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
  readonly readOnly?: true | Readonly<{
    symbols: readonly string[];
    prompt: NonNullable<Extension["prompt"]>;
  }>;
  /** `env.config` is the extension's section in `extensions.config`, parsed by this schema. */
  readonly config?: z.ZodType;
  /** The section of a shipped extension has this shorter name, at the top of the settings file. */
  readonly section?: string;
  /** `env.watchFiles` of every extension calls the first `watchFiles` that Vis finds. */
  readonly watchFiles?: (env: EnvironmentView, options: WatchOptions) => FileWatcher;
  /** For each `@path` of a user's request, Vis asks the first `namedFile` that it finds. The text has at most `chars`
   * characters. Resolves with null or rejects if Vis attaches nothing. */
  readonly namedFile?: (env: EnvironmentView, path: string, options: {
    readonly chars: number;
  }) => Promise<NamedFile | null>;
  /** Vis calls `fileRead` for each file that a function of an extension reads for the model and reports by
   * `env.fileRead`. The path is relative to the workspace, or absolute in an added folder. */
  readonly fileRead?: (env: EnvironmentView, path: string) => void | Promise<void>;
  /** `vis` gets these commands. */
  readonly cli?: readonly CliCommand[];
  /** `vis doctor` calls `doctor`, even while the extension is off. */
  readonly doctor?: (context: DoctorContext) => readonly DoctorCheck[] | Promise<readonly DoctorCheck[]>;
}
/** The answer uses the variables of the block, whose time is an estimate. */
export type ReplyExample = Readonly<{
  thinking: string;
  code: string;
  timeMs: number;
  answer: string;
}>;
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
  readonly reads?: boolean | ((...args: any[]) => boolean);
  /** If true, a plan may make calls that do not only read, because the function changes nothing if `env.onlyReads` is
   * true. */
  readonly inPlans?: boolean;
  /** People see these words for a call, or "called search.find" without them. A function chooses the words by the
   * arguments of the call. */
  readonly action?: CallAction | ((...args: any[]) => CallAction);
  /** The text tells people the outcome of a call in a few words: "12 passed". With `ok: false`, Vis shows the call as
   * failed, with the failures in `output` and its end. `args` are the model's arguments. */
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
  readonly extensions?: readonly {
    readonly namespace: string;
    readonly version: string;
    readonly active: boolean;
  }[];
  /** Extensions have bound these live variables, newest first. */
  readonly customBindings?: readonly CustomBinding[];
  /** The default limit is 1 MiB in codec bytes. Rejects if no variable in scope has this name, if the value is larger
   * than the limit, and if it is not data. */
  readonly readVar?: (name: string, options?: {
    readonly maxBytes?: number;
  }) => Promise<unknown>;
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
  readonly ask?: (prompt: string, options?: {
    readonly model?: string;
    readonly system?: string;
  }) => Promise<string>;
  /** The service of the model searches the web and sums up the found pages, in one call that counts against the query's
   * limits. Rejects if the call fails, and if no service searches (`router.search`). Calls and hooks have this key. */
  readonly searchWeb?: (query: string) => Promise<WebFindings>;
  /** The user allows the action once, for the conversation or for the workspace, or refuses it. Resolves at once if a
   * lasting approval allows the action, and with a refusal if Vis can ask no user. Time limits pause meanwhile. With
   * `isQuiet`, only lasting approvals count. Calls of `untimed` functions have this key. */
  readonly approve?: (request: ApprovalRequest, options?: {
    readonly isQuiet?: boolean;
  }) => Promise<Approval>;
  /** Vis asks the user, like `approve`, whether it may change all of `root`. The answer applies to every extension.
   * `what` names the purpose; with null, Vis asks no user. Calls of `untimed` functions have this key if there is a
   * `root`. */
  readonly openRoot?: (what: string | null, shown?: Pick<ApprovalRequest, "exact" | "change">) => Promise<Approval>;
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
export type UndoneChange = Readonly<{
  path: string;
  diff: string;
  redo: boolean;
}>;
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
export type ObeyedPath = Readonly<{
  path: string;
  reason: string;
  running: string | null;
}>;
/** `line` counts from 1. */
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
  /** This route serves the query unless it fails. */
  readonly root: {
    readonly provider: string;
    readonly model: string;
  };
  /** This route searches the web. The value is null if Vis knows no search of the services. */
  readonly search: {
    readonly provider: string;
    readonly model: string;
  } | null;
}
export interface VarIndexFacts {
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
export type Scoped = Readonly<{
  scope?: "conversation" | "workspace" | "global";
  workspace?: string;
}>;
/** `env.store` holds JSON under keys of up to 200 characters, by default for this conversation. Each change creates a
 * version, and Vis keeps at least the last 1000 versions of a key. A value has at most 1 Mi characters of JSON, and a
 * scope at most 10,000 keys, including the deleted keys of a conversation. A fork sees the state of its conversation
 * at the point of the fork. A command has no conversation, so it names another scope. Rejects with TypeError if the
 * value is not JSON, and with an error that names an exceeded limit. */
export interface OwnStore {
  /** A value with the same JSON text, also in the order of its keys, creates no version. With `ifVersion`, `put` rejects
   * if another version is the newest; 0 means that the key must not exist. */
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
  /** Returns keys with their newest versions, sorted by key; the default limit is 100. */
  list(options?: Scoped & {
    readonly prefix?: string;
    readonly limit?: number;
  }): Promise<readonly StateEntry[]>;
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
export type PrevExpression = Readonly<Record<"code" | "preview" | "stdout" | "stderr", string>> & Readonly<{
  result: unknown;
  error?: string;
  executionTimeMs: number;
  timedOut: boolean;
  repaired: boolean;
}>;
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
export type DoctorCheck = Readonly<{
  name: string;
  state: "ok" | "warn" | "fail";
  found: string;
  fix: string;
}>;
/** An example is `vis reindex DOCS --limit 5`. Required keys of `args` are positional, and optional keys are flags. */
export interface CliCommand {
  readonly name: string;
  readonly doc: string;
  readonly args?: z.ZodObject;
  /** Returns the exit code; the default is 0. */
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
declare const REALM_SCRIPTS: unique symbol;
export interface NormalExtension extends Extension {
  readonly group: string;
  readonly subgroup: string;
  readonly requires: readonly string[];
  readonly activate: (env: EnvironmentView) => unknown;
  readonly prompt: (env: EnvironmentView) => string | Promise<string>;
  readonly symbols: NonNullable<Extension["symbols"]>;
  readonly [REALM_SCRIPTS]?: Readonly<Record<string, string>>;
}
/** The checks do not depend on other extensions. Throws TypeError that names the key and the extension. */
export declare function defineExtension(spec: Extension): NormalExtension;
/** Starts tasks in order while the sum of their amounts is at most `limit`. */
export declare class Semaphore {
  #private;
  constructor(limit?: number, cancelled?: () => Error);
  get open(): number;
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  runAmount<T>(amount: number, { work, signal }: {
    readonly work: () => Promise<T>;
    readonly signal: AbortSignal | undefined;
  }): Promise<T>;
  /** The caller must give the amount back with `release`. The promise never resolves for an amount above the limit. */
  acquire(signal?: AbortSignal, amount?: number): Promise<void>;
  release(amount?: number): void;
}
/** Settles like `work`, or rejects with the reason of the signal if the signal aborts first. The work itself
 * continues. */
export declare function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T>;
/** Long synchronous work blocks the process, so the work must often check `due`, and rest when `due` is true. */
export declare class Pace {
  #private;
  constructor(signal?: AbortSignal);
  get due(): boolean;
  rest(): Promise<void>;
}
export declare function settledWithin(work: Promise<unknown>, ms: number): Promise<boolean>;
/** The map drops the oldest entry once it has more than `most` entries. `get` does not change the order; `set` makes an
 * entry the newest. */
export declare class BoundedMap<K, V> extends Map<K, V> {
  #private;
  constructor(most: number);
  set(key: K, value: V): this;
}
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
  readonly encoding: string;
  /** If true, a byte order mark precedes the text, which does not contain the mark. */
  readonly hasMark: boolean;
  readonly isGuess: boolean;
}
export interface DecodedText extends TextFormat {
  readonly text: string;
  /** This number of U+FFFD characters replaces invalid bytes, which writing the text back would lose. */
  readonly replaced: number;
}
/** Without `encoding`, returns null for binary bytes, and may guess the encoding of other bytes. */
export declare function decodeText(bytes: Uint8Array, encoding?: string): DecodedText | null;
/** `section` and `key` are in lower case. */
export interface GitSetting {
  readonly section: string;
  readonly subsection: string | null;
  readonly key: string;
  readonly value: string;
}
export declare function parseGitConfig(text: string): readonly GitSetting[];
export declare function isSha256(settings: readonly GitSetting[]): boolean;
/** `system` is the file with the settings of all users. */
export declare function userGitSettings({ home, gitDir, system }: {
  readonly home: string | null;
  readonly gitDir: string;
  readonly system?: string | null;
}): Promise<readonly GitSetting[]>;
/** Returns the real path of the folder that `.git` is or names, or an absolute path if that folder is missing. */
export declare function gitFolderOf(top: string): Promise<string | null>;
/** Worktrees of one repository share this folder. */
export declare function commonFolderOf(gitDir: string): Promise<string>;
/** Returns whether a repository elsewhere names `top` as its working tree, as worktrees and submodules do. A command
 * that can write only in `top` cannot forge this name. The arguments must be real paths. */
export declare function namesTop({ top, gitDir, commonDir }: Readonly<Record<"top" | "gitDir" | "commonDir", string>>): Promise<boolean>;
/** Returns up to five paths of repositories in the folder or one level deeper. Hidden folders, `node_modules`, names with
 * spaces or unusual characters, links, submodules and linked worktrees do not count. */
export declare function repositoriesBelow(folder: string): Promise<readonly string[]>;
export declare function isOwnRepository(top: string): Promise<boolean>;
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
/** Reads versions 2, 3 and 4. An index of another version has no entries. */
export declare class GitIndex {
  #private;
  constructor(bytes: Uint8Array<ArrayBuffer>, { sha256 }: {
    readonly sha256: boolean;
  });
  entries(): Generator<GitIndexEntry>;
  /** Returns the name of the file with the other entries of a split index, or null. The caller must first read all
   * entries. */
  get shared(): string | null;
}
/** Accepts https, and http only to a loopback address, which another machine cannot impersonate. */
export declare function isSecureUrl(text: string): boolean;
/** Readers always see either the old or the new text. The folder must exist. */
export declare function replaceFile(path: string, text: string, { mode }?: {
  mode?: number | undefined;
}): Promise<void>;
export declare function ensureFile(path: string, { mode }?: {
  mode?: number | undefined;
}): Promise<void>;
/** A new folder of root gets the owner of its parent. */
export declare function ensureFolder(path: string, { mode }?: {
  mode?: number | undefined;
}): Promise<void>;
/** The caller must check that the entry is empty. */
export declare function hasPlaceholderMode(mode: number): boolean;
/** Both paths must be absolute. */
export declare function isWithin(path: string, folder: string, { relative, isAbsolute, sep }?: any): boolean;
/** Both paths must be absolute. */
export declare function isBelow(path: string, folder: string): boolean;
export interface ReadOptions {
  readonly links?: boolean;
  readonly most?: number;
  /** If true, the text keeps its byte order mark, and invalid UTF-8 is an error, so that writing the text gives the
   * same bytes. */
  readonly exact?: boolean;
}
/** A link in a workspace may lead to a device, a pipe or an endless file, which could block the process or fill its
 * memory. Throws `NotPlainFile` for another kind of file, for more than `most` bytes, and if the file is replaced or
 * grows during the read. The calls are synchronous, because asynchronous calls of the runtime take much longer. */
export declare function plainFile(path: string, { links, most }?: Pick<ReadOptions, "links" | "most">): Promise<Uint8Array<ArrayBuffer>>;
/** Returns null for a link, another kind of file, and a missing or unreadable file. The caller closes the descriptor. */
export declare function openPlainFile(path: string): number | null;
export declare function firstBytes(path: string, most: number): Uint8Array<ArrayBuffer> | null;
/** Returns null for another kind of file, and for a missing, unreadable or larger file. Without `links`, a link gives
 * null, because the link may lead out of a repository. */
export declare function smallTextFile(path: string, { links, most }?: ReadOptions): Promise<string | null>;
export interface FirstEntries {
  readonly entries: readonly Deno.DirEntry[];
  readonly hasMore: boolean;
}
/** On Linux, this function uses the C library, because `Deno.readDir` first reads the whole folder into memory. */
export declare function firstEntries(path: string, { most, os }: {
  readonly most: number;
  readonly os?: string;
}): Promise<FirstEntries>;
/** In the pattern, `*` matches any text. Matching does not backtrack, so a hostile pattern cannot take long. */
export declare function matchesWildcard(pattern: string, text: string): boolean;
/** `path` is relative to the workspace, and letter case does not count. The last matching pattern decides; `!` makes an
 * exception. A pattern without `/` matches the last part of the path. */
export declare function isSecretFile(path: string, patterns: readonly string[]): boolean;
/** A name may differ in one letter, or in a third of the letters of `asked`. */
export declare function nearestName(asked: string, names: readonly string[]): string | null;
/** Two names are close if one contains the other. */
export declare function nearestNames(asked: string, names: readonly string[]): readonly string[];
/** The edits are an insertion, a removal, a replacement, or a swap of neighbours (optimal string alignment). Letters
 * after the first `MAX_LENGTH` do not count. */
export declare function editDistance(one: string, other: string): number;
/** Advice may name functions and options of the model, so the step line of a failed block leaves it out. */
export declare function advised<E extends Error>(error: E, advice: string): E & {
  readonly advice: string;
};
export declare function withoutAdvice(error: Error): string;
/** `tell` gets the reason without its advice. */
export declare function retold(error: unknown, tell: (reason: string) => string): Error;
export declare function messageOf(error: unknown): string;
/** Returns the message for use after a colon: its first word begins in lower case, except "Vis" and words such as
 * "JSON". */
export declare function reasonOf(error: unknown): string;
export declare function errnoText(errno: number): string;
export declare function counted(count: number | bigint, one: string, digits?: string): string;
export declare function clip(text: string, limit: number): string;
/** `limit` counts UTF-16 units. A cut text ends with "…", and not within a surrogate pair. */
export declare function shorten(text: string, limit: number): string;
export declare function oneLine(text: string, limit: number): string;
export declare function someOf(texts: readonly string[], most?: number, between?: string): string;
export interface CommandFacts {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}
export declare function commandText(command: string | readonly string[], given: CommandFacts): string;
export declare function commandFacts({ cwd, env, input }: CommandFacts): readonly string[];
/** The last line of a diff after which a file is as before the request. */
export declare const AS_BEFORE = "\u2026 the file is now as before the request";
export interface SchemaTextOptions {
  /** `root` is the schema in which Vis looks up a `$ref`; the default is the schema itself. */
  readonly root?: unknown;
  /** If true, descriptions of top-level keys become comments, and `tsType` has no effect, as for a foreign schema. */
  readonly notes?: boolean;
}
/** A type that JSON Schema cannot express gives its text in `tsType`. */
export declare function schemaText(schema: unknown, { root, notes }?: SchemaTextOptions): string;

export {
  defineExtension as validate,
  z,
};

export {};
