/** A map that forgets what was set longest ago once it has more than `most` entries. Reading changes nothing, so that it
 * can be read while it is walked; who wants to keep what is used sets it again. */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #most: number;

  constructor(most: number) {
    super();
    this.#most = most;
  }

  override set(key: K, value: V): this {
    this.delete(key);
    super.set(key, value);
    for (const oldest of this.keys()) {
      if (this.size <= this.#most) break;
      this.delete(oldest);
    }
    return this;
  }
}
