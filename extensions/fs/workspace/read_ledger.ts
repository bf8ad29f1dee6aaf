import { BoundedMap } from "@vis/extension";

/** What a file was when this conversation last read or wrote it. */
export interface Seen {
  readonly mtime: number;
  readonly size: number;
  /** SHA-256 of the bytes; null where only a part was read. */
  readonly hash: Promise<string> | null;
  /** True where the text was not the file's bytes (not UTF-8), so that writing it back would lose some. */
  readonly lossy: boolean;
}

const MAX_CONVERSATIONS = 64;
const MAX_FILES = 5_000;

/** Remembers per conversation which state of a file its model knows. Bounded: the oldest entries are forgotten, which
 * only means that a change of theirs is not noticed. */
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
