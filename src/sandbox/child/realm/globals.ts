import { decode } from "../../codec/codec.ts";
import type { Bytes } from "../../protocol.ts";
import type { HostCalls } from "../run/host_calls.ts";
import type { RunContext } from "../run/timed_tasks.ts";
import { shape } from "../view/summary.ts";
import { advisedFacts, captured, look, setErrorFacts } from "./captured.ts";

type Plain = Record<string, unknown>;

function bare(members: Plain): Plain {
  for (const key of Object.keys(members)) captured.freeze(members[key]);
  return captured.freeze(Object.assign(Object.create(null), members));
}

interface RealmTurns {
  soon(task: () => void, owner: RunContext | null): void;
  afterwards(task: () => void): void;
  /** `change` counts operations of the runtime that start or end. After an operation ends, the caller must call `soon`
   * before it returns to the event loop. */
  operations(change: 1 | -1): void;
}

/** The runtime's `performance`, `crypto` and FinalizationRegistry lead to objects that a block must not reach, or run a
 * block's code outside its time limit. */
export function realmGlobals(turns: RealmTurns, current: () => RunContext | null): Plain {
  const { subtle } = crypto;
  const digest = subtle.digest.bind(subtle);
  const getRandomValues = crypto.getRandomValues.bind(crypto);
  const randomUUID = crypto.randomUUID.bind(crypto);
  const clone = globalThis.structuredClone.bind(globalThis);
  const NativeRegistry = FinalizationRegistry;
  const { register, unregister } = NativeRegistry.prototype;

  /** Reading an object may run code, so the later operation receives text and a copy of the bytes. */
  const digestLater = (algorithm: unknown, data: BufferSource): Promise<unknown> =>
    new captured.Promise((resolve, reject) => {
      const isObject = typeof algorithm === "object" && algorithm !== null;
      const name = `${isObject ? captured.get(algorithm, "name") : algorithm}`, owner = current();
      if (!look.isArrayBuffer(data) && !look.isView(data)) {
        throw new captured.TypeError("Cannot digest this value: it is neither an ArrayBuffer nor a view of one");
      }
      const copy = clone(data);
      const end = (settle: () => void): void => {
        turns.operations(-1);
        turns.soon(settle, owner);
      };
      turns.operations(1);
      turns.afterwards(() => {
        void captured.apply(captured.then, digest(name, copy), [
          (bytes: unknown) => end(() => resolve(bytes)),
          (error: unknown) => end(() => reject(error)),
        ]);
      });
    });

  /** A subclass would inherit from the native class, which calls back outside of a turn. */
  class Registry {
    readonly #native: FinalizationRegistry<unknown>;

    constructor(cleanup: (held: unknown) => void) {
      if (typeof cleanup !== "function") {
        throw new captured.TypeError("Cannot make a FinalizationRegistry: its argument is not a function");
      }
      const owner = current();
      this.#native = new NativeRegistry((held) => turns.soon(() => cleanup(held), owner));
    }

    register(target: WeakKey, held: unknown, token?: WeakKey): void {
      captured.apply(register, this.#native, [target, held, token]);
    }

    unregister(token: WeakKey): boolean {
      return captured.apply(unregister, this.#native, [token]);
    }
  }
  captured.defineProperty(Registry, "name", { value: "FinalizationRegistry" });
  captured.defineProperty(Registry.prototype, Symbol.toStringTag, {
    value: "FinalizationRegistry",
    configurable: true,
  });

  return {
    crypto: bare({
      getRandomValues: (array: Uint8Array<ArrayBuffer>) => getRandomValues(array),
      randomUUID: () => randomUUID(),
      subtle: bare({ digest: (algorithm: unknown, data: BufferSource) => digestLater(algorithm, data) }),
    }),
    performance: bare({ now: () => captured.now() }),
    FinalizationRegistry: Registry,
  };
}

interface RealmFunctionsOptions {
  readonly functions: readonly string[];
  readonly constants: Bytes;
  readonly calls: HostCalls;
  readonly moduleOf: (value: unknown) => string | null;
}

export function realmFunctions({ functions, constants, calls, moduleOf }: RealmFunctionsOptions): Plain {
  const roots: Plain = Object.create(null);
  const byName: Record<string, unknown> = Object.create(null);
  for (const name of functions) {
    const f = (...args: unknown[]): unknown => calls.call(name, args);
    captured.defineProperty(f, "name", { value: name.slice(name.indexOf(".") + 1) });
    byName[name] = captured.freeze(f);
    place(roots, { name, value: f });
  }
  const fixed = decode(constants);
  if (typeof fixed === "object" && fixed !== null) {
    for (const [name, value] of Object.entries(fixed)) place(roots, { name, value: deepFreeze(value) });
  }
  for (const name in roots) captured.freeze(roots[name]);
  roots["shape"] = captured.freeze((value: unknown) => shape(value));
  if (byName["doc"]) {
    roots["doc"] = captured.freeze((...of: unknown[]) => {
      for (let i = 0; i < of.length; i++) of[i] = nameOf(of[i], { roots, byName, moduleOf });
      return calls.call("doc", of);
    });
  }
  return roots;
}

interface Known extends Pick<RealmFunctionsOptions, "moduleOf"> {
  readonly roots: Plain;
  readonly byName: Plain;
}

function nameOf(of: unknown, { roots, byName, moduleOf }: Known): unknown {
  if (typeof of !== "function" && (typeof of !== "object" || of === null)) return of;
  for (const name in byName) if (byName[name] === of) return name;
  for (const name in roots) if (roots[name] === of) return name;
  const module = moduleOf(of);
  if (module !== null) return module;
  if (typeof of === "object") return of;
  // The sandbox makes functions such as `print` elsewhere, and the host knows their names.
  const own = captured.getOwnPropertyDescriptor(of, "name")?.value;
  if (typeof own === "string" && own !== "") return own;
  throw new captured.TypeError("Cannot describe this function: it has no name");
}

function place(roots: Plain, { name, value }: { readonly name: string; readonly value: unknown }): void {
  const dot = name.indexOf(".");
  if (dot < 0) {
    roots[name] = value;
    return;
  }
  const alias = name.slice(0, dot);
  const root = roots[alias] ??= Object.create(null);
  if (typeof root !== "object" || root === null) {
    throw new TypeError(`Cannot define the global "${name}": the sandbox uses the name ${alias}`);
  }
  captured.defineProperty(root, name.slice(dot + 1), { value, enumerable: true });
}

function deepFreeze(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  if (!ArrayBuffer.isView(value)) Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
  return value;
}

type Listener = ((event: object) => unknown) | { handleEvent(event: object): unknown };

/** Blocks cannot reach this key, so a block cannot use the constructor. */
const KEY = {};
const internals = { abort: (_signal: RealmAbortSignal, _reason: unknown): void => {} };

function namedError(name: string, message: string): Error {
  return setErrorFacts(new captured.Error(), { name, message });
}

/** The symbols of Deno's class lead to lists of timers and listeners, so the realm has its own AbortSignal. */
class RealmAbortSignal {
  #aborted = false;
  #reason: unknown = undefined;
  readonly #listeners = new look.Set<Listener>();
  onabort: unknown = null;

  constructor(key?: unknown) {
    if (key !== KEY) {
      throw setErrorFacts(
        new captured.TypeError(),
        advisedFacts(
          "TypeError",
          "Cannot make an AbortSignal: blocks cannot call its constructor",
          "use AbortController, AbortSignal.abort or AbortSignal.timeout",
        ),
      );
    }
  }

  static {
    internals.abort = (signal, reason) => signal.#abort(reason);
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }

  /** An abort happens once, so a listener needs no `once`. */
  addEventListener(type: unknown, listener: Listener | null): void {
    if (type === "abort" && listener && !this.#aborted) look.setAdd(this.#listeners, listener);
  }

  removeEventListener(type: unknown, listener: Listener | null): void {
    if (type === "abort") look.setDelete(this.#listeners, listener);
  }

  #abort(reason: unknown): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason === undefined ? namedError("AbortError", "The operation was aborted") : reason;
    const event = { type: "abort", target: this, currentTarget: this };
    if (typeof this.onabort === "function") this.#notify(this.onabort as Listener, event);
    look.setEach(this.#listeners, (listener) => {
      look.setDelete(this.#listeners, listener);
      this.#notify(listener as Listener, event);
    });
  }

  #notify(listener: Listener, event: object): void {
    try {
      if (typeof listener === "function") captured.apply(listener, this, [event]);
      else listener.handleEvent(event);
    } catch (error) {
      void captured.Promise.reject(error); // The error becomes a note, like every stray rejection.
    }
  }

  static abort(reason?: unknown): RealmAbortSignal {
    const signal = new RealmAbortSignal(KEY);
    signal.#abort(reason);
    return signal;
  }

  static any(signals: Iterable<RealmAbortSignal>): RealmAbortSignal {
    const either = new RealmAbortSignal(KEY);
    for (const signal of signals) {
      if (signal.aborted) either.#abort(signal.reason);
      else signal.addEventListener("abort", () => either.#abort(signal.reason));
    }
    return either;
  }
}

class RealmAbortController {
  readonly #signal = new RealmAbortSignal(KEY);

  get signal(): RealmAbortSignal {
    return this.#signal;
  }

  abort(reason?: unknown): void {
    internals.abort(this.#signal, reason);
  }
}

export function abortClasses(setTimeout: (f: () => void, ms: number) => unknown): Record<string, unknown> {
  const timeout = (ms: number): RealmAbortSignal => {
    const signal = new RealmAbortSignal(KEY);
    setTimeout(() => internals.abort(signal, namedError("TimeoutError", "The operation timed out")), ms);
    return signal;
  };
  captured.defineProperty(RealmAbortSignal, "timeout", { value: timeout, writable: true, configurable: true });
  captured.defineProperty(RealmAbortSignal, "name", { value: "AbortSignal" });
  captured.defineProperty(RealmAbortController, "name", { value: "AbortController" });
  return { AbortController: RealmAbortController, AbortSignal: RealmAbortSignal };
}
