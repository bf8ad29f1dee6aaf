import { SandboxGone } from "../domain/errors.ts";
import { ConfinedSandbox } from "./_confined_sandbox.ts";
import { NO_GRANTS } from "./grants.ts";
import { openSandbox, type SandboxTestOptions } from "./host.ts";
import type { Sandbox, SandboxLimits, SandboxOptions } from "./sandbox.ts";

/** What a pool needs of a child that belongs to no conversation yet. */
export interface Spare extends Sandbox {
  adopt(options: SandboxOptions): Promise<void>;
}

export interface SparePoolOptions {
  /** Children that are kept ready. */
  readonly size: number;
  /** Of every child; a conversation with other limits gets none of these. */
  readonly limits: SandboxLimits;
  /** True for one that is needed at once and not again: it is not warmed, nothing replaces it, and the first caller that
   * has no use for it ends it. */
  readonly once?: boolean;
  /** A spare could not be started, or died before it was needed. */
  readonly onFailed?: (error: unknown) => void;
  /** Others in tests. */
  readonly start?: () => Promise<Spare>;
  readonly open?: (options: SandboxOptions) => Promise<Sandbox>;
  readonly firstDelayMs?: number;
  readonly test?: SandboxTestOptions;
}

/** A spare on its way, null where it could not be started, and who has claimed it. */
interface Starting {
  readonly spare: Promise<Spare | null>;
  claim: ((spare: Spare | null) => void) | null;
}

/** After one was taken: its conversation needs the processor more. Doubles with each failure. */
const DELAY_MS = 200, MAX_DELAY_MS = 60_000;
const WARM_MS = 5000, WARM_VARIABLES = 40, WARM_ROUNDS = 4;

/**
 * Confined, warmed children that are ready before they are needed. A spare is started with nothing but its walls and
 * its limits, so it suits every conversation without grants; what a conversation has been handed never comes back.
 */
export class SparePool {
  readonly #options: SparePoolOptions;
  readonly #ready: Spare[] = [];
  /** Spares that are kept at most. */
  #size: number;
  /** The one that is being started. */
  #starting: Starting | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #failures = 0;
  #closed = false;

  /** Starts the first one at once. */
  constructor(options: SparePoolOptions) {
    this.#options = options;
    this.#size = options.size;
    this.#fill();
  }

  /** Spares that could be handed out now. */
  get ready(): number {
    return this.#ready.length;
  }

  /** A child for these options: a spare where one fits and lives, a new one otherwise. As `openSandbox` rejects. */
  async take(options: SandboxOptions): Promise<Sandbox> {
    if (this.#options.once) this.#size = 0;
    const spare = this.#fits(options) ? await this.#next(options.signal) : null;
    for (const left of this.#ready.splice(this.#size)) void left.close();
    if (this.#closed || options.signal?.aborted) {
      if (spare) await this.#keep(spare); // nothing of the conversation has entered it
      throw new SandboxGone(this.#closed ? "its pool was closed" : "the caller gave it up");
    }
    if (!spare) return await this.#open(options);
    try {
      await spare.adopt(options);
      return spare;
    } catch (error) {
      await spare.close();
      if (options.signal?.aborted || !(error instanceof SandboxGone)) throw error;
      return await this.#open(options);
    }
  }

  /** Ends all spares, one that is being started included. Those that were taken belong to their takers. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    const starting = this.#starting?.spare.then((spare) => spare?.close());
    await Promise.all([starting, ...this.#ready.splice(0).map((spare) => spare.close())]);
  }

  #fits({ grants, limits, launcher = [], globals = [] }: SandboxOptions): boolean {
    if ([...Object.values(grants), launcher, globals].some((list) => list.length > 0)) return false;
    const { memoryBytes, outputBytes, graceMs, previewChars } = this.#options.limits;
    return limits.memoryBytes === memoryBytes && limits.outputBytes === outputBytes &&
      limits.graceMs === graceMs && limits.previewChars === previewChars;
  }

  async #next(signal: AbortSignal | undefined): Promise<Spare | null> {
    for (let spare = this.#ready.shift(); spare; spare = this.#ready.shift()) {
      this.#fillLater();
      if (!spare.ended) return spare;
    }
    const starting = this.#starting;
    if (!starting || starting.claim || signal?.aborted) return null;
    const { promise, resolve } = Promise.withResolvers<Spare | null>();
    const giveUp = (): void => {
      if (starting.claim === resolve) starting.claim = null;
      resolve(null);
    };
    starting.claim = resolve; // it is further than a new one would be
    signal?.addEventListener("abort", giveUp, { once: true });
    return await promise.finally(() => signal?.removeEventListener("abort", giveUp));
  }

  #fillLater(): void {
    if (this.#closed || this.#timer !== null || this.#starting || this.#options.once) return;
    const delay = Math.min((this.#options.firstDelayMs ?? DELAY_MS) * 2 ** this.#failures, MAX_DELAY_MS);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#fill();
    }, delay);
    Deno.unrefTimer(Number(this.#timer));
  }

  /** One after the other: a conversation that needs a child now must not wait behind several spares. */
  #fill(): void {
    if (this.#closed || this.#starting || this.#ready.length >= this.#size) return;
    const starting: Starting = { spare: this.#start(), claim: null };
    this.#starting = starting;
    void starting.spare.then((spare) => {
      this.#starting = null;
      const { claim } = starting;
      starting.claim = null;
      if (claim) claim(spare);
      else if (spare) void this.#keep(spare);
      this.#failures = spare ? 0 : this.#failures + 1;
      this.#fillLater();
    });
  }

  /** For the next caller; ends it where there is no room. */
  async #keep(spare: Spare): Promise<void> {
    if (this.#closed || this.#ready.length >= this.#size) return await spare.close();
    this.#ready.push(spare);
    void spare.gone.then(() => {
      const at = this.#ready.indexOf(spare);
      if (at < 0 || this.#closed) return;
      this.#ready.splice(at, 1);
      this.#failures++;
      this.#options.onFailed?.(new SandboxGone("a spare ended before it was needed"));
      this.#fillLater();
    });
  }

  #open(options: SandboxOptions): Promise<Sandbox> {
    return this.#options.open?.(options) ?? openSandbox(options, this.#options.test);
  }

  /** Null where it could not be started, which is not the fault of who waits for it. */
  async #start(): Promise<Spare | null> {
    try {
      return await (this.#options.start ?? (() => startSpare(this.#options)))();
    } catch (error) {
      this.#options.onFailed?.(error);
      return null;
    }
  }
}

/** A child with no function and no constant that has run a block, so that the first one of its conversation is quick. */
async function startSpare({ limits, test, once }: SparePoolOptions): Promise<Spare> {
  const onCall = (): Promise<unknown> => Promise.reject(new Error("Cannot call a function: no conversation yet"));
  const spare = await openSandbox({ functions: [], constants: {}, onCall, limits, grants: NO_GRANTS }, test);
  if (!(spare instanceof ConfinedSandbox)) throw new TypeError("Cannot keep a spare: not a child of this process");
  try {
    if (!once) await warm(spare);
    return spare;
  } catch (error) {
    await spare.close();
    throw error;
  }
}

/** What a conversation will do first: blocks, and variables that come back. Both sides compile what they run often. */
async function warm(spare: Spare): Promise<void> {
  const names = Array.from({ length: WARM_VARIABLES }, (_, at) => `v${at}`);
  const code = names.map((name) => `const ${name} = { text: "x".repeat(9000) }`).join("\n");
  const { saved } = await spare.run({ code, iteration: 0, index: 0, deadlineMs: WARM_MS });
  for (let round = 0; round < WARM_ROUNDS; round++) {
    await spare.restore(saved);
    await spare.run({ code: "await 1 + 1", iteration: 0, index: 1 + round, deadlineMs: WARM_MS });
  }
  await spare.forget(names);
  await spare.endQuery();
}
