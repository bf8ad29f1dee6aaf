/** The types of `@vis/extension/testing`, which `src/extension/testing.ts` implements. */
import type { EnvironmentView, Extension, NudgeContext } from "@vis/extension";

/** Registers a test for `vis extensions test` and for `deno test`. The test fails if `run` throws or rejects. */
export declare function test(name: string, run: () => unknown): void;

/** Registers an extension as a session would. Rejects if the extension or its section of the settings is invalid. */
export declare function testExtension(extension: Extension, options?: TestOptions): Promise<TestedExtension>;

export interface TestOptions {
  /** Keys of the environment. By default, the keys describe a conversation in the folder "/". */
  readonly env?: Partial<EnvironmentView>;
  /** The extension's section of the settings. */
  readonly config?: unknown;
  /** Extensions that the extension requires. */
  readonly others?: readonly Extension[];
  /** Receives the entries that the extension would log, without the level "debug". */
  readonly log?: (event: string, data: Readonly<Record<string, unknown>>) => void;
}

export interface TestedExtension {
  /** The result of `activate`. */
  readonly isActive: boolean;
  /** The section of the extension in the system message; with `shown: 0`, also a line for each symbol. */
  readonly prompt: string;
  /** Calls a function by its name in a block (`"search.find"`), with its hooks and the checks of its arguments. Rejects
   * with the error that the model would see. */
  call(name: string, ...args: readonly unknown[]): Promise<unknown>;
  /** Returns the text that `doc(name)` shows for a function or the whole extension, or null for an unknown name. */
  doc(name: string): string | null;
  /** Resolves with the extension's nudge for the next context, or with null. */
  nudge(context?: Partial<NudgeContext>): Promise<string | null>;
}
