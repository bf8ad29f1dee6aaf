import type {
  FoundState,
  StateEntry,
  StatePlace,
  StateStore,
  StateVersion,
} from "../domain/records/extension_state.ts";
import type { JsonValue } from "../domain/text/json_value.ts";
import type { OwnStore } from "../extension/own_store.ts";
import type { LargeTextStore } from "../persistence/store/large_text_store.ts";
import { jsonFault } from "./json_fault.ts";
import { markedPieces, unmarkedPieces } from "./marked_pieces.ts";

const MAX_KEY = 200, MAX_LIMIT = 1000, LIMIT = 100;
const CONTROL = /\p{Cc}/u;

type Scoped = NonNullable<Parameters<OwnStore["delete"]>[1]>;
type Options<Name extends keyof OwnStore, At extends number> = NonNullable<Parameters<OwnStore[Name]>[At]>;

export type StoreOfStates = LargeTextStore & { readonly states: StateStore };

/** `env.store` of one extension in one conversation, or of one of its commands. Validates what the extension passes in;
 * the store enforces limits. */
export class ExtensionStore implements OwnStore {
  readonly #store: StoreOfStates;
  readonly #namespace: string;
  readonly #workspace: string;
  readonly #now: () => Omit<StatePlace, "namespace">;

  /** `now` returns where a change is made; a command has no branch. */
  constructor(store: StoreOfStates, { namespace, workspace, now = () => ({ branchId: null }) }: {
    readonly namespace: string;
    readonly workspace: string;
    readonly now?: () => Omit<StatePlace, "namespace">;
  }) {
    this.#store = store;
    this.#namespace = namespace;
    this.#workspace = workspace;
    this.#now = now;
    Object.freeze(this);
  }

  async put(key: string, value: JsonValue, options: Options<"put", 2> = {}): Promise<{ version: number }> {
    const fault = jsonFault(value);
    if (fault !== null) throw new TypeError(`Cannot store ${checkedKey(key)}: ${fault}`);
    const { ifVersion } = options;
    if (ifVersion !== undefined) whole(ifVersion, { name: "ifVersion", from: 0 });
    return { version: await this.#store.states.put(this.#place(options), { key: checkedKey(key), value, ifVersion }) };
  }

  async get(key: string, options: Options<"get", 1> = {}): Promise<JsonValue | undefined> {
    const { version } = options;
    if (version !== undefined) whole(version, { name: "version", from: 1 });
    return (await this.#store.states.get(this.#place(options), { key: checkedKey(key), version }))?.value;
  }

  async history(key: string, options: Options<"history", 1> = {}): Promise<readonly StateVersion[]> {
    return await this.#store.states.history(this.#place(options), { key: checkedKey(key), limit: limitOf(options) });
  }

  async list(options: Options<"list", 0> = {}): Promise<readonly StateEntry[]> {
    return await this.#store.states.list(this.#place(options), { prefix: prefixOf(options), limit: limitOf(options) });
  }

  async query(options: Options<"query", 0> = {}): Promise<readonly FoundState[]> {
    const { scope, workspace, conversationId, where = {}, since } = options;
    if (since !== undefined && !(since >= 0)) throw new TypeError(`Cannot look for states since ${since}`);
    for (const [path, value] of Object.entries(where)) {
      if (value !== null && typeof value === "object") throw new TypeError(`Cannot look for an object at ${path}`);
    }
    const asked = { conversationId, where, since, prefix: prefixOf(options), limit: limitOf(options) };
    if (scope === undefined) return await this.#store.states.query(this.#namespace, asked);
    const place = this.#place({ scope, ...(workspace === undefined ? {} : { workspace }) });
    return await this.#store.states.query(place.namespace, asked);
  }

  async delete(key: string, options: Scoped = {}): Promise<boolean> {
    return await this.#store.states.delete(this.#place(options), checkedKey(key));
  }

  async putBytes(bytes: Uint8Array | AsyncIterable<Uint8Array>): Promise<string> {
    return await this.#store.putLarge(markedPieces(bytes), { isOwn: true });
  }

  bytes(reference: string): AsyncIterable<Uint8Array<ArrayBuffer>> {
    return unmarkedPieces(this.#store.largePieces(checkedReference(reference)));
  }

  async dropBytes(reference: string): Promise<void> {
    await this.#store.dropLarge(checkedReference(reference));
  }

  #place({ scope = "conversation", workspace = this.#workspace }: Scoped): StatePlace {
    const [namespace, now] = [this.#namespace, this.#now()];
    if (scope === "global") return { namespace, ...now, branchId: null };
    // No extension has a namespace with a space.
    if (scope === "workspace") return { namespace: `${namespace} in ${workspace}`, ...now, branchId: null };
    if (scope !== "conversation") {
      throw new TypeError(`Cannot use scope ${String(scope)}: there are "conversation", "workspace" and "global"`);
    }
    if (now.branchId !== null) return { namespace, ...now };
    throw new TypeError(
      'Cannot use the state of a conversation: there is none here; use scope "workspace" or "global"',
    );
  }
}

function checkedReference(reference: unknown): string {
  if (typeof reference === "string" && /^sha256:[0-9a-f]{64}$/.test(reference)) return reference;
  throw new TypeError(`Cannot use the reference ${JSON.stringify(reference)}: putBytes returned no such one`);
}

function checkedKey(key: unknown): string {
  if (typeof key !== "string" || key.trim() === "") throw new TypeError(`Cannot use the key ${JSON.stringify(key)}`);
  if (key.length > MAX_KEY) {
    throw new TypeError(`Cannot use a key of ${key.length} characters: the limit is ${MAX_KEY}`);
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
