import type { JsonValue } from "../domain/kit/json.ts";
import { clip } from "../domain/kit/text.ts";
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

export class ExtensionStore implements OwnStore {
  readonly #store: StoreOfStates;
  readonly #namespace: string;
  readonly #workspace: string;
  readonly #now: () => Omit<StatePlace, "namespace">;

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
    if (since !== undefined && !(since >= 0)) {
      throw new TypeError(`Cannot find states since ${since}: the time must be 0 or more`);
    }
    for (const [path, value] of Object.entries(where)) {
      if (value !== null && typeof value === "object") {
        throw new TypeError(
          `Cannot find states by ${path}: its value is an object or a list; compare with text, a number, a boolean or null`,
        );
      }
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
    return unmarkedPieces(this.#store.largePieces(checkedReference(reference), { isOwn: true }));
  }

  async dropBytes(reference: string): Promise<void> {
    await this.#store.dropLarge(checkedReference(reference));
  }

  #place({ scope = "conversation", workspace = this.#workspace }: Scoped): StatePlace {
    const [namespace, now] = [this.#namespace, this.#now()];
    if (scope === "global") return { namespace, ...now, branchId: null };
    // Namespaces of extensions contain no space, so this namespace is unique.
    if (scope === "workspace") return { namespace: `${namespace} in ${workspace}`, ...now, branchId: null };
    if (scope !== "conversation") {
      throw new TypeError(
        `Cannot use scope ${String(scope)}: the store has no such scope; use "conversation", "workspace" or "global"`,
      );
    }
    if (now.branchId !== null) return { namespace, ...now };
    throw new TypeError(
      'Cannot use the state of a conversation: this call belongs to none; use scope "workspace" or "global"',
    );
  }
}

function checkedReference(reference: unknown): string {
  if (typeof reference === "string" && /^sha256:[0-9a-f]{64}$/.test(reference)) return reference;
  throw new TypeError(
    `Cannot use the reference ${
      clip(JSON.stringify(reference) ?? String(reference), 100)
    }: it does not have the form sha256:HASH that putBytes returns`,
  );
}

function checkedKey(key: unknown): string {
  if (typeof key !== "string" || key.trim() === "") {
    throw new TypeError(
      `Cannot use the key ${clip(JSON.stringify(key) ?? String(key), 100)}: it must be text that is not blank`,
    );
  }
  if (key.length > MAX_KEY) {
    throw new TypeError(
      `Cannot use the key ${JSON.stringify(key.slice(0, 40))}: it has ${key.length} characters, more ` +
        `than the limit of ${MAX_KEY}`,
    );
  }
  const fault = CONTROL.test(key) ? "a control character" : key.isWellFormed() ? null : "a lone surrogate";
  if (fault !== null) throw new TypeError(`Cannot use the key ${JSON.stringify(key)}: it contains ${fault}`);
  return key;
}

function prefixOf({ prefix = "" }: { readonly prefix?: string }): string {
  if (typeof prefix === "string") return prefix;
  throw new TypeError(`Cannot use the prefix ${clip(String(prefix), 100)}: it must be text`);
}

function limitOf({ limit = LIMIT }: { readonly limit?: number }): number {
  return Math.min(whole(limit, { name: "limit", from: 1 }), MAX_LIMIT);
}

function whole(value: number, { name, from }: { readonly name: string; readonly from: number }): number {
  if (Number.isSafeInteger(value) && value >= from) return value;
  throw new TypeError(`Cannot use ${name} ${String(value)}: it must be a whole number of at least ${from}`);
}

const MAX_DEPTH = 500;

type Place = { readonly path?: string; readonly depth?: number };

function jsonFault(value: unknown, { path = "", depth = 0 }: Place = {}): string | null {
  const at = path === "" ? "the value" : path;
  if (value === null || typeof value === "boolean" || typeof value === "string") return null;
  if (typeof value === "number") return Number.isFinite(value) ? null : `${at} is ${value}, which is not JSON`;
  if (typeof value !== "object") return `${at} is ${kindOf(value)}, which is not JSON`;
  if (depth > MAX_DEPTH) return `${clip(at, 100)} has more than ${MAX_DEPTH} levels, or contains itself`;
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

/** These random bytes begin a piece, so that no other text shares it. Vis can then delete the text without a search. */
const MARK_BYTES = 16;
const PIECE = 1 << 20;

async function* markedPieces(
  bytes: Uint8Array | AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const size = bytes instanceof Uint8Array ? Math.min(bytes.length, PIECE) : PIECE;
  let piece = emptyPiece(size), end = MARK_BYTES, any = false;
  for await (const part of bytes instanceof Uint8Array ? [bytes] : bytes) {
    for (let at = 0; at < part.length;) {
      const some = part.subarray(at, at + piece.length - end);
      piece.set(some, end);
      at += some.length;
      end += some.length;
      if (end < piece.length) continue;
      yield piece;
      [piece, end, any] = [emptyPiece(size), MARK_BYTES, true];
    }
  }
  if (end > MARK_BYTES || !any) yield piece.slice(0, end);
}

async function* unmarkedPieces(
  pieces: AsyncIterable<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for await (const piece of pieces) yield piece.subarray(MARK_BYTES);
}

function emptyPiece(size: number): Uint8Array<ArrayBuffer> {
  const piece = new Uint8Array(MARK_BYTES + size);
  crypto.getRandomValues(piece.subarray(0, MARK_BYTES));
  return piece;
}
