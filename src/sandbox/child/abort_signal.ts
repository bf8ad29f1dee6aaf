import { captured } from "./captured.ts";

type Listener = ((event: object) => unknown) | { handleEvent(event: object): unknown };

interface Entry {
  readonly listener: Listener;
  readonly once: boolean;
  next: Entry | null;
}

export interface AbortClassesOptions {
  readonly setTimeout: (f: () => void, ms: number) => unknown;
  /** A listener threw. */
  readonly onError: (error: unknown) => void;
}

function abortError(name: string, message: string): Error {
  const error = new captured.Error(message);
  captured.defineProperty(error, "name", { value: name, writable: true, configurable: true, enumerable: false });
  return error;
}

/**
 * AbortController and AbortSignal for the realm: Deno's lead by their symbols to lists of timers and listeners.
 * Covers what programs use: reason, onabort, listeners with `once`, throwIfAborted, abort, timeout, any.
 */
export function abortClasses({ setTimeout, onError }: AbortClassesOptions): Record<string, unknown> {
  const key = {}; // only these classes can make signals
  let trigger: (signal: Signal, reason: unknown) => void = () => {};

  class Signal {
    #aborted = false;
    #reason: unknown = undefined;
    #first: Entry | null = null;
    onabort: unknown = null;

    constructor(own?: unknown) {
      if (own !== key) throw new captured.TypeError("Illegal constructor");
    }
    static {
      trigger = (signal, reason) => signal.#abort(reason);
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
    addEventListener(type: unknown, listener: Listener | null, options?: { once?: boolean } | boolean): void {
      if (type !== "abort" || !listener) return;
      const once = typeof options === "object" && options !== null && options.once === true;
      const entry: Entry = { listener, once, next: null };
      let last = this.#first;
      for (; last; last = last.next) {
        if (last.listener === listener) return;
        if (!last.next) break;
      }
      if (last) last.next = entry;
      else this.#first = entry;
    }
    removeEventListener(type: unknown, listener: Listener | null): void {
      if (type !== "abort") return;
      let before: Entry | null = null;
      for (let entry = this.#first; entry; before = entry, entry = entry.next) {
        if (entry.listener !== listener) continue;
        if (before) before.next = entry.next;
        else this.#first = entry.next;
        return;
      }
    }
    #abort(reason: unknown): void {
      if (this.#aborted) return;
      this.#aborted = true;
      this.#reason = reason === undefined ? abortError("AbortError", "The operation was aborted") : reason;
      const event = { type: "abort", target: this, currentTarget: this };
      if (typeof this.onabort === "function") this.#notify(this.onabort as Listener, event);
      let entry = this.#first;
      this.#first = null;
      for (; entry; entry = entry.next) this.#notify(entry.listener, event);
    }
    #notify(listener: Listener, event: object): void {
      try {
        if (typeof listener === "function") captured.apply(listener, this, [event]);
        else listener.handleEvent(event);
      } catch (error) {
        onError(error);
      }
    }
    static abort(reason?: unknown): Signal {
      const signal = new Signal(key);
      trigger(signal, reason);
      return signal;
    }
    static timeout(ms: number): Signal {
      const signal = new Signal(key);
      setTimeout(() => trigger(signal, abortError("TimeoutError", "The operation timed out")), ms);
      return signal;
    }
    static any(signals: Iterable<Signal>): Signal {
      const either = new Signal(key);
      for (const signal of signals) {
        if (signal.aborted) trigger(either, signal.reason);
        else signal.addEventListener("abort", () => trigger(either, signal.reason), { once: true });
      }
      return either;
    }
  }
  class Controller {
    readonly signal = new Signal(key);
    abort(reason?: unknown): void {
      trigger(this.signal, reason);
    }
  }
  captured.defineProperty(Signal, "name", { value: "AbortSignal" });
  captured.defineProperty(Controller, "name", { value: "AbortController" });
  return { AbortController: Controller, AbortSignal: Signal };
}
