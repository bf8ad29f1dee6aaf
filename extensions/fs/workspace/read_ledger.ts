import { BoundedMap } from "@vis/extension";

/** The state of a file when this conversation last read or wrote it. */
export interface Seen {
  readonly mtime: number;
  readonly size: number;
  /** SHA-256 of the bytes; null if only part was read. */
  readonly hash: Promise<string> | null;
  /** True if the text has other characters for some of the file's bytes, so that writing it back would lose data. */
  readonly lossy: boolean;
  /** As which its text was read; null if no text was. */
  readonly encoding: string | null;
}

const MAX_CONVERSATIONS = 64;
const MAX_FILES = 5_000;

/** Remembers for each conversation which state of a file its model knows. Bounded: the oldest entries are dropped, with
 * the only effect that changes to those files are not noticed. */
export class ReadLedger {
  readonly #seen = new BoundedMap<string, BoundedMap<string, Seen>>(MAX_CONVERSATIONS);

  remember(conversationId: string, path: string, seen: Seen): void {
    const files = this.#seen.get(conversationId) ?? new BoundedMap<string, Seen>(MAX_FILES);
    this.#seen.set(conversationId, files.set(path, seen));
  }

  find(conversationId: string, path: string): Seen | null {
    return this.#seen.get(conversationId)?.get(path) ?? null;
  }
}
