/** Types of @vis/extension/testing: those of src/extension/testing.ts. */
import type { EnvironmentView, Extension, NudgeContext } from "@vis/extension";

/** Registers a test, for `vis extensions test` and for `deno test`: it fails if `run` throws or rejects. */
export declare function test(name: string, run: () => unknown): void;

/** Registers an extension as a session would. Rejects if it is invalid, or its section of the configuration is. */
export declare function testExtension(extension: Extension, options?: TestOptions): Promise<TestedExtension>;

export interface TestOptions {
  /** Keys of the environment; those that are absent are as in a conversation in the folder "/". */
  readonly env?: Partial<EnvironmentView>;
  /** Its section of the configuration. */
  readonly config?: unknown;
  /** Extensions that it requires. */
  readonly others?: readonly Extension[];
  /** Receives what the extension would log. */
  readonly log?: (event: string, data: Readonly<Record<string, unknown>>) => void;
}

export interface TestedExtension {
  /** What `activate` decided. */
  readonly isActive: boolean;
  /** What the model reads about it. */
  readonly prompt: string;
  /** Calls a function as a block would, by the name that it has there ("search.find"): with the checks of its arguments
   * and its hooks. Rejects with the error that the model would see. */
  call(name: string, ...args: readonly unknown[]): Promise<unknown>;
  /** What `doc` shows of a function, or of all of it; null if there is no such name. */
  doc(name: string): string | null;
  /** Resolves with the extension's nudge for the next context, or with null. */
  nudge(context?: Partial<NudgeContext>): Promise<string | null>;
}
