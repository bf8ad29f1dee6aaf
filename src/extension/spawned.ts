import type { Approval, ApprovalRequest } from "../domain/query/approval.ts";

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
  readonly hideSecrets?: { readonly except: readonly string[]; readonly instead: string };
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

/** If the wall is incomplete, Vis asks the user about each program, runs it, or refuses it. */
export type UnwalledMode = "ask" | "run" | "off";

/** The extension that starts a program, and how it asks the user; null outside calls that may take any time. */
export interface SpawnCaller {
  readonly extension: string;
  readonly ask: ((request: ApprovalRequest) => Promise<Approval>) | null;
}

/** A lasting answer covers these scopes of a program's network and runs these files of the workspace; or a reason
 * says why the user is asked every time. */
export type NetworkScopes =
  | { readonly scopes: readonly string[]; readonly runs: readonly string[] }
  | { readonly never: string };

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
  readonly unwalled?: { readonly mode: "ask" | "run"; readonly reason: string; readonly some: boolean };
}

/** Runs a program behind the kernel wall. Where that is not whole, the user is asked first, unless a setting says
 * otherwise. Rejects if the program may not run. */
export type Spawn = (argv: readonly string[], options?: SpawnOptions) => Promise<Spawned>;
