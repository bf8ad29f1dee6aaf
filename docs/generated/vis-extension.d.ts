// Types of @vis/extension, written by scripts/generate/extension_types.ts. Sources: 8213bb5f1e76ea3403a81ecd0d58d927ccb7d8b04b6db61644479d9df4e1200d
import { z } from 'zod';

/** Any value that JSON can express. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | {
  readonly [key: string]: JsonValue;
};
/** Limits for untrusted JSON: more values need many times the memory of the text, and deeper nesting overflows the stack
 * of recursive readers. */
export interface JsonLimits {
  readonly values: number;
  readonly depth: number;
}
/** JSON exceeds a limit; `what` says which. */
export declare class JsonTooLarge extends RangeError {
  readonly limit: "values" | "depth";
  readonly what: string;
  readonly name = "JsonTooLarge";
  constructor(limit: "values" | "depth", what: string);
}
/** Counts the values and levels of JSON that arrives in pieces, before it is parsed. Any text is accepted. */
export declare class JsonMeter {
  #private;
  constructor(limits?: JsonLimits);
  /** Another text begins. */
  restart(): void;
  /** Throws JsonTooLarge. */
  push(text: string): void;
}
/** Parses JSON that somebody else wrote. Throws JsonTooLarge before anything is built from it, else as JSON.parse. */
export declare function readForeignJson(text: string, limits?: JsonLimits): unknown;
/** `read`, parsed from the text, with a BigInt for each integer that a number cannot hold. */
export declare function exactJson(text: string, read: unknown): unknown;
/** A call asks the user for this because its grant does not cover it. */
export interface ApprovalRequest {
  /** This phrase follows "Allow Vis to": "run npm ci with network". */
  readonly what: string;
  /** Why it has to be asked; "" if `what` says enough. */
  readonly why: string;
  /** A lasting answer allows this, as a phrase: "network for commands". */
  readonly scope: string;
  /** The names of the rules that a lasting answer keeps; `scope` alone if absent. The request is allowed if each has a
   * rule, and the user is asked for the others. */
  readonly scopes?: readonly string[] | undefined;
  /** False if the user can only allow it once; true if absent. */
  readonly lasting?: boolean | undefined;
}
export interface Approval {
  readonly allowed: boolean;
  /** Why not, for the model; "" if it is allowed. */
  readonly reason: string;
}
/** The call returned with this outcome. */
export interface CallOutcome {
  /** A few words for people who watch: "12 passed", "exit code 1". */
  readonly text: string;
  /** False if it did not do what it was called for; true if absent. */
  readonly ok?: boolean;
  /** People see the end of this output if the call failed. */
  readonly output?: string;
  /** A call that ran a command has its exit code here, null if it has none. */
  readonly exitCode?: number | null;
  /** The subject names the call's object if its arguments do not say it. */
  readonly subject?: string;
}
/** People who watch read calls of a function in these words: "reading src/app.ts", "read 3 files". */
export interface CallAction {
  /** "reading" */
  readonly doing: string;
  /** "read" */
  readonly done: string;
  /** Calls are counted in this unit: "files". */
  readonly things: string;
  /** This many arguments name the call's object; 1 if absent. */
  readonly named?: number;
}
/** One version of a state. */
export interface StateVersion {
  /** 1-based; increases with each change, including deletions. */
  readonly version: number;
  /** Undefined if it was deleted. */
  readonly value: JsonValue | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
}
export interface StateEntry {
  readonly key: string;
  readonly version: number;
  readonly at: number;
}
export interface FoundState extends StateEntry {
  readonly value: JsonValue;
  /** Null for global state. */
  readonly conversationId: string | null;
}
/** A message as it was sent to a model. */
export interface SentMessage {
  readonly role: "system" | "user";
  readonly text: string;
}
/** A variable, and another one that the blocks that defined it have read. */
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
  /** 1-based. */
  readonly number: number;
  readonly status: string;
  readonly thinking: string;
  /** Time spent in model calls. */
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
  /** 1-based. */
  readonly version: number;
  readonly type: string;
  readonly summary: string;
  /** The block that made it. */
  readonly code: string;
  readonly createdAt: number;
}
/** Read access for extensions to everything stored. A conversation is identified by its id or the first 8 characters of
 * it, a branch of it likewise; methods reject with `UsageError` if there is none. The id of a conversation stands for
 * its newest branch, that of the running conversation for the running branch. */
export interface HistoryReader {
  search(text: string, filter: SearchFilter): Promise<readonly SearchHit[]>;
  /** Newest query first. */
  conversations(options: {
    readonly limit: number;
  }): Promise<readonly PastConversation[]>;
  /** Oldest first. Reading only the newest ones does not take longer in a long conversation. */
  queries(conversationId: string, options?: NewestQueries): Promise<readonly PastQuery[]>;
  iterations(queryId: string): Promise<readonly PastIteration[]>;
  /** The messages sent for an iteration (1-based); null if there is none. */
  sent(queryId: string, iteration: number): Promise<readonly SentMessage[] | null>;
  /** Most recently defined first. */
  variables(conversationId: string): Promise<readonly PastVariable[]>;
  /** The versions of a variable, oldest first, with the block that made each; empty if there is none. */
  versions(conversationId: string, name: string): Promise<readonly PastVersion[]>;
  /** Returns, for each variable, the variables that were read by the blocks which made it. */
  dependencies(conversationId: string): Promise<readonly Dependency[]>;
  /** Entries of Vis's log, oldest first: the newest ones up to `limit`. */
  logs(filter: LogFilter): Promise<readonly LogRow[]>;
  /** The value of a version (1-based, by default the newest): data as data, functions and classes as their source,
   * values that could not be kept as null. Rejects with `UsageError` if there is none. */
  variable(conversationId: string, options: {
    readonly name: string;
    readonly version?: number | undefined;
  }): Promise<unknown>;
}
export interface NewestQueries {
  /** The history has this many of the latest requests; all if absent. */
  readonly newest?: number | undefined;
}
export type SearchKind = "request" | "code" | "answer";
export interface SearchFilter {
  readonly limit: number;
  readonly conversationId?: string | undefined;
  /** The list has only the queries that this branch shows: its own, and those of the branches that it continues up
   * to its forks. */
  readonly branchId?: string | undefined;
  readonly kind?: SearchKind | undefined;
  /** Milliseconds since the epoch; includes `since`, excludes `until`. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}
/** A place that contains all the words. */
export interface SearchHit {
  readonly kind: SearchKind;
  /** The text around the words, which are marked with `[` and `]`. */
  readonly snippet: string;
  readonly conversationId: string;
  readonly branchId: string;
  readonly title: string;
  readonly queryId: string;
  /** Code has its iteration and its 0-based position there. */
  readonly iterationId: string | null;
  readonly position: number | null;
  /** The source of a function or class has its name here. */
  readonly variable: string | null;
  readonly at: number;
  /** The row that contains the text. */
  readonly ownerTable: string;
  readonly ownerId: string;
  readonly field: string;
}
export interface LogFilter {
  /** The list has at most this many rows: the newest ones or, with `after`, the oldest. */
  readonly limit: number;
  /** This level and more severe ones. */
  readonly level?: LogEntry["level"] | undefined;
  readonly conversationId?: string | undefined;
  readonly queryId?: string | undefined;
  readonly since?: number | undefined;
  /** The list has only rows that were written after the row with this number. */
  readonly after?: number | undefined;
}
export interface LogRow extends LogEntry {
  /** Increases from row to row. */
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
/** One row of the log table. */
export interface LogEntry {
  readonly level: typeof LOG_LEVELS[number];
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly conversationId?: string;
  readonly queryId?: string;
  readonly iterationId?: string;
  /** 0-based within the iteration. The entry does not refer to the block if it is not stored yet. */
  readonly block?: number;
  /** Milliseconds since the epoch; by default, the time at which it is stored. */
  readonly at?: number;
}
/** Options of `env.spawn`. */
export interface SpawnOptions {
  /** The top of the repository around the workspace: the program may read all of it. Vis sets it. */
  readonly root?: string;
  /** Relative to the workspace, and inside it or `root`; defaults to the workspace. Null starts the program in its
   * temporary home folder, and leaves folders of the workspace out of its PATH and of the variables of toolchains. */
  readonly cwd?: string | null;
  /** Added to the few variables that every program gets. */
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input; empty if absent. A stream is read as fast as the program consumes it; when it ends, so does the
   * input. */
  readonly input?: string | ReadableStream<Uint8Array<ArrayBuffer>>;
  /** 120 000 if absent. When the program ends, so does everything that it started. */
  readonly timeoutMs?: number;
  /** Limit for each of the two outputs, whose beginning and end are kept. 1 MiB if absent. */
  readonly maxBytes?: number;
  /** Decodes an output in another encoding than UTF-8 by its byte order mark or by a guess, if all of it is there; a
   * note of the result names the encoding. Otherwise, bytes that are not UTF-8 are U+FFFD. */
  readonly guessEncoding?: boolean;
  /** Ends the program as the time limit does; `spawn` then rejects with the reason. */
  readonly signal?: AbortSignal;
  /** Sends SIGTERM, and kills the program two seconds later; `spawn` resolves with how it ended. */
  readonly stop?: AbortSignal;
  /** Receives output as it arrives, in addition to what the result keeps. Must not throw. The callee owns the bytes. */
  readonly onOutput?: (output: "stdout" | "stderr", bytes: Uint8Array<ArrayBuffer>) => void;
  /** "call" if absent: the program ends with the call. With "conversation" it runs until the conversation is closed. */
  readonly lifetime?: "call" | "conversation";
  /** The user sees this title when the program ends with a run that lasts for one request only. */
  readonly title?: string;
  /** Absolute paths that the program may change, instead of the workspace. It may always change its temporary folder.
   * Repositories and `.vis` in them stay as they are, except those that are named here: `.git`, or paths in it. */
  readonly write?: readonly string[];
  /** Absolute paths that stay as they are even there. */
  readonly keep?: readonly string[];
  /** The program brings files into the workspace: others that can change files there pause meanwhile. One that could
   * then change what git or Vis obey is ended, and a note of the result says so. */
  readonly pauses?: boolean;
  /** Absolute paths that it may read and execute, in addition to the usual ones. */
  readonly read?: readonly string[];
  /** Full TCP access or no network; overrides the configuration for commands. */
  readonly network?: boolean;
  /** The program does not see the secret files of the workspace, except these paths relative to it: it reads
   * `instead` in their place. Only where it can have a file system of its own. */
  readonly hideSecrets?: {
    readonly except: readonly string[];
    readonly instead: string;
  };
  /** True if the user has answered for this program already: by naming it in the settings, or a question of the
   * extension. Only shipped extensions may say so. Has a meaning only where the wall is not whole. */
  readonly answered?: boolean;
  /** Rejects instead of running the program behind less than the whole wall. */
  readonly whole?: boolean;
  /** Called when the program begins, after any question. */
  readonly onBegin?: () => void;
  /** Programs without TCP access and with the same text here share a network that has only a loopback, where the
   * machine can have one. */
  readonly loopback?: string;
}
/** A program that failed is a result; `spawn` rejects only if none ran. */
export interface Spawned {
  /** 128 plus the number of the signal if one ended it. */
  readonly code: number;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
  readonly timedOut: boolean;
  /** Whether an output was longer than `maxBytes`. */
  readonly truncated: boolean;
  /** These sentences report actions of Vis, such as ended leftover processes or a guessed encoding. */
  readonly notes: readonly string[];
  /** After a program that could change the repository: what git runs or obeys there now and did not before. */
  readonly obeyed?: readonly string[];
  /** Folders below the repository of the workspace that are repositories now and were not before: `git add -A` would
   * add them. */
  readonly repositories?: readonly string[];
}
/** A lasting answer covers these scopes of a program's network and runs these files of the workspace; or a reason
 * says why the user is asked every time. */
export type NetworkScopes = {
  readonly scopes: readonly string[];
  readonly runs: readonly string[];
} | {
  readonly never: string;
};
/** Programs of this run may use what these walls leave them. */
export interface ProgramWalls {
  readonly network: boolean;
  /** Whether every part of the wall is there: namespaces, a read-only repository, Landlock, a filter of system
   * calls. */
  readonly whole: boolean;
  /** Why it is not; "" if it is. */
  readonly reason: string;
  /** Programs without TCP access can have a loopback of their own if this is true. */
  readonly loopback: boolean;
  /** Whether they can have unix sockets in their folders. */
  readonly unix: boolean;
  /** Whether secret files of the workspace can be hidden from them. */
  readonly hides: boolean;
  /** Folders of PATH that programs cannot read, and so do not have in theirs. */
  readonly leftOut: readonly string[];
  /** Absent if the wall is whole. `some`: programs run behind the part of it that there is. */
  readonly unwalled?: {
    readonly mode: "ask" | "run";
    readonly reason: string;
    readonly some: boolean;
  };
}
/** Runs a program behind the kernel wall. Where that is not whole, the user is asked first, unless a setting says
 * otherwise. Rejects if the program may not run. */
export type Spawn = (argv: readonly string[], options?: SpawnOptions) => Promise<Spawned>;
/** A bundle of functions, constants, prompt and nudge. docs/extend/spec.md explains every key. */
export interface Extension {
  /** Unique; used for replacement and by `requires`. */
  readonly namespace: string;
  /** All symbols are under it: `search.find`. */
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
  readonly readOnly?: true | Readonly<{
    symbols: readonly string[];
    prompt: NonNullable<Extension["prompt"]>;
  }>;
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
export type ReplyExample = Readonly<{
  thinking: string;
  code: string;
  timeMs: number;
  answer: string;
}>;
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
  readonly outcome?: (result: any) => string | CallOutcome;
  /** Bytes that a call may hold in memory while it runs, for one that holds many: calls wait until theirs fit. */
  readonly room?: number | ((...args: readonly unknown[]) => number);
  readonly before?: Before;
  readonly after?: After;
  readonly onError?: OnError;
}
/** A host function: gets the call's environment, then the model's arguments. If it throws, the model sees the
 * message. */
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
  readonly ask?: (prompt: string, options?: {
    readonly model?: string;
    readonly system?: string;
  }) => Promise<string>;
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
export type ObeyedPath = Readonly<{
  path: string;
  reason: string;
  running: string | null;
}>;
/** `line` is 1-based. */
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
  /** The route that serves the query unless it fails. */
  readonly root: {
    readonly provider: string;
    readonly model: string;
  };
}
export interface VarIndexFacts {
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
export type Scoped = Readonly<{
  scope?: "conversation" | "workspace" | "global";
  workspace?: string;
}>;
/** `env.store`: JSON under keys of up to 200 characters. It belongs to this conversation unless `scope` is "workspace",
 * for all conversations there, or "global". A command has no conversation, so that it names one of the others. Each
 * change creates a version, and the last 1000 versions of a key are kept; a value has at most 1 MiB of JSON, a scope at
 * most 10 000 keys. A fork sees the state of its conversation at the time it was made. Rejects with TypeError if the
 * value is not JSON, and with the limit that was exceeded. */
export interface OwnStore {
  /** Stores the value; the same value creates no version. With `ifVersion` it rejects if another version is the
   * newest; 0 means that the key must not exist. */
  put(key: string, value: JsonValue, options?: Scoped & {
    readonly ifVersion?: number;
  }): Promise<{
    version: number;
  }>;
  /** Undefined if there is no such key. */
  get(key: string, options?: Scoped & {
    readonly version?: number;
  }): Promise<JsonValue | undefined>;
  /** Newest first; a version without a value is a deletion. 100 by default. */
  history(key: string, options?: Scoped & {
    readonly limit?: number;
  }): Promise<readonly StateVersion[]>;
  /** Sorted by key; 100 by default. */
  list(options?: Scoped & {
    readonly prefix?: string;
    readonly limit?: number;
  }): Promise<readonly StateEntry[]>;
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
export type PrevExpression = Readonly<Record<"code" | "preview" | "stdout" | "stderr", string>> & Readonly<{
  result: unknown;
  error?: string;
  executionTimeMs: number;
  timedOut: boolean;
  repaired: boolean;
}>;
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
export type DoctorCheck = Readonly<{
  name: string;
  state: "ok" | "warn" | "fail";
  found: string;
  fix: string;
}>;
/** `vis reindex DOCS --limit 5`: required keys of `args` are positional, optional ones are flags. */
export interface CliCommand {
  readonly name: string;
  readonly doc: string;
  readonly args?: z.ZodObject;
  /** Returns the exit code; 0 if it returns nothing. */
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
declare const REALM_SCRIPTS: unique symbol;
/** An extension in the registry: optional keys have their defaults, `prompt` is a function. */
export interface NormalExtension extends Extension {
  readonly group: string;
  readonly subgroup: string;
  readonly requires: readonly string[];
  readonly activate: (env: EnvironmentView) => unknown;
  readonly prompt: (env: EnvironmentView) => string | Promise<string>;
  readonly symbols: NonNullable<Extension["symbols"]>;
  readonly [REALM_SCRIPTS]?: Readonly<Record<string, string>>;
}
/** Checks everything that does not depend on other extensions, and fills in optional keys. Throws TypeError that names
 * key and extension. */
declare function validateExtension(spec: Extension): NormalExtension;
/** Runs tasks while their amounts together are at most `limit`, in the order of their requests. An amount is 1 by
 * default, so that a limit of 1 makes a mutex; it may also be bytes. One above the limit counts as the limit and runs
 * alone. */
export declare class Semaphore {
  #private;
  constructor(limit?: number, cancelled?: () => Error);
  /** The amounts that are running, together. */
  get open(): number;
  /** Runs the work as soon as it fits. Rejects without running it if the signal is aborted before that. */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  runAmount<T>(amount: number, { work, signal }: {
    readonly work: () => Promise<T>;
    readonly signal: AbortSignal | undefined;
  }): Promise<T>;
  /** Resolves when the caller has the amount, to be returned with `release`. */
  acquire(signal?: AbortSignal, amount?: number): Promise<void>;
  release(amount?: number): void;
}
/** Settles as the work does, or rejects with the signal's reason if that comes first. The work itself continues. */
export declare function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T>;
/** Keeps long synchronous work from blocking the process: check `due` often, and rest when it is true. */
export declare class Pace {
  #private;
  constructor(signal?: AbortSignal);
  get due(): boolean;
  /** Lets other work run first. Throws the signal's reason once it is aborted. */
  rest(): Promise<void>;
}
/** Whether the work settled, either way, before the time was up. */
export declare function settledWithin(work: Promise<unknown>, ms: number): Promise<boolean>;
/** A map that drops the entry set longest ago once it has more than `most` entries. Reading does not change the order,
 * so it is safe to read while iterating; set an entry again to keep it. */
export declare class BoundedMap<K, V> extends Map<K, V> {
  #private;
  constructor(most: number);
  set(key: K, value: V): this;
}
/** Bytes that arrive in pieces. However small the pieces are, they take little more memory than their bytes. */
export declare class ByteBuffer {
  #private;
  get length(): number;
  /** The bytes are valid until the next change. */
  get bytes(): Uint8Array<ArrayBuffer>;
  /** Copies the piece. */
  push(piece: Uint8Array): void;
  /** Keeps only so many of the newest bytes. */
  keepLast(count: number): void;
  clear(): void;
}
/** A text is written as bytes in this format. */
export interface TextFormat {
  /** The name is the one that `TextDecoder` uses. */
  readonly encoding: string;
  /** Whether the bytes begin with a byte order mark, which the text does not have. */
  readonly hasMark: boolean;
  /** Whether nothing in the bytes says that it is this encoding. */
  readonly isGuess: boolean;
}
export interface DecodedText extends TextFormat {
  readonly text: string;
  /** This many characters replace bytes that are invalid in the encoding: writing the text back would lose them. */
  readonly replaced: number;
}
/** The text of bytes from outside: in the given encoding, or by their byte order mark, as UTF-8, or by a guess. Null if
 * they are binary. */
export declare function decodeText(bytes: Uint8Array, encoding?: string): DecodedText | null;
/** One setting of a git configuration, with section and key in lower case. */
export interface GitSetting {
  readonly section: string;
  readonly subsection: string | null;
  readonly key: string;
  readonly value: string;
}
/** The settings of a file, in order, as git reads them: headers and keys may share a line. What git does not understand
 * is skipped up to the end of its line. */
export declare function parseGitConfig(text: string): readonly GitSetting[];
/** The user's own git configuration, with the files that it includes. */
export declare function userGitSettings({ home, gitDir }: {
  readonly home: string | null;
  readonly gitDir: string;
}): Promise<readonly GitSetting[]>;
/** Whether nobody on the network can answer in place of this address: https, or this machine. */
export declare function isSecureUrl(text: string): boolean;
/** Replaces a file as a whole: readers see the old or the new text, and after an error the old one. Without `mode` only
 * its owner can read it. The folder must exist. */
export declare function replaceFile(path: string, text: string, { mode }?: {
  mode?: number | undefined;
}): Promise<void>;
/** Creates an empty file if there is none, with an owner as in `inheritOwner`. */
export declare function ensureFile(path: string, { mode }?: {
  mode?: number | undefined;
}): Promise<void>;
/** Creates a folder, and the folders above it, where they are missing, with owners as in `inheritOwner`. Only their
 * owner can enter them. */
export declare function ensureFolder(path: string, { mode }?: {
  mode?: number | undefined;
}): Promise<void>;
export interface ReadOptions {
  /** Whether a link at the end is followed. */
  readonly links?: boolean;
  readonly most?: number;
  /** Whether the text, written again, must give the same bytes: its byte order mark is kept, and a file in another
   * encoding is refused. */
  readonly exact?: boolean;
}
/** Text of a file; null if it is missing, not a regular file, or larger than any configuration. Links are followed only
 * in the user's own files: those of a repository may lead anywhere. */
export declare function smallTextFile(path: string, { links, most }?: ReadOptions): Promise<string | null>;
export interface FirstEntries {
  /** The entries have the order of the system. */
  readonly entries: readonly Deno.DirEntry[];
  /** Whether the folder has more of them. */
  readonly hasMore: boolean;
}
/** The entries of a folder, at most `most` of them. Where the system allows it, no more are read: all of 300,000 would
 * take a tenth of a gigabyte, and stop this process for half a second. Throws the system's errors. */
export declare function firstEntries(path: string, { most, os }: {
  readonly most: number;
  readonly os?: string;
}): Promise<FirstEntries>;
/** Whether a text matches a pattern in which `*` stands for any text. Linear: no pattern can hang it. */
export declare function matchesWildcard(pattern: string, text: string): boolean;
/** Whether a path relative to the workspace is that of a secret file, whatever its case. A pattern without `/` is that
 * of a name. */
export declare function isSecretFile(path: string, patterns: readonly string[]): boolean;
/** The name that was probably meant: at most a third of the letters differ. Null if none is close. */
export declare function nearestName(asked: string, names: readonly string[]): string | null;
/** The three names most similar to an unknown one, nearest first. A name that is part of the other counts as close. */
export declare function nearestNames(asked: string, names: readonly string[]): readonly string[];
/** The number of letters to insert, remove, replace or swap with their neighbour (optimal string alignment). */
export declare function editDistance(one: string, other: string): number;
/** The message of an error; anything else that was thrown, as text. */
export declare function messageOf(error: unknown): string;
/** The same, for use after a colon: starts in lower case unless the first word is a name. */
export declare function reasonOf(error: unknown): string;
/** A command as a question shows it: where it runs, its variables and its input, then every word of it. */
export declare function commandText(command: string | readonly string[], { cwd, env, input }: {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}): string;
export interface SchemaTextOptions {
  /** The schema to which references belong; the schema itself if absent. */
  readonly root?: unknown;
  /** Foreign schemas get the descriptions of top-level keys as comments, and their `tsType` is ignored. */
  readonly notes?: boolean;
}
/** Converts a JSON Schema to a TypeScript type; bounded for any schema. A type that JSON Schema cannot express names
 * itself with `tsType`. */
export declare function schemaText(schema: unknown, { root, notes }?: SchemaTextOptions): string;
/** Validates an extension and fills in its optional keys. Throws TypeError that names the key and the extension. */
export declare function defineExtension(spec: Extension): NormalExtension;

export {
  validateExtension as validate,
  z,
};

export {};
