import { captured } from "../intrinsics/captured.ts";

const MAX_NOTES = 20;

/** Stray errors and other facts since the last report; bounded. */
export class Notes {
  #list: string[] = [];
  #count = 0;
  #left = 0;

  add(text: string): void {
    if (this.#count >= MAX_NOTES) this.#left++;
    // Not an assignment: a block may have put a setter on the prototype of arrays.
    else captured.defineProperty(this.#list, this.#count++, { value: text, enumerable: true });
  }

  take(): readonly string[] {
    const list = this.#list, left = this.#left;
    this.#list = [];
    this.#count = this.#left = 0;
    if (left > 0) captured.defineProperty(list, list.length, { value: `${left} more notes`, enumerable: true });
    return list;
  }
}
