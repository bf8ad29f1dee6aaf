import type { Approval, ApprovalRequest } from "../domain/query/approval.ts";

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
  readonly asides?: { readonly token: string; readonly hear: (line: string) => void };
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
  readonly hideSecrets?: { readonly except: readonly string[]; readonly instead: string | null };
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

/** If the wall is incomplete, Vis asks the user about each program, runs programs, or refuses programs. */
export type UnwalledMode = "ask" | "run" | "off";

export interface SpawnCaller {
  readonly extension: string;
  /** Only an `untimed` function of a query that can ask the user has `ask`. */
  readonly ask: ((request: ApprovalRequest) => Promise<Approval>) | null;
}

/** A lasting approval covers these scopes of a program's network. `runs` has clauses about files of
 * the workspace that the program runs, such as "npm ci runs what package.json says". `never` is the reason why Vis asks the user every time. */
export type NetworkScopes =
  | { readonly scopes: readonly string[]; readonly runs: readonly string[] }
  | { readonly never: string };

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
  readonly unwalled?: { readonly mode: "ask" | "run"; readonly reason: string; readonly some: boolean };
}

/** The program runs behind the command wall. If the wall is incomplete, Vis asks the user first, unless a setting
 * decides. Rejects if the program may not run. */
export type Spawn = (argv: readonly string[], options?: SpawnOptions) => Promise<Spawned>;
