import { UsageError } from "../../domain/errors.ts";
import type { TreeEntry } from "./_list_tree.ts";

export interface CopyLimits {
  readonly bytes: number;
  readonly entries: number;
}

/** Counts the size of a copy. */
export class Budget {
  readonly #limits: CopyLimits;
  readonly #refuse: (why: string) => UsageError;
  #entries = 0;
  files = 0;
  bytes = 0;

  constructor(limits: CopyLimits, refuse: (why: string) => UsageError) {
    this.#limits = limits;
    this.#refuse = refuse;
  }

  /** Throws `UsageError` for the entry that exceeds the limit. */
  take({ info }: TreeEntry): void {
    this.#entries++;
    if (info.isFile) {
      this.files++;
      this.bytes += info.size;
    }
    const { bytes, entries } = this.#limits;
    if (this.bytes > bytes) throw this.#refuse(`it holds more than ${Math.floor(bytes / 2 ** 20)} MiB`);
    if (this.#entries > entries) throw this.#refuse(`it holds more than ${entries} files and folders`);
  }
}
