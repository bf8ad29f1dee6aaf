import type { ExtensionCheck, ExtensionCommandFacts, ExtensionFacts, TrustFacts } from "./extension_report.ts";

interface CommandUser {
  readonly print: (text: string) => void;
  readonly ask?: (question: string) => Promise<string>;
  /** Ends the command and its programs; it then rejects with `Cancelled`. */
  readonly signal?: AbortSignal;
  /** A setting that the command sees although no file has it. */
  readonly candidate?: { readonly key: string; readonly value: unknown };
}

/** Extensions of this workspace. Every method rejects with `UsageError` if what was requested does not exist, and with
 * `ConfigError` if settings or folders cannot be used. */
export interface ExtensionAdmin {
  list(): Promise<readonly ExtensionFacts[]>;
  /** What the model reads about an extension, including all of its functions. */
  show(name: string): Promise<ExtensionFacts & { readonly text: string }>;
  /** Checks one folder; with null, everything that is found. */
  check(path: string | null): Promise<readonly ExtensionCheck[]>;
  /** Runs the tests of one folder. */
  test(path: string): Promise<readonly ExtensionCheck[]>;
  /** Gives the turn each time files below the folder were changed, until the process ends. */
  changes(path: string): AsyncIterable<void>;
  /** Writes a working extension; resolves with its folder. */
  create(name: string): Promise<string>;
  /** Copies a folder, an archive or a package (npm:name@version) to the user's extensions; resolves with the new
   * folder. */
  add(from: string, options: { readonly replace: boolean }): Promise<string>;
  /** Deletes one of the user's extensions; resolves with its folder. */
  remove(name: string): Promise<string>;
  /** Extension folders of this project, or the named one. None of their code is run. */
  trustable(path: string | null): Promise<readonly TrustFacts[]>;
  /** Rejects if the content of the folder has changed since. */
  trust(facts: TrustFacts): Promise<void>;
  distrust(path: string): Promise<boolean>;
  /** Commands that extensions add to the program, from a cached list if nothing has changed. */
  commands(): Promise<readonly ExtensionCommandFacts[]>;
  /** Runs a command of an extension, which without `ask` cannot ask the user; null if no extension has it. */
  run(args: readonly string[], user: CommandUser): Promise<number | null>;
}
