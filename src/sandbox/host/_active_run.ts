import { failedBlock } from "../../domain/query/block_result.ts";
import type { BlockOutput } from "./_block_output.ts";
import type { CallRegistry } from "./_call_registry.ts";
import type { ChildExit } from "./_child_exit.ts";
import type { Observed } from "./_run_report.ts";
import type { BlockRun, RunReport } from "../sandbox.ts";

/** Waits beyond the grace time: the child's own watch acts first, and a large result may still be on its way. */
const LAST_RESORT_MS = 5000, LOOK_AGAIN_MS = 50;

export interface ActiveRunOptions {
  readonly id: string;
  readonly block: BlockRun;
  readonly graceMs: number;
  readonly output: BlockOutput;
  readonly desk: CallRegistry;
  /** Tells the child to end the block. */
  readonly cancel: () => void;
  readonly kill: (why: string) => void;
}

/** One running block, as seen from the main process: its deadline, its cancellation, and how it ended if it failed. */
export class ActiveRun {
  readonly #options: ActiveRunOptions;
  readonly #begun = performance.now();
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  readonly #onAbort = (): void => this.#cancel();
  readonly #untimedBefore: number;
  #cancelled = false;
  /** Killed because of its deadline. */
  #overdue = false;

  constructor(options: ActiveRunOptions) {
    this.#options = options;
    const { block, graceMs, desk, id } = options;
    this.#untimedBefore = desk.untimedMs;
    // The child abandons its calls at the deadline and reports it; this is for a child that cannot.
    const end = block.deadlineMs + graceMs;
    this.#afterOwnTime(end, () => {
      desk.abortRun(id);
      this.#afterOwnTime(end + LAST_RESORT_MS, () => this.stuck());
    });
    block.signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (block.signal?.aborted) this.#cancel();
  }

  get output(): BlockOutput {
    return this.#options.output;
  }

  get observed(): Observed {
    const { output, desk, id } = this.#options;
    const ms = performance.now() - this.#begun;
    return { stdout: output.stdout, stderr: output.stderr, calls: desk.callsOf(id), ms };
  }

  /** Whether this is the run's id. */
  is(id: string): boolean {
    return id === this.#options.id;
  }

  /** Only the end of the child can stop it. */
  stuck(): void {
    const { block, kill } = this.#options;
    this.#overdue = !this.#cancelled;
    kill(`${this.#overdue ? timeout(block) : "the block was cancelled"} and could not be stopped`);
  }

  /** The child ended during the block, or sent something unreadable. `names`: what the block was going to define. */
  failed(exit: Pick<ChildExit, "why" | "outOfMemory">, names: readonly string[]): RunReport {
    const lost = "; the sandbox was killed, and what this block had changed is lost";
    const observed = { ...this.observed, lost: names };
    const result = this.#cancelled
      ? failedBlock("cancelled", { name: "Cancelled", message: `The block was cancelled${lost}` }, observed)
      : exit.outOfMemory
      ? failedBlock(
        "memory",
        { name: "OutOfMemory", message: `The block used up the sandbox's memory${lost}` },
        observed,
      )
      : failedBlock("killed", { name: "SandboxEnded", message: `The sandbox ended: ${exit.why}${lost}` }, {
        ...observed,
        timedOut: this.#overdue,
      });
    return { result, saved: [], reads: [], value: null, literal: false, notes: [] };
  }

  /** Always called, however the run ended. */
  end(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#options.block.signal?.removeEventListener("abort", this.#onAbort);
  }

  #after(ms: number, f: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      f();
    }, ms);
    this.#timers.add(timer);
  }

  /** Calls `f` when the run has taken `ms`, without the time during which a call with its own deadline was open. The
   * child counts more precisely; this is the last resort and checks again from time to time. */
  #afterOwnTime(ms: number, f: () => void): void {
    const untimed = this.#options.desk.untimedMs - this.#untimedBefore;
    const left = ms - (performance.now() - this.#begun - untimed);
    if (left < 1) f();
    else this.#after(Math.max(left, LOOK_AGAIN_MS), () => this.#afterOwnTime(ms, f));
  }

  #cancel(): void {
    const { id, desk, cancel, graceMs } = this.#options;
    this.#cancelled = true;
    desk.abortRun(id);
    cancel();
    this.#after(graceMs + LAST_RESORT_MS, () => this.stuck());
  }
}

function timeout(block: BlockRun): string {
  return `Timeout (${block.deadlineMs / 1000}s)`;
}
