/** Lets one change of files happen after the other, so that a check and the write that follows it belong together. */
export class WriteQueue {
  #last: Promise<unknown> = Promise.resolve();

  run<Result>(change: () => Promise<Result>): Promise<Result> {
    const next = this.#last.then(change, change);
    this.#last = next.catch(() => {});
    return next;
  }
}
