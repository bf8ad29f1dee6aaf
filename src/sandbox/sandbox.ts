import type { FormerResults } from "../domain/query/calls.ts";
import type { BlockCall, BlockResult } from "../domain/query/query_schemas.ts";
import type { VariableImage } from "../domain/query/variable.ts";

/** The walls that are in place. The child reports the walls when it is ready. */
export interface Walls {
  readonly realm: boolean;
  readonly permissions: boolean;
  readonly process: boolean;
  /** Landlock's ABI (0 if absent), and whether the system call filter is installed. */
  readonly kernel: { readonly landlock: number; readonly seccomp: boolean };
  readonly failed: readonly string[];
}

export interface SandboxLimits {
  /** The limit of heap and buffers in bytes, in addition to the idle child's mappings. */
  readonly memoryBytes: number;
  /** The limit of stdout and stderr of one block together, in bytes. The rest is only counted. */
  readonly outputBytes: number;
  readonly graceMs: number;
  readonly previewChars: number;
}

/** A function call from the sandbox. `signal` aborts when the block's deadline passes or the query ends. */
export interface HostCall {
  /** A bare name is a built-in function. */
  readonly name: string;
  readonly args: readonly unknown[];
  readonly block: number;
  readonly signal: AbortSignal;
  /** The block's result records these facts, besides name and time. */
  readonly told?: (facts: Omit<BlockCall, "name" | "ms">) => void;
}

export interface SandboxOptions {
  /** Each name is "alias.name" or a bare name. */
  readonly functions: readonly string[];
  readonly constants: Readonly<Record<string, unknown>>;
  /** May throw. The model sees the error's name, message and `hint`, never its stack. */
  readonly onCall: (call: HostCall) => Promise<unknown>;
  readonly onOutput?: (chunk: { readonly stream: 1 | 2; readonly text: string }) => void;
  readonly limits: SandboxLimits;
  readonly grants: Grants;
  /** The namespaces of extensions with a grant to write, for errors. */
  readonly writers?: readonly string[];
  /** Platform globals for the realm, with the names of domain/sandbox_grants.ts. Each global needs a grant. */
  readonly globals?: readonly string[];
  /** Scripts of modules by their bare names in the realm, in order of evaluation. */
  readonly modules?: Readonly<Record<string, string>>;
  /** Called when a module threw or was stopped, so that its name is missing. `ended` means that the module ended the
   * child. */
  readonly onModuleFailed?: (module: FailedModule) => void;
  /** The base of relative paths in grants, which are refused if it is absent. */
  readonly workspace?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** A command to which the child's command line is appended. The command must pass stdio through to the child. The
   * first word of the command is a path, and the command's environment is as empty as the child's. If absent, the child
   * is started directly. */
  readonly launcher?: readonly string[];
  /** Functions whose time does not count against a block's deadline while the block waits for no other work. */
  readonly untimed?: readonly string[];
  /** Names that similar tools have and the results of a function lack, each with the name to use instead. Reading such
   * a name from an object of a result throws. "commits.sha" belongs to the objects in `commits`. */
  readonly misnamed?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly signal?: AbortSignal;
}

export interface FailedModule {
  readonly name: string;
  readonly reason: string;
  readonly ended: boolean;
}

export interface BlockRun {
  readonly code: string;
  /** The 1-based iteration and 0-based index of the block, for `results[i]` and for positions in errors. */
  readonly iteration: number;
  readonly index: number;
  readonly deadlineMs: number;
  /** Aborting cancels the block, whose outcome is then "cancelled". Variables stay if the child can stop the block. */
  readonly signal?: AbortSignal;
}

export interface RunReport {
  readonly result: BlockResult;
  /** New versions that this block created, functions and data alike, in order of definition. */
  readonly saved: readonly VariableImage[];
  readonly reads: readonly string[];
  /** For each variable that the block defines or assigns at its top level, the names to which its defining and changing
   * statements refer. Null for a block with too many names: all `reads` then count for each variable. */
  readonly madeFrom: ReadonlyMap<string, readonly string[]> | null;
  /** Codec bytes of the block's value if they are at most 1 MiB, otherwise null. */
  readonly value: Uint8Array<ArrayBuffer> | null;
  readonly literal: boolean;
  /** Stray errors and rejections since the last report, up to a limit. */
  readonly notes: readonly string[];
}

/** The resolved text of a final answer (docs/internals/protocol.md, "Finals", step 2). */
export type RenderReport =
  | { readonly ok: true; readonly from: "variable" | "template" | "literal"; readonly text: string }
  | { readonly ok: false; readonly reason: string };

export interface VariableRestoreReport {
  readonly name: string;
  readonly how: "data" | "eval" | "skipped" | "lost";
  readonly reason: string;
}

interface BindOptions {
  readonly user?: boolean;
  readonly part?: BindPart;
}
type BindPart = "whole" | "more" | "last";

/** A confined child. Once the child has ended, methods other than `run` and `close` reject with `SandboxEnded`; `run`
 * never rejects, but reports the outcome "killed", "memory" or "cancelled". Only one call of `run` or `render` is
 * allowed at a time. */
export interface Sandbox {
  readonly pid: number;
  readonly walls: Walls;
  readonly ended: boolean;
  /** Settles when the child has been reaped, however it ended. */
  readonly gone: Promise<unknown>;
  run(block: BlockRun): Promise<RunReport>;
  render(template: string, options: { readonly deadlineMs: number }): Promise<RenderReport>;
  /** Binds data and evaluates sources in the order of `requires`, with host calls disabled. */
  restore(images: readonly VariableImage[]): Promise<readonly VariableRestoreReport[]>;
  /** Sets `results` and `printed` to the values of the earlier child that this child replaces. */
  restoreResults(results: FormerResults): Promise<void>;
  /** Sets a system variable (`$query`) or a user variable. The value goes through the codec. A system variable may be
   * sent with the next request, which sees it. The child joins text in parts ("more", … "last"). The caller stores such
   * a text, so blocks do not save the text while it is unchanged. */
  bind(name: string, value: unknown, options?: BindOptions): Promise<void>;
  /** Returns the value of a variable, through the codec. Rejects with RangeError above `maxBytes`. */
  read(name: string, options: { readonly maxBytes: number }): Promise<unknown>;
  /** Removes user variables from the scope. Ignores unknown names. */
  forget(names: readonly string[]): Promise<void>;
  /** Cancels timers and pending host calls when a query has ended. If the child reported that nothing was pending, the
   * message is sent with the next request. */
  endQuery(): Promise<void>;
  /** Kills the child, waits for its end and removes its working folder. Further calls have no effect. */
  close(): Promise<void>;
}

/** Permissions that active extensions grant to the sandbox itself. The empty value grants none. */
export interface Grants {
  readonly net: readonly string[];
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly env: readonly string[];
}

export const NO_GRANTS: Grants = { net: [], read: [], write: [], env: [] };

export type WallName = "realm" | "permissions" | "process" | "kernel";

/** The wall `kernel` is Landlock and the system call filter together. */
export function missingWalls(walls: Walls, wanted: readonly WallName[]): readonly WallName[] {
  return wanted.filter((name) => !holds(walls, name));
}

function holds(walls: Walls, name: WallName): boolean {
  if (name === "kernel") return walls.kernel.landlock > 0 && walls.kernel.seccomp;
  return walls[name];
}

export function bareReport(result: BlockResult): RunReport {
  return { result, saved: [], reads: [], madeFrom: new Map(), value: null, literal: false, notes: [] };
}
