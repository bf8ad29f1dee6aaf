import type { FormerResults } from "../domain/query/host_call.ts";
import type { BlockCall, BlockResult } from "../domain/query/query_schemas.ts";
import type { VariableImage } from "../domain/query/variable.ts";

export interface Walls {
  readonly realm: boolean;
  readonly permissions: boolean;
  readonly process: boolean;
  readonly kernel: { readonly landlock: number; readonly seccomp: boolean };
  readonly failed: readonly string[];
}

export interface SandboxLimits {
  /** The limit covers heap and buffers of the child, but not the memory that an idle child maps. */
  readonly memoryBytes: number;
  readonly outputBytes: number;
  readonly graceMs: number;
  readonly previewChars: number;
}

/** `signal` aborts when the time of the block ends, when the block is cancelled, and when the query or the child
 * ends. */
export interface HostCall {
  readonly name: string;
  readonly args: readonly unknown[];
  readonly block: number;
  readonly iteration: number;
  /** Returns true once the block has ended, although this call has not. */
  readonly isLate: () => boolean;
  readonly signal: AbortSignal;
  readonly told?: (facts: Omit<BlockCall, "name" | "ms">) => void;
}

export interface SandboxOptions {
  readonly functions: readonly string[];
  readonly constants: Readonly<Record<string, unknown>>;
  /** If `onCall` throws, the model sees the error without its stack. */
  readonly onCall: (call: HostCall) => Promise<unknown>;
  readonly onOutput?: (chunk: { readonly stream: 1 | 2; readonly text: string }) => void;
  readonly limits: SandboxLimits;
  readonly grants: Grants;
  readonly granted?: readonly { readonly namespace: string; readonly grants: Grants }[];
  readonly globals?: readonly string[];
  readonly modules?: Readonly<Record<string, string>>;
  readonly onModuleFailed?: (module: FailedModule) => void;
  /** Relative paths in grants start here; without a workspace, the sandbox refuses relative paths. */
  readonly workspace?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** The sandbox appends the command line of the child to this command, which must pass stdio through. The first word
   * is an absolute path, because the command has no PATH. */
  readonly launcher?: readonly string[];
  /** The time of these functions does not count against a deadline while the block waits for no other work. */
  readonly untimed?: readonly string[];
  /** A block gets an error if it reads one of these names from a result that lacks the name. The key "commits.sha"
   * means `sha` of the objects in `commits`. */
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
  /** `iteration` counts from 1, `index` from 0. */
  readonly iteration: number;
  readonly index: number;
  readonly deadlineMs: number;
  /** If the child cannot stop the aborted block, Vis kills the child. */
  readonly signal?: AbortSignal;
}

export interface RunReport {
  readonly result: BlockResult;
  readonly saved: readonly VariableImage[];
  readonly reads: readonly string[];
  /** Each variable that the block assigns has the names in the statements that define or change it. Null means that
   * `reads` count for each of these variables. */
  readonly madeFrom: ReadonlyMap<string, readonly string[]> | null;
  /** Null if the block has no value, or if the codec cannot encode the value in at most 1 MiB. */
  readonly value: Uint8Array<ArrayBuffer> | null;
  readonly literal: boolean;
  readonly notes: readonly string[];
}

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

export interface RenderOptions {
  readonly deadlineMs: number;
  readonly json?: boolean;
}

/** After the child's end, `run` reports "killed", "memory" or "cancelled", and other methods except `close` reject with
 * `SandboxEnded`. A caller must not overlap calls of `run` and `render`. */
export interface Sandbox {
  readonly pid: number;
  readonly walls: Walls;
  readonly ended: boolean;
  /** This promise settles when the system has reaped the child. */
  readonly gone: Promise<unknown>;
  run(block: BlockRun): Promise<RunReport>;
  render(template: string, options: RenderOptions): Promise<RenderReport>;
  /** Binds data and evaluates sources, functions first and then by `requires`, with host calls disabled. */
  restore(images: readonly VariableImage[]): Promise<readonly VariableRestoreReport[]>;
  restoreResults(results: FormerResults): Promise<void>;
  /** A system variable may wait for the next message to the child. The caller stores a text that it sends in parts, so
   * blocks do not save the text while it is unchanged. */
  bind(name: string, value: unknown, options?: BindOptions): Promise<void>;
  read(name: string, options: { readonly maxBytes: number }): Promise<unknown>;
  /** Returns the variable as it is now, also while a block runs. Returns null without a variable, for a large text that
   * the child has not loaded, and for a large value that equals its stored version. */
  present(name: string): Promise<VariableImage | null>;
  forget(names: readonly string[]): Promise<void>;
  /** Cancels timers and pending host calls of a query that has ended. If the child reported no pending work, the
   * cancellation waits for the next message to the child. */
  endQuery(): Promise<void>;
  close(): Promise<void>;
}

export interface Grants {
  readonly net: readonly string[];
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly env: readonly string[];
}

export const NO_GRANTS: Grants = { net: [], read: [], write: [], env: [] };

export type WallName = "realm" | "permissions" | "process" | "kernel";

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
