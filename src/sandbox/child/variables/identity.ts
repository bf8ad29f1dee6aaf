import { bareList } from "../../codec/intrinsics.ts";
import { look } from "../intrinsics/look.ts";

/** How far a walk goes: counted, not timed, so that the same values always give the same answer. */
export interface WalkLimits {
  readonly objects: number;
  readonly properties: number;
}

/** Finds which of several values share an object. One bounded traversal covers all of them; beyond the bounds nothing
 * more is found and `exceeded` is set. Runs no code of the values. */
export class IdentityWalk {
  readonly #owners = new look.Map<object, string>();
  readonly #limits: WalkLimits;
  #name = "";
  #queue = bareList<object>();
  #shared = bareList<string>();
  #objects = 0;
  #properties = 0;
  #exceeded = false;

  constructor(limits: WalkLimits) {
    this.#limits = limits;
  }

  get exceeded(): boolean {
    return this.#exceeded;
  }

  /** Traverses the value of one name; returns earlier names with which it shares an object. */
  add(name: string, value: unknown): string[] {
    this.#name = name;
    this.#queue = bareList();
    this.#shared = bareList();
    this.#meet(value);
    for (let i = 0; i < this.#queue.length && !this.#exceeded; i++) this.#open(this.#queue[i]!);
    return this.#shared;
  }

  #meet(found: unknown): void {
    if (found === null || (typeof found !== "object" && typeof found !== "function")) return;
    const owner = look.mapGet(this.#owners, found) as string | undefined;
    if (owner === undefined) {
      if (++this.#objects > this.#limits.objects) this.#exceeded = true;
      look.mapSet(this.#owners, found, this.#name);
      this.#queue[this.#queue.length] = found;
    } else if (owner !== this.#name && this.#shared[this.#shared.length - 1] !== owner) {
      this.#shared[this.#shared.length] = owner;
    }
  }

  #stop(): boolean {
    if (++this.#properties > this.#limits.properties) this.#exceeded = true;
    return this.#exceeded;
  }

  /** Own data properties, entries of collections, and the buffer of a view; prototypes are not followed. */
  #open(value: object): void {
    if (look.isProxy(value)) return;
    if (look.isTypedArray(value)) return this.#meet(look.viewBuffer(value));
    if (look.isDataView(value)) return this.#meet(look.dataBuffer(value));
    if (look.isArray(value)) {
      for (let i = 0; i < value.length && !this.#stop(); i++) this.#property(value, i);
      return;
    }
    if (look.isMap(value)) this.#map(value);
    else if (look.isSet(value)) this.#set(value);
    const keys = look.ownKeys(value);
    for (let i = 0; i < keys.length && !this.#stop(); i++) this.#property(value, keys[i]!);
  }

  #map(value: Map<unknown, unknown>): void {
    const iterator = look.mapEntries(value);
    for (let n = look.mapSize(value); n > 0 && !this.#stop(); n--) {
      const entry = (look.mapNext(iterator) as IteratorResult<readonly [unknown, unknown]>).value;
      this.#meet(entry[0]);
      this.#meet(entry[1]);
    }
  }

  #set(value: Set<unknown>): void {
    const iterator = look.setValues(value);
    for (let n = look.setSize(value); n > 0 && !this.#stop(); n--) {
      this.#meet((look.setNext(iterator) as IteratorResult<unknown>).value);
    }
  }

  #property(value: object, key: PropertyKey): void {
    const descriptor = look.descriptorOf(value, key);
    if (descriptor && look.hasOwn(descriptor, "value")) this.#meet(descriptor.value);
  }
}
