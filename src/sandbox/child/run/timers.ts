import { advisedFacts, captured, setErrorFacts } from "../realm/captured.ts";
import type { RunContext } from "./timed_tasks.ts";

const MAX_TIMERS = 1000;
const MAX_DELAY_MS = 2 ** 31 - 1;

interface Timer {
  readonly id: number;
  readonly run: RunContext | null;
  handle: ReturnType<typeof captured.setTimeout> | null;
}

export interface TimersOptions {
  readonly soon: (task: () => void, owner: RunContext | null) => void;
  readonly afterwards: (task: () => void) => void;
  readonly current: () => RunContext | null;
  readonly onError: (error: unknown) => void;
}

type Callback = (...args: unknown[]) => unknown;

export class Timers {
  readonly #options: TimersOptions;
  readonly #live: Record<number, Timer> = Object.create(null);
  #count = 0;
  #lastId = 0;

  constructor(options: TimersOptions) {
    this.#options = options;
  }

  readonly functions: Readonly<Record<string, unknown>> = {
    setTimeout: (f: unknown, ms?: unknown, ...args: unknown[]) => this.#start({ f, ms, args, repeat: false }),
    setInterval: (f: unknown, ms?: unknown, ...args: unknown[]) => this.#start({ f, ms, args, repeat: true }),
    clearTimeout: (id: unknown) => this.#stop(id),
    clearInterval: (id: unknown) => this.#stop(id),
  };

  get running(): number {
    return this.#count;
  }

  setTimeout(f: () => void, ms: number): number {
    return this.#start({ f, ms, args: [], repeat: false });
  }

  stop(run: RunContext | null | "all"): void {
    for (const id in this.#live) {
      if (run === "all" || this.#live[id]?.run === run) this.#stop(this.#live[id]?.id);
    }
  }

  #start(ask: { f: unknown; ms: unknown; args: unknown[]; repeat: boolean }): number {
    const { f } = ask;
    if (!isCallable(f)) throw new captured.TypeError("Cannot start a timer: its first argument is not a function");
    if (this.#count >= MAX_TIMERS) {
      const message = `Cannot start a timer: ${MAX_TIMERS} timers are running, the limit`;
      throw setErrorFacts(new captured.RangeError(), advisedFacts("RangeError", message, "clear some first"));
    }
    const run = this.#options.current();
    if (run?.ended) throw new captured.Error(`Cannot start a timer: ${run.ended}`);
    const wanted = typeof ask.ms === "number" && ask.ms > 0 ? ask.ms : 0;
    const delay = wanted > MAX_DELAY_MS ? MAX_DELAY_MS : wanted;
    const id = ++this.#lastId;
    const fire = (): void => {
      const timer = this.#live[id];
      if (!timer) return;
      if (ask.repeat) timer.handle = captured.setTimeout(fire, delay < 1 ? 1 : delay);
      else this.#stop(id);
      this.#options.soon(() => captured.context.run(run, () => this.#call(f, ask.args)), run);
    };
    const timer: Timer = { id, run, handle: null };
    this.#live[id] = timer;
    this.#count++;
    this.#options.afterwards(() => {
      if (this.#live[id] === timer) timer.handle = captured.setTimeout(fire, delay);
    });
    return id;
  }

  #call(f: Callback, args: unknown[]): void {
    try {
      captured.apply(f, undefined, args);
    } catch (error) {
      this.#options.onError(error);
    }
  }

  #stop(id: unknown): void {
    if (typeof id !== "number") return;
    const timer = this.#live[id];
    if (!timer) return;
    delete this.#live[id];
    this.#count--;
    this.#options.afterwards(() => {
      if (timer.handle !== null) captured.clearTimeout(timer.handle);
    });
  }
}

function isCallable(value: unknown): value is Callback {
  return typeof value === "function";
}
