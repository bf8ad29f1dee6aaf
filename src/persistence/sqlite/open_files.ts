import { StoreError } from "../../domain/errors.ts";

const LOGS = ["-wal", "-shm"] as const;

/** The files of an open database: whether those at its path are still the ones that are open. SQLite keeps writing to
 * files that were removed or renamed, and whoever opens the path afterwards does not find what it wrote. */
export class OpenFiles {
  readonly #path: string;
  readonly #database: string;
  #logs: readonly (readonly [path: string, identity: string])[] = [];

  /** The file that is about to be opened: a replacement during opening is detected too. */
  constructor(path: string) {
    this.#path = path;
    this.#database = identityOf(path);
  }

  /** Call it once the log files exist. They are next to the file that a link leads to. */
  opened(): void {
    const real = Deno.realPathSync(this.#path);
    this.#logs = LOGS.map((suffix) => [`${real}${suffix}`, identityOf(`${real}${suffix}`)]);
  }

  /** What happened to the files and what to do; "" if they are unchanged. */
  fault(): string {
    const now = identityOf(this.#path);
    if (now === "") {
      return "it was removed or renamed while it was in use, and what was written since then is not at this path; " +
        "put that file back under its name, or start again";
    }
    if (now !== this.#database) {
      return "another file took its place while it was in use, and what was written since then is not in that file; " +
        "start again to use it";
    }
    if (this.#logs.every(([path, identity]) => identityOf(path) === identity)) return "";
    return "its log (-wal or -shm) was removed or replaced while it was in use, and what was written since then may " +
      "be lost; end every process that uses it, then see what vis db check says";
  }

  /** Throws `StoreError` if something happened to the files. */
  check(): void {
    const fault = this.fault();
    if (fault !== "") throw new StoreError(`Cannot use database ${this.#path}: ${fault}`, "moved");
  }
}

/** "" if nothing exists at a path. */
function identityOf(path: string): string {
  try {
    const { dev, ino } = Deno.statSync(path);
    return `${dev} ${ino}`;
  } catch {
    return "";
  }
}
