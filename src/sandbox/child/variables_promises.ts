import { look } from "./preview_intrinsics.ts";
import { ownData } from "./preview_kind.ts";

/** Follows promises kept in variables, without taking a rejection's report away. */
export class WatchedPromises {
  readonly #settled = new look.WeakMap<object, boolean>();

  /** Whether it has settled as far as is known; the first look starts watching. */
  isPending(promise: object): boolean {
    const settled = look.weakGet(this.#settled, promise) as boolean | undefined;
    if (settled !== undefined) return !settled;
    look.weakSet(this.#settled, promise, false);
    // `then` asks the promise for its constructor: one that is no plain promise could run code there
    if (look.prototypeOf(promise) !== look.promise || look.hasOwn(promise, "constructor")) return true;
    if (typeof ownData(look.promise, "constructor") !== "function") return true;
    look.then(promise as Promise<unknown>, () => this.#settle(promise), (reason) => {
      this.#settle(promise);
      throw reason; // still unhandled: the sandbox reports it
    });
    return true;
  }

  #settle(promise: object): void {
    look.weakSet(this.#settled, promise, true);
  }
}
