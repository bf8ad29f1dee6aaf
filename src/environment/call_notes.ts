const MAX_NOTES = 20;
const MAX_CHARS = 500;

/** What functions of extensions say to the model besides their results: each text once, bounded. */
export class CallNotes {
  #texts = new Set<string>();
  #left = 0;

  add(text: string): void {
    const short = text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS).toWellFormed()}…` : text;
    if (this.#texts.size < MAX_NOTES) this.#texts.add(short);
    else if (!this.#texts.has(short)) this.#left++;
  }

  /** Those since the last call. */
  take(): readonly string[] {
    const [texts, left] = [[...this.#texts], this.#left];
    [this.#texts, this.#left] = [new Set(), 0];
    return left === 0 ? texts : [...texts, `${left} more notes of calls are left out`];
  }
}
