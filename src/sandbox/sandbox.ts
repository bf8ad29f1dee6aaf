import type { BlockResult } from "../domain/query/block_result.ts";
import type { VariableImage } from "../domain/query/variable.ts";
import type { Grants } from "./grants.ts";

/** Which walls hold, as the child itself found after setting them. */
export interface Walls {
  readonly realm: boolean;
  readonly permissions: boolean;
  readonly process: boolean;
  /** Landlock's ABI (0: absent) and whether the system call filter is installed. */
  readonly kernel: { readonly landlock: number; readonly seccomp: boolean };
  /** What could not be set, in plain words. */
  readonly failed: readonly string[];
}

export interface SandboxLimits {
  /** Heap and buffers over what the idle child maps, in bytes. */
  readonly memoryBytes: number;
  /** Kept of stdout + stderr of one block, in bytes; the rest is counted. */
  readonly outputBytes: number;
  /** After a block's deadline, before the child is killed. */
  readonly graceMs: number;
  /** Caps of one value's preview, in characters. */
  readonly previewChars: number;
}

/** A function call from the sandbox. `signal` aborts when the block's deadline passes or the query ends. */
export interface HostCall {
  /** "search.find", or a bare name for the functions in scope by default. */
  readonly name: string;
  readonly args: readonly unknown[];
  /** 0-based index of the block that started it. */
  readonly block: number;
  readonly signal: AbortSignal;
}

export interface SandboxOptions {
  /** Names that the realm gets: "alias.name" or a bare name. */
  readonly functions: readonly string[];
  /** "alias.name" to a constant that the codec covers. */
  readonly constants: Readonly<Record<string, unknown>>;
  /** May throw: the error's name, message and `hint` reach the model, never its stack. */
  readonly onCall: (call: HostCall) => Promise<unknown>;
  readonly onOutput?: (chunk: { readonly stream: 1 | 2; readonly text: string }) => void;
  readonly limits: SandboxLimits;
  readonly grants: Grants;
  /** Platform globals for the realm, by the names of domain/grants/realm_globals.ts; each needs a grant. */
  readonly globals?: readonly string[];
  /** Scripts of modules by the bare names that the realm gets, in the order in which they are evaluated. */
  readonly modules?: Readonly<Record<string, string>>;
  /** A module threw or was stopped, and its name is not there; `ended`: the child has ended of it. */
  readonly onModuleFailed?: (module: FailedModule) => void;
  /** Where relative paths of grants begin. */
  readonly workspace?: string;
  /** Values of the variables that `grants.env` may name. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** A command that the child's command line is appended to: whatever gives it stdio can carry the child. Its first
   * word is a path, and its environment is as empty as the child's. None: the child is started directly. */
  readonly launcher?: readonly string[];
  /** Functions whose time does not count to a block's deadline while the block waits for nothing else. */
  readonly untimed?: readonly string[];
  readonly signal?: AbortSignal;
}

export interface FailedModule {
  readonly name: string;
  readonly reason: string;
  readonly ended: boolean;
}

export interface BlockRun {
  readonly code: string;
  /** 1-based iteration and 0-based index of the block, for `results[i]` and for positions in errors. */
  readonly iteration: number;
  readonly index: number;
  readonly deadlineMs: number;
  /** Aborting cancels the block; its outcome is then "cancelled". Variables are kept where the loop can be stopped. */
  readonly signal?: AbortSignal;
}

export interface RunReport {
  readonly result: BlockResult;
  /** New versions that this block made, functions and data alike, in order of definition. */
  readonly saved: readonly VariableImage[];
  /** Names that the block refers to and does not define. */
  readonly reads: readonly string[];
  /** Codec bytes of the block's value where they are at most 1 MiB, else null. */
  readonly value: Uint8Array<ArrayBuffer> | null;
  /** True for a block that is a data literal alone. */
  readonly literal: boolean;
  /** Stray errors and rejections since the last report, bounded. */
  readonly notes: readonly string[];
}

/** How a final answer's text resolved (protocol.md, "Finals", step 2). */
export type RenderReport =
  | { readonly ok: true; readonly from: "variable" | "template" | "literal"; readonly text: string }
  | { readonly ok: false; readonly reason: string };

export interface VariableRestoreReport {
  readonly name: string;
  readonly how: "data" | "eval" | "skipped" | "lost";
  readonly reason: string;
}

export interface BindOptions {
  readonly user?: boolean;
  readonly part?: BindPart;
}
export type BindPart = "whole" | "more" | "last";

/** One confined child. Methods other than `close` reject with `SandboxEnded` once the child has ended; `run` never
 * rejects: it reports the outcome "killed" or "memory" instead. One call of `run` or `render` at a time. */
export interface Sandbox {
  readonly pid: number;
  readonly walls: Walls;
  /** Milliseconds from spawn to ready. */
  readonly startMs: number;
  /** True once the child has ended, by itself or killed. */
  readonly ended: boolean;
  /** Settles when the child has been reaped, however it ended. */
  readonly gone: Promise<unknown>;
  run(block: BlockRun): Promise<RunReport>;
  render(template: string, options: { readonly deadlineMs: number }): Promise<RenderReport>;
  /** Binds data, evaluates sources in the order of `requires` with host calls off. */
  restore(images: readonly VariableImage[]): Promise<readonly VariableRestoreReport[]>;
  /** Sets a name that is not the user's (`$query`) or a user variable; the value goes through the codec. The former may
   * wait for whatever is asked next, which sees it. A text in
   * parts ("more", … "last") is joined in the child; the caller keeps it, so that no block saves it as it is. */
  bind(name: string, value: unknown, options?: BindOptions): Promise<void>;
  /** The value of a variable through the codec; rejects with RangeError over `maxBytes`. */
  read(name: string, options: { readonly maxBytes: number }): Promise<unknown>;
  /** Removes user variables from the scope; unknown names are ignored. */
  forget(names: readonly string[]): Promise<void>;
  /** Cancels timers and pending host calls; called when a query ends. Where the child said that there are none, it is
   * told with whatever is asked next. */
  endQuery(): Promise<void>;
  /** Kills the child and waits for its end; removes its working folder. Idempotent. */
  close(): Promise<void>;
}
