import type {
  FoundState,
  StateEntry,
  StatePlace,
  StateStore,
  StateVersion,
} from "../domain/records/extension_state.ts";
import type { JsonValue } from "../domain/text/json_value.ts";
import type { OwnStore } from "../extension/own_store.ts";
import { jsonFault } from "./json_fault.ts";

const MAX_KEY = 200, MAX_LIMIT = 1000, LIMIT = 100;
const CONTROL = /\p{Cc}/u;

type Scoped = { readonly scope?: "conversation" | "global" };
type Options<Name extends keyof OwnStore, At extends number> = NonNullable<Parameters<OwnStore[Name]>[At]>;

/** `env.store` of one extension in one conversation. Validates what the extension passes in; the store enforces limits. */
export class ExtensionStore implements OwnStore {
  readonly #states: StateStore;
  readonly #namespace: string;
  readonly #now: () => Omit<StatePlace, "namespace">;

  /** `now` returns where a change is made. */
  constructor(states: StateStore, { namespace, now }: {
    readonly namespace: string;
    readonly now: () => Omit<StatePlace, "namespace">;
  }) {
    this.#states = states;
    this.#namespace = namespace;
    this.#now = now;
    Object.freeze(this);
  }

  async put(key: string, value: JsonValue, options: Options<"put", 2> = {}): Promise<{ version: number }> {
    const fault = jsonFault(value);
    if (fault !== null) throw new TypeError(`Cannot store ${checkedKey(key)}: ${fault}`);
    const { ifVersion } = options;
    if (ifVersion !== undefined) whole(ifVersion, { name: "ifVersion", from: 0 });
    return { version: await this.#states.put(this.#place(options), { key: checkedKey(key), value, ifVersion }) };
  }

  async get(key: string, options: Options<"get", 1> = {}): Promise<JsonValue | undefined> {
    const { version } = options;
    if (version !== undefined) whole(version, { name: "version", from: 1 });
    return (await this.#states.get(this.#place(options), { key: checkedKey(key), version }))?.value;
  }

  async history(key: string, options: Options<"history", 1> = {}): Promise<readonly StateVersion[]> {
    return await this.#states.history(this.#place(options), { key: checkedKey(key), limit: limitOf(options) });
  }

  async list(options: Options<"list", 0> = {}): Promise<readonly StateEntry[]> {
    return await this.#states.list(this.#place(options), { prefix: prefixOf(options), limit: limitOf(options) });
  }

  async query(options: Options<"query", 0> = {}): Promise<readonly FoundState[]> {
    const { conversationId, where = {}, since } = options;
    if (since !== undefined && !(since >= 0)) throw new TypeError(`Cannot look for states since ${since}`);
    for (const [path, value] of Object.entries(where)) {
      if (value !== null && typeof value === "object") throw new TypeError(`Cannot look for an object at ${path}`);
    }
    const asked = { conversationId, where, since, prefix: prefixOf(options), limit: limitOf(options) };
    return await this.#states.query(this.#namespace, asked);
  }

  async delete(key: string, options: Scoped = {}): Promise<boolean> {
    return await this.#states.delete(this.#place(options), checkedKey(key));
  }

  #place({ scope = "conversation" }: Scoped): StatePlace {
    const namespace = this.#namespace;
    if (scope === "global") return { namespace, ...this.#now(), branchId: null };
    if (scope === "conversation") return { namespace, ...this.#now() };
    throw new TypeError(`Cannot use scope ${String(scope)}: there are "conversation" and "global"`);
  }
}

function checkedKey(key: unknown): string {
  if (typeof key !== "string" || key.trim() === "") throw new TypeError(`Cannot use the key ${JSON.stringify(key)}`);
  if (key.length > MAX_KEY) {
    throw new TypeError(`Cannot use a key of ${key.length} characters: ${MAX_KEY} are the most`);
  }
  if (CONTROL.test(key) || !key.isWellFormed()) throw new TypeError(`Cannot use the key ${JSON.stringify(key)}`);
  return key;
}

function prefixOf({ prefix = "" }: { readonly prefix?: string }): string {
  if (typeof prefix === "string") return prefix;
  throw new TypeError(`Cannot use the prefix ${String(prefix)}`);
}

function limitOf({ limit = LIMIT }: { readonly limit?: number }): number {
  return Math.min(whole(limit, { name: "limit", from: 1 }), MAX_LIMIT);
}

function whole(value: number, { name, from }: { readonly name: string; readonly from: number }): number {
  if (Number.isSafeInteger(value) && value >= from) return value;
  throw new TypeError(`Cannot use ${name} ${String(value)}: it must be a whole number from ${from} on`);
}
