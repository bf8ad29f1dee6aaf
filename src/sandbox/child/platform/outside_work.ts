import { advisedFacts, captured, type ErrorFacts, look, setErrorFacts } from "../realm/captured.ts";
import type { TimersOptions } from "../run/timers.ts";
import type { RunContext } from "../run/timed_tasks.ts";

const MAX_WORK = 64;
/** No block gets an instance of Deno's own class, so its methods are the original ones. */
const NativeController = globalThis.AbortController;

interface Refusal {
  readonly why: string;
  readonly advice: string;
}

const NOT_RUNNING: Refusal = { why: "no block is running", advice: "" };

interface Work {
  readonly run: RunContext;
  readonly stop: (why: string) => void;
}

type OutsideWorkOptions = Pick<TimersOptions, "soon" | "afterwards" | "current">;

interface OutsideTask {
  readonly what: string;
  readonly begin: (signal: AbortSignal) => Promise<unknown>;
}

export class OutsideWork {
  readonly #options: OutsideWorkOptions;
  readonly #work = new look.Set<Work>();

  constructor(options: OutsideWorkOptions) {
    this.#options = options;
  }

  get running(): number {
    return look.setSize(this.#work);
  }

  start({ what, begin }: OutsideTask): { readonly done: Promise<unknown>; readonly stop: (why: string) => void } {
    let stop = (_why: string): void => {};
    const done = new captured.Promise((resolve, reject) => {
      const error = new captured.Error(what); // The stack of this error names the line of the block.
      const run = this.#options.current();
      const refused = this.#refusal(run);
      if (refused || !run) {
        const { why, advice } = refused ?? NOT_RUNNING, message = `Cannot ${what}: ${why}`;
        return reject(
          setErrorFacts(error, advice === "" ? { name: "Error", message } : advisedFacts("Error", message, advice)),
        );
      }
      const controller = new NativeController();
      let ended = false;
      const end = (settle: () => void): void => {
        if (ended) return;
        ended = true;
        look.setDelete(this.#work, work);
        this.#options.soon(settle, run);
      };
      stop = (why) => {
        end(() => reject(setErrorFacts(error, { name: "AbortError", message: `Cannot ${what}: ${why}` })));
        this.#options.afterwards(() => controller.abort());
      };
      const work: Work = { run, stop };
      look.setAdd(this.#work, work);
      this.#options.afterwards(() => {
        if (ended) return;
        void captured.apply(captured.then, begin(controller.signal), [
          (value: unknown) => end(() => resolve(value)),
          (cause: unknown) => end(() => reject(setErrorFacts(error, factsOf(cause, what)))),
        ]);
      });
    });
    return { done, stop };
  }

  abort(run: RunContext | null, why: string): void {
    look.setEach(this.#work, (work) => {
      if (run === null || work.run === run) work.stop(why);
    });
  }

  #refusal(run: RunContext | null): Refusal | null {
    if (!run) return NOT_RUNNING;
    if (run.ended) return { why: run.ended, advice: "" };
    return this.running < MAX_WORK
      ? null
      : { why: `${MAX_WORK} operations are running, the limit`, advice: "await some first" };
  }
}

/** The original error would lead to classes of the runtime, so a block gets a copy of the facts. */
function factsOf(cause: unknown, what: string): ErrorFacts {
  const isError = typeof cause === "object" && cause !== null;
  const name: unknown = isError && "name" in cause ? cause.name : "";
  // The runtime's own message advises flags of Deno.
  const message: unknown = name === "NotCapable"
    ? "the sandbox has no grant for it"
    : isError && "message" in cause
    ? cause.message
    : "";
  return {
    name: typeof name === "string" && name !== "" ? name : "Error",
    message: `Cannot ${what}: ${
      typeof message === "string" && message !== "" ? message : "it failed without a message"
    }`,
  };
}
