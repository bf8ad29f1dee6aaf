import type { Approval, ApprovalRequest } from "../domain/query/approval.ts";

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
  readonly asides?: { readonly token: string; readonly hear: (line: string) => void };
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
  readonly hideSecrets?: { readonly except: readonly string[]; readonly instead: string };
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

/** Whether Vis asks the user about each program, runs it, or refuses it if the wall is incomplete. */
export type UnwalledMode = "ask" | "run" | "off";

/** The extension that starts a program, and its function to ask the user. The function is null outside calls without a
 * time limit. */
export interface SpawnCaller {
  readonly extension: string;
  readonly ask: ((request: ApprovalRequest) => Promise<Approval>) | null;
}

/** The scopes of a program's network that a lasting approval covers, and the files of the workspace that the program
 * runs. `never` is the reason why Vis asks the user every time. */
export type NetworkScopes =
  | { readonly scopes: readonly string[]; readonly runs: readonly string[] }
  | { readonly never: string };

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
  readonly unwalled?: { readonly mode: "ask" | "run"; readonly reason: string; readonly some: boolean };
}

/** Runs a program behind the command wall. If the wall is incomplete, Vis asks the user first, unless a setting
 * decides. Rejects if the program may not run. */
export type Spawn = (argv: readonly string[], options?: SpawnOptions) => Promise<Spawned>;
