const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** No line breaks: they would start another header. */
const VALUE = /^[^\0\r\n]*$/;

export type HeadersInput = RealmHeaders | Iterable<readonly [string, string]> | Readonly<Record<string, unknown>>;

/** Headers for the realm, which own their data. */
export class RealmHeaders {
  readonly #values = new Map<string, string>();

  constructor(init?: HeadersInput) {
    if (init === undefined || init === null) return;
    const pairs = Symbol.iterator in init ? init as Iterable<readonly [string, string]> : Object.entries(init);
    for (const [name, value] of pairs) this.append(name, value);
  }

  append(name: string, value: unknown): void {
    const old = this.get(name);
    this.set(name, old === null ? value : `${old}, ${String(value).trim()}`);
  }

  set(name: string, value: unknown): void {
    const text = String(value).trim();
    if (!NAME.test(String(name))) throw new TypeError(`Cannot set a header: "${name}" is no name`);
    if (!VALUE.test(text)) throw new TypeError(`Cannot set header ${name}: line end in its value`);
    this.#values.set(String(name).toLowerCase(), text);
  }

  get(name: string): string | null {
    return this.#values.get(String(name).toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }

  delete(name: string): void {
    this.#values.delete(String(name).toLowerCase());
  }

  forEach(f: (value: string, name: string, headers: RealmHeaders) => unknown): void {
    for (const [name, value] of this) f(value, name, this);
  }

  entries(): IterableIterator<[string, string]> {
    return [...this.#values].sort(([a], [b]) => a < b ? -1 : 1)[Symbol.iterator]();
  }

  *keys(): IterableIterator<string> {
    for (const [name] of this) yield name;
  }

  *values(): IterableIterator<string> {
    for (const [, value] of this) yield value;
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }
}
