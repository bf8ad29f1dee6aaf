import { failedBlock } from "../../domain/query/block_result.ts";
import { type Frame, FrameFields, MAX_OUTPUT_BYTES, OUTPUT_FRAMES_PER_SECOND, ProtocolError } from "../protocol.ts";
import { bareReport, type BlockRun, type RunReport, type SandboxOptions } from "../sandbox.ts";
import type { CallRegistry } from "./_call_registry.ts";
import { cleanText, type Observed } from "./_child_answers.ts";
import type { ChildExit } from "./_child_link.ts";

/** For a child that a busy machine has delayed, and frames that are not read yet; for a large result on its way; between
 * two checks of the time. */
const DELAYED_MS = 300, ON_ITS_WAY_MS = 5000, LOOK_AGAIN_MS = 50;

interface ActiveRunOptions {
  readonly id: string;
  readonly block: BlockRun;
  readonly graceMs: number;
  readonly output: BlockOutput;
  readonly calls: CallRegistry;
  /** Tells the child that the block's time is up, which it does not see while it waits for an answer. */
  readonly due: () => void;
  /** Tells the child to end the block. */
  readonly cancel: () => void;
  readonly kill: (why: string) => void;
}

/** One running block, as seen from the main process: its deadline, its cancellation, and how it ended if it failed. The
 * worker ends its blocks itself; one that has not ended `graceMs` after its deadline cannot be stopped, and the child
 * is killed. */
export class ActiveRun {
  readonly #options: ActiveRunOptions;
  readonly #begun = performance.now();
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  readonly #onAbort = (): void => this.#cancel();
  readonly #untimedBefore: number;
  #cancelled = false;
  #settled = false;
  /** Since when the child waits only for calls with their own deadlines, and the total time of waits before. */
  #waiting: { readonly since: number | null; readonly before: number } = { since: null, before: 0 };
  /** Killed because of its deadline. */
  #overdue = false;

  constructor(options: ActiveRunOptions) {
    this.#options = options;
    const { block, graceMs, calls } = options;
    this.#untimedBefore = calls.untimedMs;
    this.#after(block.deadlineMs, () => {
      options.due();
      this.#afterOwnTime(block.deadlineMs + graceMs, () => this.#overstayed());
    });
    block.signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (block.signal?.aborted) this.#cancel();
  }

  get output(): BlockOutput {
    return this.#options.output;
  }

  get observed(): Observed {
    const { output, calls, id } = this.#options;
    const ms = performance.now() - this.#begun;
    return { stdout: output.stdout, stderr: output.stderr, calls: calls.callsOf(id), ms };
  }

  /** Whether this is the run's id. */
  is(id: string): boolean {
    return id === this.#options.id;
  }

  /** The child reports for how long it has waited only for calls with their own deadlines, and whether it still does. */
  waited(ms: number, { goesOn }: { readonly goesOn: boolean }): void {
    this.#waiting = { since: goesOn ? performance.now() : null, before: ms };
  }

  /** The child reports that the run's foreign code has ended. Only its report is left, which may take longer. */
  settled(): void {
    this.#settled = true;
  }

  get #waitedMs(): number {
    const { since, before } = this.#waiting;
    return before + (since === null ? 0 : performance.now() - since);
  }

  /** The child abandons its calls at the deadline and reports it; this is for a child that cannot. */
  #overstayed(): void {
    const { calls, id } = this.#options;
    calls.abortRun(id);
    this.#after(DELAYED_MS, () => {
      if (!this.#settled) this.#kill();
    });
    this.#after(ON_ITS_WAY_MS, () => this.#kill());
  }

  /** Only the end of the child can stop the block. */
  #kill(): void {
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
    return bareReport(result);
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

  /** Calls `f` when the run has taken `ms`, without the time during which it only waited for calls with their own
   * deadlines. The child says how long, and is believed for as long as such a call was open. */
  #afterOwnTime(ms: number, f: () => void): void {
    const untimed = Math.min(this.#waitedMs, this.#options.calls.untimedMs - this.#untimedBefore);
    const left = ms - (performance.now() - this.#begun - untimed);
    if (left < 1) f();
    else this.#after(Math.max(left, LOOK_AGAIN_MS), () => this.#afterOwnTime(ms, f));
  }

  #cancel(): void {
    const { id, calls, cancel, graceMs } = this.#options;
    this.#cancelled = true;
    calls.abortRun(id);
    cancel();
    this.#after(graceMs, () => this.#overstayed());
  }
}

function timeout(block: BlockRun): string {
  return `Timeout (${block.deadlineMs / 1000}s)`;
}

/** Frames at the end of a block may arrive at once. */
const BURST = 40;
const SMALLEST_FULL_FRAME = 16 << 10;

/** What one block printed, up to the limit. */
export class BlockOutput {
  readonly #cap: number;
  readonly #onOutput: SandboxOptions["onOutput"];
  readonly #begun = performance.now();
  readonly #texts = { 1: "", 2: "" };
  #frames = 0;
  #chars = 0;

  constructor(cap: number, onOutput: SandboxOptions["onOutput"]) {
    this.#cap = cap;
    this.#onOutput = onOutput;
  }

  get stdout(): string {
    return this.#texts[1];
  }

  get stderr(): string {
    return this.#texts[2];
  }

  /** Handles an `output` frame of this block's run. Throws ProtocolError above what a child may send. */
  receive({ header, payload }: Frame): void {
    const stream = new FrameFields(header, "output").oneOf("stream", [1, 2]);
    if (payload.length > MAX_OUTPUT_BYTES) throw new ProtocolError(`Cannot take output of ${payload.length} bytes`);
    const seconds = (performance.now() - this.#begun) / 1000;
    const most = BURST + this.#cap / SMALLEST_FULL_FRAME + seconds * OUTPUT_FRAMES_PER_SECOND;
    if (++this.#frames > most) throw new ProtocolError("Cannot take so many output messages");
    const text = new TextDecoder().decode(payload);
    this.#chars += text.length;
    if (this.#chars > this.#cap) throw new ProtocolError("Cannot take more output than a block may keep");
    const clean = cleanText(text);
    this.#texts[stream] += clean;
    this.#onOutput?.({ stream, text: clean });
  }
}
