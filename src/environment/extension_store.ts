import type { JsonValue } from "../domain/kit/json.ts";
import type {
  FoundState,
  StateEntry,
  StatePlace,
  StateStore,
  StateVersion,
} from "../domain/records/extension_state.ts";
import type { OwnStore } from "../extension/spec.ts";
import type { LargeTextStore } from "../persistence/store.ts";

const MAX_KEY = 200, MAX_LIMIT = 1000, LIMIT = 100;
const CONTROL = /\p{Cc}/u;

type Scoped = NonNullable<Parameters<OwnStore["delete"]>[1]>;
type Options<Name extends keyof OwnStore, At extends number> = NonNullable<Parameters<OwnStore[Name]>[At]>;

type StoreOfStates = LargeTextStore & { readonly states: StateStore };

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

const MAX_DEPTH = 500;

type Place = { readonly path?: string; readonly depth?: number };

/** Why a value would not survive a JSON round trip, with the path; null if it would. Runs no getters. */
function jsonFault(value: unknown, { path = "", depth = 0 }: Place = {}): string | null {
  const at = path === "" ? "the value" : path;
  if (value === null || typeof value === "boolean" || typeof value === "string") return null;
  if (typeof value === "number") return Number.isFinite(value) ? null : `${at} is ${value}, which is not JSON`;
  if (typeof value !== "object") return `${at} is ${kindOf(value)}, which is not JSON`;
  if (depth > MAX_DEPTH) return `${at.slice(0, 100)}… is nested too deep, or contains itself`;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const fault = jsonFault(value[i], { path: `${path}[${i}]`, depth: depth + 1 });
      if (fault !== null) return fault;
    }
    return null;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return `${at} is ${kindOf(value)}, which is not JSON`;
  for (const [key, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    if (!("value" in descriptor)) return `${path}.${key} has a getter`;
    // Undefined keys are left out, as in JSON.
    const fault = descriptor.value === undefined
      ? null
      : jsonFault(descriptor.value, { path: `${path}.${key}`, depth: depth + 1 });
    if (fault !== null) return fault;
  }
  return null;
}

function kindOf(value: unknown): string {
  if (typeof value !== "object") return value === undefined ? "undefined" : `a ${typeof value}`;
  const name: unknown = value?.constructor?.name;
  return typeof name === "string" && name !== "" ? `a ${name}` : "an object of a class";
}

/** Bytes of the random number at the start of each piece. It makes a piece part of nothing else, so that it can be
 * removed without a look at everything that is stored. */
const MARK = 16;
const PIECE = 1 << 20;

/** Bytes in pieces of a megabyte, each behind a random number. */
async function* markedPieces(
  bytes: Uint8Array | AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const size = bytes instanceof Uint8Array ? Math.min(bytes.length, PIECE) : PIECE;
  let piece = emptyPiece(size), end = MARK, any = false;
  for await (const part of bytes instanceof Uint8Array ? [bytes] : bytes) {
    for (let at = 0; at < part.length;) {
      const some = part.subarray(at, at + piece.length - end);
      piece.set(some, end);
      at += some.length;
      end += some.length;
      if (end < piece.length) continue;
      yield piece;
      [piece, end, any] = [emptyPiece(size), MARK, true];
    }
  }
  if (end > MARK || !any) yield piece.slice(0, end);
}

/** The bytes that `markedPieces` was given. */
async function* unmarkedPieces(
  pieces: AsyncIterable<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for await (const piece of pieces) yield piece.subarray(MARK);
}

function emptyPiece(size: number): Uint8Array<ArrayBuffer> {
  const piece = new Uint8Array(MARK + size);
  crypto.getRandomValues(piece.subarray(0, MARK));
  return piece;
}
