import { REAL_CLOCK } from "../domain/kit/clock.ts";
import { Libc } from "../sandbox/confine/libc.ts";
import { descendants, messageQueueLimit, type ProcessFacts } from "./_process_table.ts";

const PR_SET_CHILD_SUBREAPER = 36, WNOHANG = 1n;
/** Below the kernel's default of 819 200, so that a lower limit identifies our processes. */
const FIRST_TAG = 600_000, LAST_TAG = 800_000;
const ROUNDS = 400, PAUSE_MS = 5;
/** Number of rounds within which all programs must be suspended. */
const FREEZE_ROUNDS = 100;

/** Ends what confined programs leave behind. The process becomes the parent of every orphan below it, so that none
 * escapes by a double fork or a separate session. */
export class Reaper {
  readonly #libc = new Libc();
  /** The running programs: their tags and the processes that the runtime itself waits for. */
  readonly #running = new Map<number, number>();
  /** Tags of programs that have ended while processes of theirs may be left. */
  readonly #over = new Set<number>();
  readonly #shared: boolean;
  #next = FIRST_TAG;

  /** Throws Error if the process cannot become the parent of orphans. With `shared`, other walls in this process give
   * tags at the same time. */
  constructor({ shared }: { readonly shared: boolean }) {
    this.#shared = shared;
    if (this.#libc.prctl(PR_SET_CHILD_SUBREAPER, 1n) !== 0) {
      throw new Error(`Cannot become the parent of orphans: errno ${this.#libc.errno()}`);
    }
  }

  /** A tag for a program that is about to start. */
  newTag(): number {
    const tag = this.#shared ? FIRST_TAG + Math.floor(Math.random() * (LAST_TAG - FIRST_TAG)) : this.#next;
    this.#next = this.#next + 1 < LAST_TAG ? this.#next + 1 : FIRST_TAG;
    return this.#running.has(tag) ? this.newTag() : tag;
  }

  begun(tag: number, pid: number): void {
    this.#over.delete(tag);
    this.#running.set(tag, pid);
  }

  /** Counts the processes of a program. Its group is suspended meanwhile and stays so: counting a running fork bomb
   * would never end. */
  count(tag: number): number {
    const leader = this.#running.get(tag);
    if (leader === undefined) return 0;
    signal(-leader, "SIGSTOP");
    const found = descendants(Deno.pid).filter(({ pid, session, ended }) =>
      !ended && (session === leader || messageQueueLimit(pid) === tag)
    );
    return found.length;
  }

  /** Resumes a program that was counted. */
  goOn(tag: number): void {
    const leader = this.#running.get(tag);
    if (leader !== undefined) signal(-leader, "SIGCONT");
  }

  /** Requests the program and its group to end. */
  askToEnd(tag: number): void {
    const leader = this.#running.get(tag);
    if (leader === undefined) return;
    signal(leader, "SIGTERM"); // until it becomes the program, it has no group of its own
    signal(-leader, "SIGTERM");
  }

  /** Suspends all programs with everything that they started; the returned function resumes them. Null if they could
   * not be suspended in time. */
  async freeze(): Promise<(() => void) | null> {
    let still = 0;
    for (let round = 0; round < FREEZE_ROUNDS && still < 2; round++) {
      const moving = this.#programs().filter(({ ended, stopped }) => !ended && !stopped);
      for (const { pid } of moving) signal(pid, "SIGSTOP");
      // Twice, since a process created while the table was read may be missing from it.
      still = moving.length === 0 ? still + 1 : 0;
      if (moving.length > 0) await REAL_CLOCK.sleep(PAUSE_MS);
    }
    const thaw = (): void => {
      for (const { pid, ended } of this.#programs()) if (!ended) signal(pid, "SIGCONT");
    };
    if (still >= 2) return thaw;
    thaw();
    return null;
  }

  #programs(): readonly ProcessFacts[] {
    const leaders = new Set(this.#running.values());
    return descendants(Deno.pid).filter(({ pid, session }) => {
      if (leaders.has(pid) || leaders.has(session)) return true;
      const tag = messageQueueLimit(pid);
      return tag !== null && (this.#running.has(tag) || tag < FIRST_TAG);
    });
  }

  /** Kills the program and everything that it started. The caller waits for the program's own end, which the runtime
   * sees. */
  kill(tag: number): void {
    const pid = this.#running.get(tag);
    if (pid === undefined) return;
    signal(-pid);
    signal(pid);
    for (const one of descendants(Deno.pid)) {
      if (!one.ended && one.session !== pid && messageQueueLimit(one.pid) === tag) signal(one.pid);
    }
  }

  /** Call it when the program has ended: kills and reaps all that is left of it and of others that have ended. Returns
   * the number of these processes. */
  async ended(tag: number): Promise<number> {
    const leader = this.#running.get(tag);
    this.#running.delete(tag);
    this.#over.add(tag);
    const killed = new Set<number>();
    for (let round = 0; round < ROUNDS; round++) {
      const left = this.#strays();
      // The whole group at once, so that its members cannot create others meanwhile.
      if (leader !== undefined && left.length > 0) signal(-leader);
      for (const { pid, ended } of left) {
        if (ended) continue;
        killed.add(pid);
        signal(pid);
      }
      for (const { pid, parent, ended } of left) if (ended && parent === Deno.pid) this.#bury(pid);
      if (left.every(({ ended, parent }) => ended && parent === Deno.pid)) {
        this.#over.delete(tag);
        break;
      }
      await REAL_CLOCK.sleep(PAUSE_MS);
    }
    return killed.size;
  }

  #strays(): readonly ProcessFacts[] {
    const running = new Set(this.#running.values());
    return descendants(Deno.pid).filter(({ pid }) => {
      if (running.has(pid)) return false;
      const tag = messageQueueLimit(pid);
      if (tag === null || this.#running.has(tag)) return false;
      return tag < FIRST_TAG || this.#over.has(tag);
    });
  }

  /** Waits by number only: waiting for any child would also reap the runtime's own. */
  #bury(pid: number): void {
    this.#libc.call("wait4", [BigInt(pid), 0n, WNOHANG, 0n]);
  }
}

function signal(pid: number, name: Deno.Signal = "SIGKILL"): void {
  try {
    Deno.kill(pid, name);
  } catch { /* ended already */ }
}
