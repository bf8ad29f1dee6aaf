import { captured } from "../intrinsics/captured.ts";
import type { RunContext } from "../run/context.ts";

const MAX_WORK = 64;
/** Deno's own; a block never gets one, so its methods are the original ones. */
const NativeController = globalThis.AbortController;

interface Work {
  readonly run: RunContext;
  readonly stop: (why: string) => void;
  next: Work | null;
  previous: Work | null;
}

export interface OutsideWorkOptions {
  /** Enters foreign code: settling a promise runs the code that awaits it. */
  readonly soon: (task: () => void) => void;
  /** Leaves foreign code first. */
  readonly afterwards: (task: () => void) => void;
  readonly current: () => RunContext | null;
}

export interface OutsideTask {
  /** For errors: "read /a/b". */
  readonly what: string;
  /** Starts the runtime's operation outside of foreign code. */
  readonly begin: (signal: AbortSignal) => Promise<unknown>;
}

/** Files and connections that a block uses by a grant: limited in number, ended with the block's time and with the
 * query. */
export class OutsideWork {
  readonly #options: OutsideWorkOptions;
  #first: Work | null = null;
  #count = 0;

  constructor(options: OutsideWorkOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#count;
  }

  /** `stop` abandons it; the promise then rejects. */
  start({ what, begin }: OutsideTask): { readonly done: Promise<unknown>; readonly stop: (why: string) => void } {
    let stop = (_why: string): void => {};
    const done = new captured.Promise((resolve, reject) => {
      const error = new captured.Error(what); // created here, so that its stack names the line of the block
      const run = this.#options.current();
      const refused = this.#refusal(run);
      if (refused || !run) return reject(named(error, { name: "Error", message: `Cannot ${what}: ${refused}` }));
      const controller = new NativeController();
      let ended = false;
      const end = (settle: () => void): void => {
        if (ended) return;
        ended = true;
        this.#remove(work);
        this.#options.soon(settle);
      };
      stop = (why) => {
        end(() => reject(named(error, { name: "AbortError", message: `Cannot ${what}: ${why}` })));
        this.#options.afterwards(() => controller.abort());
      };
      const work: Work = { run, stop, next: this.#first, previous: null };
      this.#add(work);
      this.#options.afterwards(() => {
        if (ended) return;
        void captured.apply(captured.then, begin(controller.signal), [
          (value: unknown) => end(() => resolve(value)),
          (cause: unknown) => end(() => reject(named(error, { ...facts(cause, what) }))),
        ]);
      });
    });
    return { done, stop };
  }

  /** Abandons what the run started, or everything. */
  abort(run: RunContext | null, why: string): void {
    for (let work = this.#first, next: Work | null = null; work; work = next) {
      next = work.next;
      if (run === null || work.run === run) work.stop(why);
    }
  }

  #refusal(run: RunContext | null): string {
    if (!run) return "no block is running";
    return run.ended || (this.#count >= MAX_WORK ? `${MAX_WORK} of its kind are running` : "");
  }

  #add(work: Work): void {
    if (this.#first) this.#first.previous = work;
    this.#first = work;
    this.#count++;
  }

  #remove(work: Work): void {
    if (work.previous) work.previous.next = work.next;
    else this.#first = work.next;
    if (work.next) work.next.previous = work.previous;
    this.#count--;
  }
}

interface Facts {
  readonly name: string;
  readonly message: string;
}

/** Copies the facts of a runtime error: the original object would lead to classes of the runtime. */
function facts(cause: unknown, what: string): Facts {
  const isError = typeof cause === "object" && cause !== null;
  const name: unknown = isError && "name" in cause ? cause.name : "";
  const message: unknown = isError && "message" in cause ? cause.message : "";
  return {
    name: typeof name === "string" && name !== "" ? name : "Error",
    message: `Cannot ${what}: ${typeof message === "string" ? message : "failed"}`,
  };
}

function named(error: Error, { name, message }: Facts): Error {
  const set = (key: string, value: string): void => {
    captured.defineProperty(error, key, { value, writable: true, configurable: true, enumerable: false });
  };
  set("name", name);
  set("message", message);
  return error;
}
