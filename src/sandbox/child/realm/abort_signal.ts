import { captured } from "../intrinsics/captured.ts";
import { setErrorFacts } from "../intrinsics/set_error_facts.ts";
import { look } from "../intrinsics/look.ts";

type Listener = ((event: object) => unknown) | { handleEvent(event: object): unknown };

/** Only this module creates and aborts signals. */
const KEY = {};
const internals = { abort: (_signal: RealmAbortSignal, _reason: unknown): void => {} };

function namedError(name: string, message: string): Error {
  return setErrorFacts(new captured.Error(), { name, message });
}

/** AbortSignal for the realm: the symbols of Deno's lead to lists of timers and listeners. Covers what programs use:
 * reason, onabort, listeners, throwIfAborted, abort, timeout, any. */
class RealmAbortSignal {
  #aborted = false;
  #reason: unknown = undefined;
  readonly #listeners = new look.Set<Listener>();
  onabort: unknown = null;

  constructor(key?: unknown) {
    if (key !== KEY) throw new captured.TypeError("Illegal constructor");
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

  /** An abort happens once, so every listener is a `once` listener. */
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
      void captured.Promise.reject(error); // becomes a note, like every stray rejection
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

/** The two classes under their usual names. `setTimeout` is the realm's own. Call once per worker. */
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
