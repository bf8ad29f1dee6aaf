/** How `env.spawn` is asked for a program. */
export interface SpawnOptions {
  /** Relative to the workspace, and inside it; the workspace where absent. */
  readonly cwd?: string;
  /** Beside the few variables that every program gets. */
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input; empty where absent. A stream is read as the program takes it, and ends its input with its end. */
  readonly input?: string | ReadableStream<Uint8Array<ArrayBuffer>>;
  /** 120 000 where absent. Everything that the program started ends with it. */
  readonly timeoutMs?: number;
  /** Of each of the two outputs: its begin and its end are kept. 1 MiB where absent. */
  readonly maxBytes?: number;
  /** Ends the program as the time limit does; `spawn` then rejects with the reason. */
  readonly signal?: AbortSignal;
  /** Asks the program to end by SIGTERM, makes it end two seconds later; `spawn` resolves with how it ended. */
  readonly stop?: AbortSignal;
  /** Outputs as they come, beside what the result keeps of them. Must not throw. The bytes are the callee's. */
  readonly onOutput?: (output: "stdout" | "stderr", bytes: Uint8Array<ArrayBuffer>) => void;
  /** The call where absent: the program ends with it. With the conversation it goes on until that is closed. */
  readonly lifetime?: "call" | "conversation";
  /** Absolute paths that the program may change, in place of the workspace; its temporary folder it may in any case. */
  readonly write?: readonly string[];
  /** Absolute paths beside the usual ones that it may read and run. */
  readonly read?: readonly string[];
  /** TCP to anywhere or no network, whatever the configuration gives commands. */
  readonly network?: boolean;
}

/** How a program ended. One that failed is a result; `spawn` rejects only where none ran. */
export interface Spawned {
  /** 128 and the number of the signal, where one ended it. */
  readonly code: number;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
  readonly timedOut: boolean;
  /** Whether an output was longer than `maxBytes`. */
  readonly truncated: boolean;
  /** What Vis did about it, in sentences: processes that were left and ended, files that were put back. */
  readonly notes: readonly string[];
}

/** Runs a program behind the kernel wall. Never without the wall: rejects where the machine has none. */
export type Spawn = (argv: readonly string[], options?: SpawnOptions) => Promise<Spawned>;
