/** Characters of text and reasoning of one reply; the longest of models have half as many. */
const MOST = 1_000_000;
/** Characters of all replies that arrive at the same time. */
const MOST_OF_ALL = 8_000_000;

/** All replies that this process receives, whatever their provider. */
const ALL = { replies: 0, chars: 0 };

/** Keeps one reply within its limit, and with all others within the memory of the process. */
export class ReplySize {
  #chars = 0;

  constructor() {
    ALL.replies++;
  }

  add(chars: number): void {
    this.#chars += chars;
    ALL.chars += chars;
  }

  /** What is wrong with its size; null if nothing is. Of too many large replies, the largest have to end. */
  get fault(): string | null {
    if (this.#chars > MOST) return "it has more than 1 million characters";
    const share = MOST_OF_ALL / ALL.replies;
    if (ALL.chars <= MOST_OF_ALL || this.#chars <= share) return null;
    return `it has more than ${Math.floor(share)} characters while ${ALL.replies - 1} other replies arrive`;
  }

  /** It arrived or broke off; called once. */
  close(): void {
    ALL.replies--;
    ALL.chars -= this.#chars;
  }
}
